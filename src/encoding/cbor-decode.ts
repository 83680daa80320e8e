/**
 * Canonical CBOR to values.
 *
 * First a strict pass over the bytes that allocates nothing (`CborCursor.skip`), so that what
 * reaches the general decoder has been checked to be canonical, bounded in depth and as long as it
 * claims; then cbor-x, which on its own accepts far more than one spelling of a value.
 *
 * @module
 */

import { Decoder } from "cbor-x/decode";

import { malformedCbor } from "./cbor-fault.ts";
import { CborCursor } from "./cbor-cursor.ts";
import { MAJOR } from "./cbor-head.ts";
import type { CborValue } from "./cbor-value.ts";
import { CBOR_X_OPTIONS } from "./cbor-value.ts";

const decoder = new Decoder(CBOR_X_OPTIONS);

/** What cbor-x makes of canonical bytes without floats; its Maps and arrays are ours to change. */
type Decoded =
  | number
  | bigint
  | string
  | Uint8Array
  | boolean
  | null
  | Decoded[]
  | Map<string, Decoded>;

/**
 * The value of one canonical CBOR item that fills `bytes` (FORMAT 2). Byte strings are views of
 * `bytes`; map keys come in canonical order.
 *
 * With `floats`, finite floats in their shortest width are allowed (FORMAT 7).
 *
 * @throws DreamDBError malformed-cbor, for anything that would not be encoded to the same bytes
 */
export function decodeCanonical(
  bytes: Uint8Array,
  options: { readonly floats?: boolean } = {},
): CborValue {
  const scan = new CborCursor(bytes, 0, options);
  scan.skip();
  if (!scan.done) {
    throw malformedCbor(
      scan.offset,
      `${bytes.length - scan.offset} bytes after the item`,
      "the object to end with its one item",
    );
  }
  // cbor-x gives the same number for the float 1.0 and the integer 1, and drops a byte order mark
  // that begins a long text: values with either are built here.
  if (scan.sawFloat || scan.sawByteOrderMark) return readValue(new CborCursor(bytes));
  // A view of our own, because cbor-x caches a property on the array it is given.
  const decoded: unknown = decoder.decode(
    new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength),
  );
  return withBigIntegers(decoded as Decoded);
}

/** Replaces, in place, the numbers that cbor-x gives for integers below 2^32. */
function withBigIntegers(decoded: Decoded): CborValue {
  if (typeof decoded === "number") return BigInt(decoded);
  if (Array.isArray(decoded)) {
    const values: CborValue[] = decoded;
    for (let index = 0; index < decoded.length; index++) {
      const item = decoded[index];
      if (item !== undefined) values[index] = withBigIntegers(item);
    }
    return values;
  }
  if (decoded instanceof Map) {
    const values: Map<string, CborValue> = decoded as Map<string, CborValue>;
    for (const [key, item] of decoded) values.set(key, withBigIntegers(item));
    return values;
  }
  return decoded;
}

/** Builds the item at a cursor whose bytes the strict pass accepted. */
function readValue(cursor: CborCursor): CborValue {
  switch (cursor.peekMajor()) {
    case MAJOR.unsigned:
    case MAJOR.negative:
      return cursor.readInt();
    case MAJOR.bytes:
      return cursor.readBytes();
    case MAJOR.text:
      return cursor.readText();
    case MAJOR.array: {
      const values: CborValue[] = [];
      for (let left = cursor.readArrayLength(); left > 0; left--) values.push(readValue(cursor));
      return values;
    }
    case MAJOR.map: {
      const values = new Map<string, CborValue>();
      for (let left = cursor.readMapLength(); left > 0; left--) {
        values.set(cursor.readText(), readValue(cursor));
      }
      return values;
    }
    default:
      if (cursor.takeNull()) return null;
      return cursor.nextIsFloat() ? cursor.readFloat() : cursor.readBoolean();
  }
}
