/**
 * The values of canonical CBOR as DreamDB uses it (FORMAT 2).
 *
 * @module
 */

/**
 * One CBOR item. Every CBOR integer is a `bigint`, however small; a `number` is a CBOR float and
 * occurs only in keys of float indexes (FORMAT 7). Text keys only in maps.
 */
export type CborValue =
  | bigint
  | number
  | string
  | Uint8Array
  | boolean
  | null
  | readonly CborValue[]
  | CborMap;

/** A CBOR map; decoding yields its keys in canonical order. */
export type CborMap = ReadonlyMap<string, CborValue>;

/**
 * Containers that may be open at once. The deepest object of the format has about ten; the bound
 * keeps a hostile object from exhausting the stack.
 */
export const MAX_DEPTH = 64;

/** With these options cbor-x reads and writes plain CBOR: no records, no tags, maps as Maps. */
export const CBOR_X_OPTIONS = {
  useRecords: false,
  tagUint8Array: false,
  variableMapSize: true,
  mapsAsObjects: false,
} as const;
