/**
 * Where everything lies in a leaf of Index Pages, so that leaves can be compared as bytes.
 *
 * @module
 */

import type { Address } from "../../encoding/address.ts";
import { CborWriter } from "../../encoding/cbor-writer.ts";
import { PAGE_LIMIT } from "../../model/index-page.ts";
import {
  ARRAY,
  compareRanges,
  EntryReader,
  IntegerReader,
  joinHalves,
  sameBytes,
} from "./entry-reader.ts";
import type { TreeChild } from "./tree-format.ts";

/** Bytes of the map head, the keys before the entries and the type: the same in every leaf. */
const HEAD_START = Uint8Array.of(
  ...[0xa5, 0x64, ...ascii("type"), 0x64, ...ascii("leaf"), 0x65, ...ascii("t_max")],
);
const T_MIN = Uint8Array.of(0x65, ...ascii("t_min"));
const ENTRIES = Uint8Array.of(0x67, ...ascii("entries"));

function ascii(text: string): number[] {
  return Array.from(text, (letter) => letter.charCodeAt(0));
}

/** What follows the entries of every leaf of a Track. */
export function leafTail(modality: string): Uint8Array {
  const writer = new CborWriter();
  writer.text("modality");
  writer.text(modality);
  return writer.finish();
}

/** What stands before the entries of a leaf. */
export interface LeafHead {
  /** `t_min` in nanoseconds, which the starts of the entries count from. */
  readonly start: bigint;
  readonly end: bigint;
  readonly count: number;
  readonly entriesAt: number;
}

/** A sound leaf of SpatialBuckets. Times are absolute, as two halves. */
export interface LeafShape {
  /** What a page above has to say about it. */
  readonly child: TreeChild;
  readonly bytes: Uint8Array;
  readonly head: LeafHead;
  /** Where each entry begins; the last element is where they end. */
  readonly offsets: Uint32Array;
  /** Where the characters of each cell begin. */
  readonly cellAt: Uint32Array;
  /** Where they end and the relative start of each entry begins. */
  readonly startAt: Uint32Array;
  /** Where what follows the relative start of each entry begins. */
  readonly restAt: Uint32Array;
  /** The first entry of the leaf that is in the cell of each entry. */
  readonly cellFirst: Uint32Array;
  /** High and low half of each start, by turns. */
  readonly starts: Uint32Array;
  /** High and low half of each end, by turns. */
  readonly ends: Uint32Array;
}

/** The head of a leaf; undefined when it is not written as one. */
export function readLeafHead(bytes: Uint8Array): LeafHead | undefined {
  if (bytes.length > PAGE_LIMIT) return undefined;
  const integer = new IntegerReader();
  let at = passed(bytes, 0, HEAD_START);
  at = integer.read(bytes, at);
  const end = joinHalves(integer.high, integer.low);
  at = integer.read(bytes, passed(bytes, at, T_MIN));
  const start = joinHalves(integer.high, integer.low);
  at = integer.read(bytes, passed(bytes, at, ENTRIES), ARRAY);
  const { high, low: count } = integer;
  // An entry takes more than one byte.
  if (at < 0 || high !== 0 || count > bytes.length) return undefined;
  return { start, end, count, entriesAt: at };
}

/** Where `expected` ends when it stands at `at`; −1 when it does not. */
function passed(bytes: Uint8Array, at: number, expected: Uint8Array): number {
  return at >= 0 && sameBytes(bytes, at, expected, 0, expected.length) ? at + expected.length : -1;
}

/**
 * The shape of a leaf, read strictly but without telling what is wrong.
 * @param address the leaf's own
 * @param tail see `leafTail`
 * @returns undefined when `decodeIndexPage` would refuse the leaf, or when a cell has more than 255
 * characters
 */
export function leafShape(
  bytes: Uint8Array,
  address: Address,
  tail: Uint8Array,
): LeafShape | undefined {
  const head = readLeafHead(bytes);
  if (head === undefined || head.count === 0) return undefined;
  const { count } = head;
  const entry = new EntryReader(head.start);
  const shape = {
    offsets: new Uint32Array(count + 1),
    cellAt: new Uint32Array(count),
    startAt: new Uint32Array(count),
    restAt: new Uint32Array(count),
    cellFirst: new Uint32Array(count),
    starts: new Uint32Array(2 * count),
    ends: new Uint32Array(2 * count),
  };
  const { offsets, cellAt, startAt, restAt, cellFirst, starts, ends } = shape;
  let startSeen = false;
  let endHigh = 0;
  let endLow = 0;
  let at = head.entriesAt;
  for (let index = 0; index < count; index++) {
    if (!entry.read(bytes, at)) return undefined;
    offsets[index] = at;
    cellAt[index] = entry.cellAt;
    startAt[index] = entry.startAt;
    restAt[index] = entry.restAt;
    starts[2 * index] = entry.startHigh;
    starts[2 * index + 1] = entry.startLow;
    ends[2 * index] = entry.endHigh;
    ends[2 * index + 1] = entry.endLow;
    if (entry.beginsLeaf) startSeen = true;
    if (entry.endHigh > endHigh || (entry.endHigh === endHigh && entry.endLow > endLow)) {
      endHigh = entry.endHigh;
      endLow = entry.endLow;
    }
    if (index > 0) {
      const [from, to] = [cellAt[index - 1] ?? 0, startAt[index - 1] ?? 0];
      const length = entry.startAt - entry.cellAt;
      const order = compareRanges(bytes, from, to - from, bytes, entry.cellAt, length);
      if (order > 0) return undefined;
      if (order < 0) cellFirst[index] = index;
      else {
        cellFirst[index] = cellFirst[index - 1] ?? 0;
        const [high, low] = [starts[2 * index - 2] ?? 0, starts[2 * index - 1] ?? 0];
        if (high > entry.startHigh || (high === entry.startHigh && low > entry.startLow)) {
          return undefined;
        }
      }
    }
    at = entry.end;
  }
  offsets[count] = at;
  const end = joinHalves(endHigh, endLow);
  if (!startSeen || end !== head.end) return undefined;
  if (passed(bytes, at, tail) !== bytes.length) return undefined;
  const child = {
    page: address,
    low: bytes.slice(cellAt[0], startAt[0]),
    high: bytes.slice(cellAt[count - 1], startAt[count - 1]),
    start: head.start,
    end,
    entryCount: count,
  };
  return { child, bytes, head, ...shape };
}
