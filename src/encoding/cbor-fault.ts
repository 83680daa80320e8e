/**
 * How the CBOR readers say no.
 *
 * @module
 */

import { DreamDBError } from "../errors.ts";

/** The error for bytes that are not canonical CBOR; `offset` in bytes from the start of the object. */
export function malformedCbor(offset: number, found: string, expected: string): DreamDBError {
  return new DreamDBError({
    code: "malformed-cbor",
    offset,
    found: `${found} at byte ${offset}`,
    expected,
    next: "The object is damaged or was not written by DreamDB; restore it from a good copy",
  });
}
