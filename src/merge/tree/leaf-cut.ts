/**
 * Cutting a leaf of SpatialBuckets that has become too large, without decoding its entries.
 *
 * @module
 */

import { CborWriter } from "../../encoding/cbor-writer.ts";
import { writeLeafEntry } from "../../model/index-leaf.ts";
import { writeLeafHead } from "../../model/index-page.ts";
import { uintLength } from "../../model/page-entry.ts";
import type { PageEntry } from "../../model/page-entry.ts";
import { halves, textStart } from "./entry-reader.ts";
import type { LeafShape } from "./leaf-shape.ts";
import { cutEvenly } from "./split.ts";
import type { PageMeter, TreeChild } from "./tree-format.ts";

/** A leaf on its way into a tree. */
export interface NewLeaf {
  readonly bytes: Uint8Array;
  /** What a page above has to say about the leaf, but for its address. */
  readonly child: Omit<TreeChild, "page">;
}

/** An entry where it stands: all but its relative start is copied. */
interface StoredEntry {
  readonly bytes: Uint8Array;
  readonly at: number;
  readonly cellAt: number;
  readonly startAt: number;
  readonly restAt: number;
  readonly end: number;
  /** Its start and end in nanoseconds from an origin that all entries share. */
  readonly start: number;
  readonly until: number;
}

/**
 * The leaves that take the place of a leaf, cut evenly (PAGED 5).
 *
 * @param added in the order of a leaf, each with the number of entries of the leaf that stand before
 * it
 * @param tail see `leafTail`
 * @param pageTarget bytes that a leaf of several entries does not exceed
 * @param writer what to write with; its content is lost
 * @returns undefined when times are too far apart for numbers
 */
export function cutLeaf(
  shape: LeafShape,
  added: readonly (readonly [place: number, entry: PageEntry])[],
  tail: Uint8Array,
  pageTarget: number,
  writer: CborWriter,
): readonly NewLeaf[] | undefined {
  const origin = halves(shape.head.start);
  const entries: StoredEntry[] = [];
  let next = 0;
  for (const [place, entry] of added) {
    for (; next < place; next++) entries.push(standing(shape, next, origin));
    entries.push(coming(entry, origin));
  }
  for (; next < shape.head.count; next++) entries.push(standing(shape, next, origin));
  if (entries.some(({ start, until }) => !isExact(start) || !isExact(until))) return undefined;
  const meter = new StoredMeter(shape.head.start, pageTarget - tail.length);
  return cutEvenly(entries, meter).map((piece) => write(piece, shape.head.start, tail, writer));
}

/** Differences of two of them are exact, too. */
function isExact(time: number): boolean {
  return Math.abs(time) < Number.MAX_SAFE_INTEGER / 2;
}

type Halves = readonly [high: number, low: number];

function since(high: number, low: number, origin: Halves): number {
  return (high - origin[0]) * 0x1_0000_0000 + (low - origin[1]);
}

function standing(shape: LeafShape, index: number, origin: Halves): StoredEntry {
  const { bytes, offsets, cellAt, startAt, restAt, starts, ends } = shape;
  return {
    bytes,
    at: offsets[index] ?? 0,
    cellAt: cellAt[index] ?? 0,
    startAt: startAt[index] ?? 0,
    restAt: restAt[index] ?? 0,
    end: offsets[index + 1] ?? 0,
    start: since(starts[2 * index] ?? 0, starts[2 * index + 1] ?? 0, origin),
    until: since(ends[2 * index] ?? 0, ends[2 * index + 1] ?? 0, origin),
  };
}

function coming(entry: PageEntry, origin: Halves): StoredEntry {
  const writer = new CborWriter(entry.bytes.length);
  // Stored with a relative start of zero, which takes one byte.
  writeLeafEntry(writer, "spatial-bucket", entry, entry.start);
  const bytes = writer.finish();
  const cellAt = textStart(bytes, 1);
  const startAt = cellAt + entry.group.length;
  return {
    bytes,
    at: 0,
    cellAt,
    startAt,
    restAt: startAt + 1,
    end: bytes.length,
    start: since(...halves(entry.start), origin),
    until: since(...halves(entry.end), origin),
  };
}

/** Bytes of an entry but for its relative start. */
function fixedLength({ at, startAt, restAt, end }: StoredEntry): number {
  return startAt - at + end - restAt;
}

function bounds(entries: readonly StoredEntry[]): readonly [start: number, end: number] {
  let start = Infinity;
  let end = -Infinity;
  for (const entry of entries) {
    start = Math.min(start, entry.start);
    end = Math.max(end, entry.until);
  }
  return [start, end];
}

/** Sizes of leaves, as the decoded entries would have them. */
class StoredMeter implements PageMeter<StoredEntry> {
  readonly #origin: bigint;
  readonly #room: number;
  readonly #frame = new CborWriter();
  #entries: StoredEntry[] = [];
  #fixed = 0;
  #relative = 0;
  #start = 0;
  #end = 0;

  constructor(origin: bigint, room: number) {
    this.#origin = origin;
    this.#room = room;
  }

  tryAdd(entry: StoredEntry): boolean {
    const first = this.#entries.length === 0;
    const start = first ? entry.start : Math.min(this.#start, entry.start);
    const end = first ? entry.until : Math.max(this.#end, entry.until);
    const fixed = this.#fixed + fixedLength(entry);
    let relative = uintLength(entry.start - start);
    if (start === this.#start) relative += this.#relative;
    else for (const other of this.#entries) relative += uintLength(other.start - start);
    const count = this.#entries.length + 1;
    if (!first && this.#headLength(start, end, count) + fixed + relative > this.#room) return false;
    this.#entries.push(entry);
    this.#fixed = fixed;
    this.#relative = relative;
    this.#start = start;
    this.#end = end;
    return true;
  }

  clear(): void {
    this.#entries = [];
    this.#fixed = 0;
    this.#relative = 0;
  }

  #headLength(start: number, end: number, count: number): number {
    this.#frame.clear();
    writeLeafHead(this.#frame, this.#origin + BigInt(start), this.#origin + BigInt(end), count);
    return this.#frame.length;
  }
}

function write(
  piece: readonly StoredEntry[],
  origin: bigint,
  tail: Uint8Array,
  writer: CborWriter,
): NewLeaf {
  const [first, last] = bounds(piece);
  const start = origin + BigInt(first);
  const end = origin + BigInt(last);
  writer.clear();
  writeLeafHead(writer, start, end, piece.length);
  for (const entry of piece) {
    writer.rawRange(entry.bytes, entry.at, entry.startAt);
    writer.uint(entry.start - first);
    writer.rawRange(entry.bytes, entry.restAt, entry.end);
  }
  writer.raw(tail);
  const child = {
    low: cellOf(piece[0]),
    high: cellOf(piece.at(-1)),
    start,
    end,
    entryCount: piece.length,
  };
  return { bytes: writer.finish(), child };
}

function cellOf(entry: StoredEntry | undefined): Uint8Array | undefined {
  return entry?.bytes.slice(entry.cellAt, entry.startAt);
}
