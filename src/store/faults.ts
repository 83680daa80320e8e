/**
 * Faults that several kinds of store have in common.
 *
 * @module
 */

import { DreamDBError } from "../errors.ts";

/** The fault of a store that already has other bytes at a content-addressed path. */
export function differentBytes(path: string): DreamDBError {
  return new DreamDBError({
    code: "hash-mismatch",
    path,
    found: `other bytes than ours at ${path}`,
    expected: "the bytes that the path's address stands for",
    next: "The object there is damaged, perhaps by a crash: move it away and run again.",
  });
}
