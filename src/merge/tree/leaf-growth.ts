/**
 * Putting entries into a leaf of SpatialBuckets without decoding those that are there.
 *
 * @module
 */

import type { CborWriter } from "../../encoding/cbor-writer.ts";
import { writeLeafEntry } from "../../model/index-leaf.ts";
import { writeLeafHead } from "../../model/index-page.ts";
import type { PageEntry } from "../../model/page-entry.ts";
import { compareRanges, halves } from "./leaf-shape.ts";
import type { LeafShape } from "./leaf-shape.ts";
import type { TreeChild } from "./tree-format.ts";

/** A leaf with more entries than before. */
export interface GrownLeaf {
  readonly bytes: Uint8Array;
  /** What a page above has to say about the leaf, but for its address. */
  readonly child: Omit<TreeChild, "page">;
}

/**
 * The leaf with `added` put in, existing entries before new ones that sort the same.
 *
 * @param added in the order of a leaf, with absolute times
 * @param tail see `leafTail`
 * @param pageTarget bytes that the leaf must not exceed
 * @param writer what to write with; its content is lost
 * @returns undefined when it has to be cut or all of its starts have to be written anew
 */
export function growLeaf(
  shape: LeafShape,
  added: readonly PageEntry[],
  tail: Uint8Array,
  pageTarget: number,
  writer: CborWriter,
): GrownLeaf | undefined {
  const { bytes, head, offsets, child } = shape;
  let { end } = head;
  for (const entry of added) {
    if (entry.start < head.start) return undefined;
    if (entry.end > end) end = entry.end;
  }
  const entryCount = head.count + added.length;
  writer.clear();
  writeLeafHead(writer, head.start, end, entryCount);
  let copied = head.entriesAt;
  let place = 0;
  for (const entry of added) {
    place = placeOf(shape, entry, place);
    const at = offsets[place] ?? 0;
    writer.raw(bytes.subarray(copied, at));
    copied = at;
    writeLeafEntry(writer, "spatial-bucket", entry, head.start);
    if (writer.length > pageTarget) return undefined;
  }
  writer.raw(bytes.subarray(copied, offsets[head.count]));
  writer.raw(tail);
  if (writer.length > pageTarget) return undefined;
  const [first, last] = [added[0], added.at(-1)];
  return {
    bytes: writer.finish(),
    child: {
      low: first !== undefined && placeOf(shape, first, 0) === 0 ? first.group.slice() : child.low,
      high: last !== undefined && place === head.count ? last.group.slice() : child.high,
      start: head.start,
      end,
      entryCount,
    },
  };
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
