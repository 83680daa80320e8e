/**
 * What the leaves of one tree of SpatialBuckets have that those of another lack, found by comparing
 * bytes.
 *
 * Two versions of an index share nearly all of their entries. Leaves of the base are decoded and
 * measured once; a leaf of the side is walked along them. Entries that are the base's own bytes, or
 * differ in nothing but the `t_min` their starts count from, are passed over without being decoded.
 * One that was put in between two of the base's is decoded alone. Where anything else differs, the
 * whole cell is decoded on both sides and compared as a set.
 *
 * Nothing is reported as damaged here: what a sound leaf does not look like is left, with everything
 * else, to the comparison of decoded leaves, which names it.
 *
 * @module
 */

import { commonPrefix, lastAtMost } from "../../encoding/bytes.ts";
import { comparePageEntries } from "../../model/index-leaf.ts";
import type { PageEntry } from "../../model/page-entry.ts";
import { compareSets } from "./entry-sets.ts";
import type { IndexDifference } from "./entry-sets.ts";
import { cellAt, cellIn, compareText, isCell, sameText } from "./cell-text.ts";
import type { CellText } from "./cell-text.ts";
import { EntryReader, halves, IntegerReader, joinHalves, sameBytes } from "./entry-reader.ts";
import { readLeafHead } from "./leaf-shape.ts";
import type { LeafHead, LeafShape } from "./leaf-shape.ts";
import type { ReadAhead } from "./read-ahead.ts";
import type { TreeChild } from "./tree-format.ts";

const KIND = "spatial-bucket";

/** A leaf as it was read. */
export interface RawLeaf {
  readonly child: TreeChild;
  readonly bytes: Uint8Array;
}

/** A leaf of the side while it is walked. */
interface SideLeaf {
  readonly child: TreeChild;
  readonly bytes: Uint8Array;
  readonly entry: EntryReader;
  readonly head: LeafHead;
  /** The halves of `t_min`. */
  readonly startHigh: number;
  readonly startLow: number;
}

/** Thrown when the leaves have to be decoded to tell. */
export class Undecided extends Error {}

/**
 * Compares the leaves that two trees do not share.
 *
 * @param tail what follows the entries of every leaf: the Track's modality
 * @returns entries in the order of the leaves, with memory of their own; undefined when the leaves
 * have to be decoded to tell
 * @throws what reading the leaves throws
 */
export async function compareLeaves(
  base: ReadAhead<LeafShape>,
  side: ReadAhead<RawLeaf>,
  tail: Uint8Array,
): Promise<IndexDifference<PageEntry> | undefined> {
  const comparison = new LeafComparison(base, side, tail);
  try {
    return await comparison.run();
  } catch (error) {
    if (error instanceof Undecided) return undefined;
    throw error;
  }
}

class LeafComparison {
  readonly #baseRow: ReadAhead<LeafShape>;
  readonly #sideRow: ReadAhead<RawLeaf>;
  readonly #tail: Uint8Array;
  readonly #integer = new IntegerReader();
  readonly #added: PageEntry[] = [];
  readonly #removed: PageEntry[] = [];

  #base: LeafShape | undefined;
  /** The next entry of `#base`. */
  #index = 0;
  #side: SideLeaf | undefined;
  /** Where the next entry of `#side` begins. */
  #at = 0;
  /** Entries of `#side` that have been passed. */
  #passed = 0;
  /** Where the last of them begins. */
  #lastAt = 0;
  /** Whether one of them begins at `t_min`. */
  #startSeen = false;
  /** The halves of the highest end among them. */
  #endHigh = 0;
  #endLow = 0;

  /** The cell of what was passed last, on either side. */
  #cell: CellText | undefined;
  /** Where that cell begins: in the first of these leaves, at this entry or byte. */
  #cellBase: LeafShape[] = [];
  #cellIndex = 0;
  #cellSide: SideLeaf[] = [];
  #cellAt = 0;
  /** How many of `#added` are in that cell. */
  #cellAdded = 0;
  /** The start of what was passed last. */
  #lastStart = 0n;
  /** Whether that cell has been compared as a set, so that nothing more may come in it. */
  #cellClosed = false;

  constructor(base: ReadAhead<LeafShape>, side: ReadAhead<RawLeaf>, tail: Uint8Array) {
    this.#baseRow = base;
    this.#sideRow = side;
    this.#tail = tail;
  }

  async run(): Promise<IndexDifference<PageEntry>> {
    await this.#nextBase();
    await this.#nextSide();
    for (;;) {
      if (this.#baseEnded()) await this.#nextBase();
      if (this.#sideEnded()) await this.#nextSide();
      const [base, side] = [this.#base, this.#side];
      if (base === undefined && side === undefined) break;
      if (base !== undefined && side !== undefined) {
        if (this.#match(base, side) || this.#insert(base, side)) continue;
      }
      await this.#compareCell();
    }
    return { added: this.#added, removed: this.#removed };
  }

  #baseEnded(): boolean {
    return this.#base !== undefined && this.#index === this.#base.head.count;
  }

  #sideEnded(): boolean {
    return this.#side !== undefined && this.#passed === this.#side.head.count;
  }

  async #nextBase(): Promise<void> {
    this.#base = await this.#baseRow.next();
    this.#index = 0;
    if (this.#base !== undefined) this.#cellBase.push(this.#base);
  }

  async #nextSide(): Promise<void> {
    if (this.#side !== undefined) this.#checkEnd(this.#side);
    const leaf = await this.#sideRow.next();
    this.#side = leaf === undefined ? undefined : open(leaf);
    this.#at = this.#side?.head.entriesAt ?? 0;
    this.#passed = 0;
    this.#startSeen = false;
    this.#endHigh = 0;
    this.#endLow = 0;
    if (this.#side !== undefined) this.#cellSide.push(this.#side);
  }

  /** What the head of a leaf and the page above say of it holds, as the entries were passed. */
  #checkEnd({ bytes, child, head }: SideLeaf): void {
    const end = joinHalves(this.#endHigh, this.#endLow);
    const last = cellOf(bytes, this.#lastAt);
    if (!this.#startSeen || end !== head.end || !isCell(last, child.high)) throw new Undecided();
    const left = bytes.length - this.#at;
    if (left !== this.#tail.length || !sameBytes(bytes, this.#at, this.#tail, 0, left)) {
      throw new Undecided();
    }
  }

  /** Notes that an entry with this cell comes next; `index` and `at` are its places. */
  #enter(cell: CellText, index: number, at: number): void {
    if (this.#cell !== undefined && sameText(this.#cell, cell)) {
      if (this.#cellClosed) throw new Undecided();
      return;
    }
    this.#cell = cell;
    this.#cellClosed = false;
    this.#cellAdded = 0;
    this.#cellIndex = index;
    this.#cellAt = at;
    if (this.#cellBase.length > 1 || this.#base === undefined) {
      this.#cellBase = this.#base === undefined ? [] : [this.#base];
    }
    if (this.#cellSide.length > 1 || this.#side === undefined) {
      this.#cellSide = this.#side === undefined ? [] : [this.#side];
    }
  }

  #sawEnd(high: number, low: number): void {
    if (high < this.#endHigh || (high === this.#endHigh && low <= this.#endLow)) return;
    this.#endHigh = high;
    this.#endLow = low;
  }

  /** Passes entries that are the same in both; false when the next ones are not. */
  #match(base: LeafShape, side: SideLeaf): boolean {
    const from = this.#index;
    if (base.head.start === side.head.start) this.#matchBytes(base, side);
    else while (this.#matchRebased(base, side));
    if (this.#index === from) return false;
    this.#lastStart = startOf(base, this.#index - 1);
    return true;
  }

  /** Passes entries that are the same bytes, as starts count from one `t_min`. */
  #matchBytes(base: LeafShape, side: SideLeaf): void {
    const { offsets, starts, ends, cellFirst } = base;
    const from = this.#index;
    const begin = offsets[from] ?? 0;
    const matched = commonPrefix(base.bytes, begin, side.bytes, this.#at);
    const to = Math.min(lastAtMost(offsets, begin + matched), base.head.count);
    if (to <= from) return;
    if (to - from > side.head.count - this.#passed) throw new Undecided();
    const last = to - 1;
    this.#enter(cellIn(base, from), from, this.#at);
    const first = cellFirst[last] ?? 0;
    if (first > from) {
      this.#enter(cellIn(base, last), first, this.#at + (offsets[first] ?? 0) - begin);
    }
    for (let index = from; index < to; index++) {
      this.#sawEnd(ends[2 * index] ?? 0, ends[2 * index + 1] ?? 0);
      if (starts[2 * index] === side.startHigh && starts[2 * index + 1] === side.startLow) {
        this.#startSeen = true;
      }
    }
    this.#lastAt = this.#at + (offsets[last] ?? 0) - begin;
    this.#at += (offsets[to] ?? 0) - begin;
    this.#passed += to - from;
    this.#index = to;
  }

  /** Passes one entry whose start counts from another `t_min` and is the same in absolute time. */
  #matchRebased(base: LeafShape, side: SideLeaf): boolean {
    const index = this.#index;
    if (index === base.head.count || this.#passed === side.head.count) return false;
    const { bytes } = side;
    const offset = base.offsets[index] ?? 0;
    const cellLength = (base.startAt[index] ?? 0) - offset;
    if (!sameBytes(base.bytes, offset, bytes, this.#at, cellLength)) return false;
    const integer = this.#integer;
    const at = integer.read(bytes, this.#at + cellLength);
    if (at < 0) return false;
    const atStart = integer.low === 0 && integer.high === 0;
    integer.add(side.startHigh, side.startLow);
    if (integer.high !== base.starts[2 * index] || integer.low !== base.starts[2 * index + 1]) {
      return false;
    }
    const rest = base.restAt[index] ?? 0;
    const length = (base.offsets[index + 1] ?? 0) - rest;
    if (!sameBytes(base.bytes, rest, bytes, at, length)) return false;
    if (base.cellFirst[index] === index) this.#enter(cellIn(base, index), index, this.#at);
    this.#sawEnd(base.ends[2 * index] ?? 0, base.ends[2 * index + 1] ?? 0);
    if (atStart) this.#startSeen = true;
    this.#lastAt = this.#at;
    this.#at = at + length;
    this.#passed++;
    this.#index++;
    return true;
  }

  /**
   * Passes an entry of the side that stands strictly between two of the base's, in a cell that is
   * in no other leaf: then no other entry can be the same.
   */
  #insert(base: LeafShape, side: SideLeaf): boolean {
    const index = this.#index;
    const { child } = side;
    if (index === 0 || this.#cell === undefined) return false;
    const cell = cellOf(side.bytes, this.#at);
    for (const edge of [child.low, child.high, base.child.low, base.child.high]) {
      if (edge === undefined || isCell(cell, edge)) return false;
    }
    const afterBefore = compareText(cell, this.#cell);
    const beforeNext = compareText(cell, cellIn(base, index));
    if (afterBefore < 0 || beforeNext > 0) return false;
    const at = this.#at;
    const entry = this.#decode(side, at);
    if (afterBefore === 0 && (this.#cellClosed || entry.start <= this.#lastStart)) return false;
    if (beforeNext === 0 && entry.start >= startOf(base, index)) return false;
    this.#enter(cell, index, at);
    this.#added.push(entry);
    this.#cellAdded++;
    this.#passDecoded(side, at, entry);
    return true;
  }

  /** The entry of a leaf at `at`; `leaf.entry` then tells where it ends. */
  #decode({ bytes, entry }: SideLeaf, at: number): PageEntry {
    if (!entry.read(bytes, at)) throw new Undecided();
    return entry.entry(bytes, at);
  }

  /** Passes the entry at `at`, which was decoded last. */
  #passDecoded({ entry }: SideLeaf, at: number, { start }: PageEntry): void {
    this.#sawEnd(entry.endHigh, entry.endLow);
    if (entry.beginsLeaf) this.#startSeen = true;
    this.#lastStart = start;
    this.#lastAt = at;
    this.#at = entry.end;
    this.#passed++;
  }

  /** Decodes the next cell on both sides and compares it as a set. */
  async #compareCell(): Promise<void> {
    const [base, side] = [this.#base, this.#side];
    const ofBase = base === undefined ? undefined : cellIn(base, this.#index);
    const ofSide = side === undefined ? undefined : cellOf(side.bytes, this.#at);
    const cell = ofSide === undefined ||
        (ofBase !== undefined && compareText(ofBase, ofSide) < 0)
      ? ofBase
      : ofSide;
    if (cell === undefined) throw new Undecided();
    if (this.#cell !== undefined && compareText(cell, this.#cell) < 0) throw new Undecided();
    this.#enter(cell, this.#index, this.#at);
    this.#added.length -= this.#cellAdded;
    this.#cellAdded = 0;
    const { added, removed } = compareSets(
      await this.#baseCell(cell),
      await this.#sideCell(cell),
    );
    for (const entry of added) this.#added.push(entry);
    for (const entry of removed) this.#removed.push(entry);
    this.#cellClosed = true;
  }

  /** All entries of the base in the cell, passed or not. */
  async #baseCell(cell: CellText): Promise<readonly PageEntry[]> {
    const entries: PageEntry[] = [];
    let from = this.#cellIndex;
    for (const leaf of this.#cellBase) {
      const to = leaf === this.#base ? this.#index : leaf.head.count;
      for (let index = from; index < to; index++) entries.push(decodeShape(leaf, index));
      from = 0;
    }
    for (;;) {
      if (this.#baseEnded()) await this.#nextBase();
      const base = this.#base;
      if (base === undefined || !sameText(cellIn(base, this.#index), cell)) return entries;
      entries.push(decodeShape(base, this.#index));
      this.#index++;
    }
  }

  /** All entries of the side in the cell, passed or not. */
  async #sideCell(cell: CellText): Promise<readonly PageEntry[]> {
    const entries: PageEntry[] = [];
    let before: PageEntry | undefined;
    const push = (entry: PageEntry): void => {
      if (before !== undefined && comparePageEntries(KIND, before, entry) > 0) {
        throw new Undecided();
      }
      before = entry;
      entries.push(entry);
    };
    let at = this.#cellAt;
    for (const leaf of this.#cellSide) {
      const end = leaf === this.#side ? this.#at : leaf.bytes.length - this.#tail.length;
      while (at < end) {
        push(this.#decode(leaf, at));
        at = leaf.entry.end;
      }
      if (leaf === this.#side) break;
      at = this.#cellSide[this.#cellSide.indexOf(leaf) + 1]?.head.entriesAt ?? 0;
      before = undefined;
    }
    for (;;) {
      if (this.#sideEnded()) {
        await this.#nextSide();
        before = undefined;
      }
      const side = this.#side;
      if (side === undefined || !sameText(cellOf(side.bytes, this.#at), cell)) return entries;
      const begin = this.#at;
      const entry = this.#decode(side, begin);
      push(entry);
      this.#passDecoded(side, begin, entry);
    }
  }
}

function open({ child, bytes }: RawLeaf): SideLeaf {
  const head = readLeafHead(bytes);
  if (
    head === undefined || head.count === 0 || child.start !== head.start ||
    child.end !== head.end || child.entryCount !== head.count ||
    !isCell(cellOf(bytes, head.entriesAt), child.low)
  ) {
    throw new Undecided();
  }
  const [startHigh, startLow] = halves(head.start);
  return {
    child,
    bytes,
    entry: new EntryReader(head.start),
    head,
    startHigh,
    startLow,
  };
}

/** The cell of the entry that begins at `at` in a leaf that may not be sound. */
function cellOf(bytes: Uint8Array, at: number): CellText {
  const cell = cellAt(bytes, at);
  if (cell === undefined) throw new Undecided();
  return cell;
}

function startOf({ starts }: LeafShape, index: number): bigint {
  return joinHalves(starts[2 * index] ?? 0, starts[2 * index + 1] ?? 0);
}

function decodeShape({ bytes, offsets, head }: LeafShape, index: number): PageEntry {
  const entry = new EntryReader(head.start);
  const at = offsets[index] ?? 0;
  if (!entry.read(bytes, at)) throw new Error("unreachable: a sound leaf");
  return entry.entry(bytes, at);
}
