/**
 * Cells where they stand in a page, compared without copying them.
 *
 * @module
 */

import { compareRanges, sameBytes, textStart } from "./entry-reader.ts";
import type { LeafShape } from "./leaf-shape.ts";

/** A cell's text inside of a page, with its head. */
export interface CellText {
  readonly bytes: Uint8Array;
  readonly at: number;
  readonly length: number;
}

/** The cell of an entry of a sound leaf. */
export function cellIn({ bytes, offsets, startAt }: LeafShape, index: number): CellText {
  const at = (offsets[index] ?? 0) + 1;
  return { bytes, at, length: (startAt[index] ?? 0) - at };
}

/** The cell of the entry that begins at `at`; undefined when there is no short text. */
export function cellAt(bytes: Uint8Array, at: number): CellText | undefined {
  const head = bytes[at + 1] ?? 0;
  if (head < 0x60 || head > 0x78) return undefined;
  const length = head < 0x78 ? 1 + head - 0x60 : 2 + (bytes[at + 2] ?? 0);
  return at + 1 + length > bytes.length ? undefined : { bytes, at: at + 1, length };
}

export function sameText(a: CellText, b: CellText): boolean {
  return a.length === b.length && sameBytes(a.bytes, a.at, b.bytes, b.at, a.length);
}

/** The order of two cells: that of their characters. */
export function compareText(a: CellText, b: CellText): number {
  const aStart = textStart(a.bytes, a.at);
  const bStart = textStart(b.bytes, b.at);
  const aLength = a.at + a.length - aStart;
  const bLength = b.at + b.length - bStart;
  return compareRanges(a.bytes, aStart, aLength, b.bytes, bStart, bLength);
}

export function isCell(cell: CellText, key: Uint8Array | undefined): boolean {
  if (key === undefined) return false;
  const at = textStart(cell.bytes, cell.at);
  return cell.at + cell.length - at === key.length &&
    sameBytes(cell.bytes, at, key, 0, key.length);
}
