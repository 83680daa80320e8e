/**
 * The guards that only object kinds made of one map need, beside those of `malformed.ts`.
 *
 * @module
 */

import { decodeCanonical } from "../encoding/cbor-decode.ts";
import type { CborMap, CborValue } from "../encoding/cbor-value.ts";
import { asBytes, asMap, describeValue, malformedObject } from "./malformed.ts";
import type { Subject } from "./malformed.ts";

/** Decodes the one map an object consists of. @throws DreamDBError malformed-cbor, malformed-object */
export function decodeMap(subject: Subject, bytes: Uint8Array): CborMap {
  return asMap(subject, "the object", decodeCanonical(bytes));
}

/** `value` as a byte string of `length` bytes. @throws DreamDBError malformed-object */
export function asFixedBytes(
  subject: Subject,
  name: string,
  value: CborValue | undefined,
  length: number,
): Uint8Array {
  const bytes = asBytes(subject, name, value);
  if (bytes.length === length) return bytes;
  throw malformedObject(subject, `${name} is ${bytes.length} bytes`, `${length} bytes`);
}

/** `value` as true or false. @throws DreamDBError malformed-object */
export function asBoolean(subject: Subject, name: string, value: CborValue | undefined): boolean {
  if (typeof value === "boolean") return value;
  throw malformedObject(subject, `${name} is ${describeValue(value)}`, "true or false");
}

/** Checks a field that tells one form of an object from others. @throws DreamDBError malformed-object */
export function requireValue(
  subject: Subject,
  name: string,
  value: CborValue | undefined,
  expected: bigint | string,
): void {
  if (value === expected) return;
  throw malformedObject(subject, `${name} is ${describeValue(value)}`, describeValue(expected));
}
