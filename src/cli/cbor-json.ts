/**
 * CBOR values as JSON: addresses as text, other byte strings as `0x…`, integers beyond 2^53 as
 * decimal text.
 *
 * @module
 */

import { ADDRESS_BYTES, addressFromBytes } from "../encoding/address.ts";
import { toHex } from "../encoding/bytes.ts";
import type { CborValue } from "../encoding/cbor-value.ts";
import type { JsonValue } from "./json.ts";

const LARGEST_EXACT = BigInt(Number.MAX_SAFE_INTEGER);

/** `value` as JSON. */
export function cborJson(value: CborValue): JsonValue {
  if (typeof value === "bigint") return integerJson(value);
  if (value instanceof Uint8Array) return bytesJson(value);
  if (value instanceof Map) {
    return Object.fromEntries([...value].map(([key, item]) => [key, cborJson(item)]));
  }
  if (Array.isArray(value)) return value.map(cborJson);
  return value as string | number | boolean | null;
}

/** A number where every reader keeps it exact, text elsewhere. */
function integerJson(value: bigint): number | string {
  return value <= LARGEST_EXACT && value >= -LARGEST_EXACT ? Number(value) : value.toString();
}

/** An address as text, anything else in hexadecimal. */
function bytesJson(bytes: Uint8Array): string {
  if (bytes.length === ADDRESS_BYTES && bytes[0] === 0x1e) return addressFromBytes(bytes);
  return `0x${toHex(bytes)}`;
}
