/**
 * Stopping a run from outside.
 *
 * @module
 */

import { DreamDBError } from "../src/errors.ts";

/**
 * The reason to abort a merge with. A merge looks at its signal only until the ref is about to
 * move: when this comes out of one, the ref has not moved.
 */
export function interruption(signal: string, found: string): DreamDBError {
  return new DreamDBError({
    code: "interrupted",
    signal,
    refMoved: false,
    found,
    expected: "time to finish",
    next: "The ref has not moved; it is safe to run the same step again.",
  });
}
