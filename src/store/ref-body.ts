/**
 * The content of a ref: exactly the 33 raw bytes of an address (FORMAT 1.4).
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import { addressFromBytes } from "../encoding/address.ts";
import { DreamDBError } from "../errors.ts";

const LENGTH = 33;
const TAG = 0x1e;

/**
 * The address that the ref `name` holds.
 * @throws DreamDBError malformed-ref
 */
export function parseRefBody(name: string, body: Uint8Array): Address {
  if (body.length === LENGTH && body[0] === TAG) return addressFromBytes(body);
  throw new DreamDBError({
    code: "malformed-ref",
    name,
    found: body.length === LENGTH
      ? `the ref ${name} begins with byte ${body[0]}`
      : `the ref ${name} holds ${body.length} bytes`,
    expected: `${LENGTH} bytes, the first of them ${TAG}`,
    next: "Something other than DreamDB wrote it; restore it from a snapshot or delete it.",
  });
}
