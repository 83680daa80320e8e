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

/** The fault of a store that keeps `a/b` in a folder `a`, and so cannot also have a ref `a`. */
export function nestedName(name: string): DreamDBError {
  return new DreamDBError({
    code: "usage",
    found: `the name ${name} beside a ref that it lies below, or that lies below it`,
    expected: "names that do not nest: this store keeps a/b in a folder a",
    next:
      "Choose another name, or delete the other ref (an empty folder of that name under refs/ " +
      "counts too).",
  });
}
