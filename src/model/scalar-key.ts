/**
 * Keys of scalar values: the canonical CBOR of a value, and for the ordered types the sort key that
 * orders B-tree entries (PAGED 7).
 *
 * @module
 */

import { decodeCanonical } from "../encoding/cbor-decode.ts";
import { encodeCanonical } from "../encoding/cbor-encode.ts";
import { describeValue, malformedObject } from "./malformed.ts";
import type { Subject } from "./malformed.ts";

/** A scalar value: integer or timestamp (bigint), float (number), text or boolean. */
export type ScalarValue = bigint | number | string | boolean;

/** The ordered index algorithms; integers and timestamps share the first. */
export type OrderedAlgorithm =
  | "dreamdb.btree-int64"
  | "dreamdb.btree-float64"
  | "dreamdb.btree-string";

const MIN_I64 = -0x8000_0000_0000_0000n;
const MAX_I64 = 0x7fff_ffff_ffff_ffffn;
const SIGN = 0x8000_0000_0000_0000n;

/** The ordered algorithm of that name, or undefined when it is none. */
export function orderedAlgorithm(name: string): OrderedAlgorithm | undefined {
  switch (name) {
    case "dreamdb.btree-int64":
    case "dreamdb.btree-float64":
    case "dreamdb.btree-string":
      return name;
    default:
      return undefined;
  }
}

/**
 * The value a key stands for (FORMAT 7).
 * @throws DreamDBError malformed-cbor when the key is not canonical CBOR; malformed-object when it
 * is no scalar, an integer outside i64 or a float that is not finite
 */
export function decodeScalarKey(key: Uint8Array, path?: string): ScalarValue {
  const value = decodeCanonical(key, { floats: true });
  if (typeof value === "bigint" && value >= MIN_I64 && value <= MAX_I64) return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (typeof value === "string" || typeof value === "boolean") return value;
  throw malformedObject(
    { kind: "scalar key", path },
    describeValue(value),
    "an i64, a finite float, a text or a boolean",
  );
}

/** The key of a value: its canonical CBOR; the inverse of `decodeScalarKey`. */
export function encodeScalarKey(value: ScalarValue): Uint8Array {
  return encodeCanonical(value);
}

/**
 * The sort key of a key under an ordered algorithm (PAGED 7): integers as big-endian offset binary,
 * floats as order-preserving bits with -0.0 equal to 0.0, texts as their UTF-8.
 * @throws DreamDBError malformed-cbor; malformed-object when the value is not of the algorithm's type
 */
export function sortKey(
  algorithm: OrderedAlgorithm,
  key: Uint8Array,
  subject: Subject = { kind: "scalar key" },
): Uint8Array {
  const value = decodeScalarKey(key, subject.path);
  if (algorithm === "dreamdb.btree-string" && typeof value === "string") {
    return key.subarray(textHeadLength(key));
  }
  const sortable = new Uint8Array(8);
  const view = new DataView(sortable.buffer);
  if (algorithm === "dreamdb.btree-int64" && typeof value === "bigint") {
    view.setBigInt64(0, value);
    view.setUint8(0, view.getUint8(0) ^ 0x80);
    return sortable;
  }
  if (algorithm === "dreamdb.btree-float64" && typeof value === "number") {
    view.setFloat64(0, value === 0 ? 0 : value);
    const bits = view.getBigUint64(0);
    view.setBigUint64(0, (bits & SIGN) === 0n ? bits | SIGN : ~bits);
    return sortable;
  }
  throw malformedObject(subject, `the key is ${describeValue(value)}`, `a value for ${algorithm}`);
}

/** Bytes of the CBOR head of a text. */
function textHeadLength(key: Uint8Array): number {
  const argument = (key[0] ?? 0) & 0x1f;
  if (argument < 24) return 1;
  return 1 + 2 ** (argument - 24);
}
