/**
 * Keys of scalar values: the canonical CBOR of a value, and for the ordered types the sort key that
 * orders B-tree entries (PAGED 7).
 *
 * @module
 */

import { CborCursor } from "../encoding/cbor-cursor.ts";
import { decodeCanonical } from "../encoding/cbor-decode.ts";
import { MAJOR } from "../encoding/cbor-head.ts";
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
  if (algorithm === "dreamdb.btree-int64") {
    const sortable = integerSortKey(key);
    if (sortable !== undefined) return sortable;
  }
  if (algorithm === "dreamdb.btree-string") {
    const text = textOf(key);
    if (text !== undefined) return text;
  }
  const value = decodeScalarKey(key, subject.path);
  if (algorithm === "dreamdb.btree-float64" && typeof value === "number") {
    return floatSortKey(value);
  }
  throw malformedObject(subject, `the key is ${describeValue(value)}`, `a value for ${algorithm}`);
}

/**
 * The sort key of a canonical i64, made of the key's bytes: this runs for every entry of every
 * page. Undefined for any other key, which then takes the way that tells what is wrong with it.
 */
function integerSortKey(key: Uint8Array): Uint8Array | undefined {
  const head = key[0] ?? 0xff;
  const argument = head & 0x1f;
  const width = argument < 24 ? 0 : 1 << (argument - 24);
  const first = key[1] ?? 0;
  if (head > 0x3b || argument > 27 || key.length !== 1 + width) return undefined;
  if (width === 1 && first < 24) return undefined;
  let upper = 0;
  for (let index = 1; index <= width >> 1; index++) upper |= key[index] ?? 0;
  if (width > 1 && upper === 0) return undefined;
  if (width === 8 && first > 0x7f) return undefined;
  const complement = head >= 0x20 ? 0xff : 0;
  const sortable = new Uint8Array(8);
  if (complement !== 0) sortable.fill(0xff);
  if (width === 0) sortable[7] = argument ^ complement;
  for (let index = 0; index < width; index++) {
    sortable[8 - width + index] = (key[1 + index] ?? 0) ^ complement;
  }
  sortable[0] = (sortable[0] ?? 0) ^ 0x80;
  return sortable;
}

const scratch = new DataView(new ArrayBuffer(8));

function floatSortKey(value: number): Uint8Array {
  scratch.setFloat64(0, value === 0 ? 0 : value);
  const negative = scratch.getUint8(0) > 0x7f;
  const sortable = new Uint8Array(8);
  for (let index = 0; index < 8; index++) {
    const byte = scratch.getUint8(index);
    sortable[index] = negative ? ~byte : index === 0 ? byte ^ 0x80 : byte;
  }
  return sortable;
}

/** The UTF-8 of a canonical text, as a view of the key; undefined for any other key. */
function textOf(key: Uint8Array): Uint8Array | undefined {
  const cursor = new CborCursor(key);
  if (key.length === 0 || cursor.peekMajor() !== MAJOR.text) return undefined;
  const text = cursor.readTextBytes();
  return cursor.done ? text : undefined;
}
