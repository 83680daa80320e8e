/**
 * Records for test stores: values that follow from the anchor, so that a test names only what
 * matters to it.
 *
 * @module
 */

import type { Embedded, FieldSpec, FieldValue, Row } from "./store-fields.ts";

/** Where the anchors of tests begin: nanoseconds of a real date, beyond 2^53. */
export const FIRST_ANCHOR = 1_800_000_000_000_000_000n;

/** Anchor number `index`: a thirtieth of a second apart, as of a camera. */
export function anchorAt(index: number): bigint {
  return FIRST_ANCHOR + BigInt(index) * 33_333_333n;
}

/** The number of an anchor of `anchorAt`. */
export function indexOfAnchor(anchor: bigint): number {
  return Number((anchor - FIRST_ANCHOR) / 33_333_333n);
}

/** A vector that no other number has, in a cell. */
export function embedded(index: number, cell: number): Embedded {
  return { cell, vector: [Math.fround(1 + index / 7), Math.fround(index % 5), -1, 0.25] };
}

/** Bytes that no other number has. */
export function blob(index: number, length = 16): Uint8Array {
  const bytes = new Uint8Array(length);
  new DataView(bytes.buffer).setUint32(0, index);
  return bytes.fill(0x5a, 4);
}

/** The value of record `index` for a field; `cell` is for embeddings. */
export function valueFor(field: FieldSpec, index: number, cell: number): FieldValue | undefined {
  switch (field.kind) {
    case "embedding":
      return embedded(index, cell);
    case "image":
    case "array":
      return blob(index);
    case "categorical":
      return ["red", "green", "blue"][index % 3] ?? "";
    case "bool":
      return index % 2 === 0;
    case "int":
      return BigInt(index % 7) - 3n;
    case "float":
      return index % 4 + 0.5;
    case "string":
      return `text ${index % 6}`;
    case "timestamp":
      return 1_700_000_000_000_000_000n + BigInt(index % 5);
    case "constant":
      return undefined;
  }
}

/** Record `index` with all fields of `fields`; `changes` replaces values. */
export function rowAt(
  fields: ReadonlyMap<string, FieldSpec>,
  index: number,
  cell = index % 4,
  changes: Readonly<Record<string, FieldValue | undefined>> = {},
): Row {
  const values: Record<string, FieldValue> = {};
  for (const [name, field] of fields) {
    const value = name in changes ? changes[name] : valueFor(field, index, cell);
    if (value !== undefined) values[name] = value;
  }
  return { anchor: anchorAt(index), values };
}

/** Records `from` to before `to`. */
export function rowsFrom(
  fields: ReadonlyMap<string, FieldSpec>,
  from: number,
  to: number,
  cell?: number,
): Row[] {
  return Array.from({ length: to - from }, (_, step) => rowAt(fields, from + step, cell));
}
