/**
 * Putting entries into a leaf of SpatialBuckets without decoding those that are there.
 *
 * @module
 */

import type { CborWriter } from "../../encoding/cbor-writer.ts";
import { writeLeafEntry } from "../../model/index-leaf.ts";
import { writeLeafHead } from "../../model/index-page.ts";
import type { PageEntry } from "../../model/page-entry.ts";
import { cutLeaf } from "./leaf-cut.ts";
import type { NewLeaf } from "./leaf-cut.ts";
import { compareRanges, halves } from "./entry-reader.ts";
import type { LeafShape } from "./leaf-shape.ts";

/**
 * The leaves that take the place of a leaf when `added` is put in, existing entries before new ones
 * that sort the same: one, or several when it becomes too large.
 *
 * @param added in the order of a leaf, with absolute times
 * @param tail see `leafTail`
 * @param pageTarget bytes that a leaf of several entries does not exceed
 * @param writer what to write with; its content is lost
 * @returns undefined when the entries have to be decoded for it
 */
export function growLeaf(
  shape: LeafShape,
  added: readonly PageEntry[],
  tail: Uint8Array,
  pageTarget: number,
  writer: CborWriter,
): readonly NewLeaf[] | undefined {
  const placed: (readonly [place: number, entry: PageEntry])[] = [];
  let place = 0;
  for (const entry of added) {
    place = placeOf(shape, entry, place);
    placed.push([place, entry]);
  }
  const whole = putIn(shape, placed, tail, pageTarget, writer);
  return whole === undefined ? cutLeaf(shape, placed, tail, pageTarget, writer) : [whole];
}

/** The leaf with entries put in; undefined when it is too large or its `t_min` changes. */
function putIn(
  { bytes, head, offsets, child }: LeafShape,
  placed: readonly (readonly [place: number, entry: PageEntry])[],
  tail: Uint8Array,
  pageTarget: number,
  writer: CborWriter,
): NewLeaf | undefined {
  let { end } = head;
  for (const [, entry] of placed) {
    if (entry.start < head.start) return undefined;
    if (entry.end > end) end = entry.end;
  }
  const entryCount = head.count + placed.length;
  writer.clear();
  writeLeafHead(writer, head.start, end, entryCount);
  let copied = head.entriesAt;
  for (const [place, entry] of placed) {
    const at = offsets[place] ?? 0;
    writer.raw(bytes.subarray(copied, at));
    copied = at;
    writeLeafEntry(writer, "spatial-bucket", entry, head.start);
    if (writer.length > pageTarget) return undefined;
  }
  writer.raw(bytes.subarray(copied, offsets[head.count]));
  writer.raw(tail);
  if (writer.length > pageTarget) return undefined;
  const [first, last] = [placed[0], placed.at(-1)];
  const low = first?.[0] === 0 ? first[1].group.slice() : child.low;
  const high = last?.[0] === head.count ? last[1].group.slice() : child.high;
  return { bytes: writer.finish(), child: { low, high, start: head.start, end, entryCount } };
}

/** How many of the entries from `from` on, and those before it, do not come after `entry`. */
function placeOf(shape: LeafShape, entry: PageEntry, from: number): number {
  const [startHigh, startLow] = halves(entry.start);
  let low = from;
  let high = shape.head.count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareAt(shape, middle, entry.group, startHigh, startLow) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The order of an entry of the leaf and one with this cell and start. */
function compareAt(
  { bytes, cellAt, startAt, starts }: LeafShape,
  index: number,
  cell: Uint8Array,
  startHigh: number,
  startLow: number,
): number {
  const begin = cellAt[index] ?? 0;
  const length = (startAt[index] ?? 0) - begin;
  return compareRanges(bytes, begin, length, cell, 0, cell.length) ||
    (starts[2 * index] ?? 0) - startHigh ||
    (starts[2 * index + 1] ?? 0) - startLow;
}
