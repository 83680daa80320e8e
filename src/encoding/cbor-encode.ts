/**
 * Values to canonical CBOR.
 *
 * cbor-x writes whatever it writes in the one canonical form, given its values in the right order
 * and representation; what it has no canonical form for (floats, −2^64) is written by hand.
 *
 * @module
 */

import { Encoder } from "cbor-x/encode";

import type { CborMap, CborValue } from "./cbor-value.ts";
import { CBOR_X_OPTIONS, MAX_DEPTH } from "./cbor-value.ts";
import { cannotWrite, CborWriter } from "./cbor-writer.ts";
import { compareKeys } from "./utf8.ts";

const encoder = new Encoder(CBOR_X_OPTIONS);

const TWO_32 = 1n << 32n;
const TWO_64 = 1n << 64n;

/** What cbor-x encodes canonically: integers as numbers up to 32 bits and as bigints beyond. */
type Encodable =
  | number
  | bigint
  | string
  | Uint8Array
  | boolean
  | null
  | readonly Encodable[]
  | Map<string, Encodable>;

/**
 * The one canonical encoding of a value: map keys sorted, shortest integers and floats (FORMAT 2).
 *
 * @throws DreamDBError internal, for a value without one: an integer beyond 64 bits, NaN, infinity,
 * a text with a lone surrogate, containers nested more than 64 deep
 */
export function encodeCanonical(value: CborValue): Uint8Array {
  const encodable = toEncodable(value, 0);
  if (encodable === undefined) {
    const writer = new CborWriter();
    writeValue(writer, value);
    return writer.finish();
  }
  // A copy, because cbor-x hands out pieces of one large buffer.
  return new Uint8Array(encoder.encode(encodable));
}

/** A checked copy of `value` for cbor-x, or undefined when some part of it is not for cbor-x. */
function toEncodable(value: CborValue, depth: number): Encodable | undefined {
  switch (typeof value) {
    case "bigint":
      if (value >= TWO_64 || value < -TWO_64) {
        throw cannotWrite(`the integer ${value}`, "-2^64 to 2^64-1");
      }
      if (value < TWO_32 && value >= -TWO_32) return Number(value);
      return value === -TWO_64 ? undefined : value;
    case "number":
      if (!Number.isFinite(value)) throw cannotWrite(`the float ${value}`, "a finite float");
      return undefined;
    case "string":
      return checkText(value);
    case "boolean":
      return value;
    default:
      break;
  }
  if (value === null || value instanceof Uint8Array) return value;
  if (depth >= MAX_DEPTH) {
    throw cannotWrite(`containers nested more than ${MAX_DEPTH} deep`, `at most ${MAX_DEPTH}`);
  }
  return isMap(value) ? toEncodableMap(value, depth) : toEncodableArray(value, depth);
}

function toEncodableArray(values: readonly CborValue[], depth: number): Encodable | undefined {
  const encodable: Encodable[] = [];
  let complete = true;
  for (const value of values) {
    const item = toEncodable(value, depth + 1);
    if (item === undefined) complete = false;
    else encodable.push(item);
  }
  return complete ? encodable : undefined;
}

function toEncodableMap(map: CborMap, depth: number): Encodable | undefined {
  const encodable = new Map<string, Encodable>();
  let complete = true;
  for (const [key, value] of sortedEntries(map)) {
    const item = toEncodable(value, depth + 1);
    if (item === undefined) complete = false;
    else encodable.set(checkText(key), item);
  }
  return complete ? encodable : undefined;
}

/** Writes a value that `toEncodable` has checked. */
function writeValue(writer: CborWriter, value: CborValue): void {
  if (typeof value === "bigint") writer.int(value);
  else if (typeof value === "number") writer.float(value);
  else if (typeof value === "string") writer.text(value);
  else if (typeof value === "boolean") writer.boolean(value);
  else if (value === null) writer.null();
  else if (value instanceof Uint8Array) writer.bytes(value);
  else if (isMap(value)) {
    writer.mapHead(value.size);
    for (const [key, item] of sortedEntries(value)) {
      writer.text(key);
      writeValue(writer, item);
    }
  } else {
    writer.arrayHead(value.length);
    for (const item of value) writeValue(writer, item);
  }
}

function sortedEntries(map: CborMap): readonly (readonly [string, CborValue])[] {
  return [...map].sort(([a], [b]) => compareKeys(a, b));
}

function isMap(value: readonly CborValue[] | CborMap): value is CborMap {
  return value instanceof Map;
}

function checkText(text: string): string {
  if (!text.isWellFormed()) {
    throw cannotWrite("a text with a lone surrogate", "text that UTF-8 can hold");
  }
  return text;
}
