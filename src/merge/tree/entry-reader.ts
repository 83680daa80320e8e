/**
 * Reading stored entries of SpatialBucket leaves as bytes: strictly, without a cursor, a view or a
 * bigint for each (PAGED 4.1).
 *
 * @module
 */

import { uint32At } from "../../encoding/bytes.ts";
import { CborWriter } from "../../encoding/cbor-writer.ts";
import { uintLength } from "../../model/page-entry.ts";
import type { PageEntry } from "../../model/page-entry.ts";

const TWO_32 = 0x1_0000_0000;
const ZERO = 0x30;
const ONE = 0x31;
const UNSIGNED = 0x00;
/** The first byte of an array without items. */
export const ARRAY = 0x80;
/** Bytes of an address as a CBOR byte string. */
const ENCODED_ADDRESS = 35;

/** The halves of a 64-bit number. */
export function halves(value: bigint): readonly [high: number, low: number] {
  return [Number(value >> 32n), Number(value & 0xffff_ffffn)];
}

export function joinHalves(high: number, low: number): bigint {
  return (BigInt(high) << 32n) | BigInt(low);
}

/** Reads the arguments of heads as two halves, without a bigint for each. */
export class IntegerReader {
  high = 0;
  low = 0;

  /**
   * Reads the head at `at` of the type whose first byte is `major` with an argument of zero.
   * @returns where it ends, or −1 when it is no such head in its shortest form
   */
  read(bytes: Uint8Array, at: number, major = UNSIGNED): number {
    if (at < 0 || at >= bytes.length) return -1;
    const head = (bytes[at] ?? 0) - major;
    this.high = 0;
    this.low = head;
    if (head < 0 || head > 0x1b) return -1;
    if (head < 24) return at + 1;
    const width = 1 << (head - 24);
    if (at + width >= bytes.length) return -1;
    if (width === 8) {
      this.high = uint32At(bytes, at + 1);
      this.low = uint32At(bytes, at + 5);
      return this.high === 0 ? -1 : at + 9;
    }
    if (width === 4) this.low = uint32At(bytes, at + 1);
    else if (width === 2) this.low = ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    else this.low = bytes[at + 1] ?? 0;
    const least = width === 1 ? 24 : width === 2 ? 0x100 : 0x1_0000;
    return this.low < least ? -1 : at + 1 + width;
  }

  /** Adds another number; `high` can then be 2^32 or more. */
  add(high: number, low: number): void {
    this.low += low;
    this.high += high;
    if (this.low < TWO_32) return;
    this.low -= TWO_32;
    this.high++;
  }
}

/** Reads entries of one leaf, strictly: what it refuses, `readLeafEntries` names. */
export class EntryReader {
  /** Where the characters of the cell begin, and where they end and the relative start begins. */
  cellAt = 0;
  startAt = 0;
  /** Where what follows the relative start begins, and the entry's length in bytes. */
  restAt = 0;
  payloadAt = 0;
  /** Where the entry ends. */
  end = 0;
  /** Whether it starts at `t_min`. */
  beginsLeaf = false;
  startHigh = 0;
  startLow = 0;
  endHigh = 0;
  endLow = 0;
  readonly #pageHigh: number;
  readonly #pageLow: number;
  readonly #integer = new IntegerReader();

  /** @param pageStart the leaf's `t_min` in nanoseconds */
  constructor(pageStart: bigint) {
    [this.#pageHigh, this.#pageLow] = halves(pageStart);
  }

  /** Reads the entry at `at`; false when there is no sound one. */
  read(bytes: Uint8Array, at: number): boolean {
    const integer = this.#integer;
    const elements = (bytes[at] ?? 0) - ARRAY;
    if (elements < 5 || elements > 7) return false;
    this.cellAt = textStart(bytes, at + 1);
    this.startAt = cellEnd(bytes, at + 1, this.cellAt);
    this.restAt = integer.read(bytes, this.startAt);
    if (this.restAt < 0) return false;
    this.beginsLeaf = integer.high === 0 && integer.low === 0;
    integer.add(this.#pageHigh, this.#pageLow);
    const { high, low } = integer;
    this.startHigh = high;
    this.startLow = low;
    this.payloadAt = integer.read(bytes, this.restAt);
    if (this.payloadAt < 0 || (integer.high === 0 && integer.low === 0)) return false;
    integer.add(high, low);
    if (integer.high >= TWO_32) return false;
    this.endHigh = integer.high;
    this.endLow = integer.low;
    let end = integer.read(bytes, this.payloadAt);
    if (end < 0 || integer.high >= 0x20_0000) return false;
    end = addressEnd(bytes, end);
    if (elements > 5) end = integer.read(bytes, end);
    if (elements > 6) end = addressEnd(bytes, end);
    this.end = end;
    return end >= 0;
  }

  /** The entry that was read, with absolute times, in bytes of its own. */
  entry(bytes: Uint8Array, at: number): PageEntry {
    const start = joinHalves(this.startHigh, this.startLow);
    const end = joinHalves(this.endHigh, this.endLow);
    const length = this.startAt - at + uintLength(start) + uintLength(end) +
      this.end - this.payloadAt;
    const writer = new CborWriter(length);
    writer.rawRange(bytes, at, this.startAt);
    writer.uint(start);
    writer.uint(end);
    writer.rawRange(bytes, this.payloadAt, this.end);
    const absolute = writer.finish();
    const group = absolute.subarray(this.cellAt - at, this.startAt - at);
    return { bytes: absolute, group, start, end };
  }
}

/** Where the cell whose text begins at `at` ends; −1 when it is not a cell. */
function cellEnd(bytes: Uint8Array, at: number, charactersAt: number): number {
  const head = bytes[at] ?? 0;
  if (head < 0x61 || head > 0x78) return -1;
  const length = head < 0x78 ? head - 0x60 : bytes[at + 1] ?? 0;
  if (head === 0x78 && length < 24) return -1;
  const end = charactersAt + length;
  for (let index = charactersAt; index < end; index++) {
    if (bytes[index] !== ZERO && bytes[index] !== ONE) return -1;
  }
  return end;
}

/** Where the address that begins at `at` ends; −1 when there is none. */
function addressEnd(bytes: Uint8Array, at: number): number {
  const end = at + ENCODED_ADDRESS;
  const is = at >= 0 && bytes[at] === 0x58 && bytes[at + 1] === 33 && bytes[at + 2] === 0x1e;
  return is && end <= bytes.length ? end : -1;
}

/** Where the text that begins at `at` has its characters. */
export function textStart(bytes: Uint8Array, at: number): number {
  const head = bytes[at] ?? 0;
  return at + (head < 0x78 ? 1 : head === 0x78 ? 2 : head === 0x79 ? 3 : 5);
}

/** The order of two ranges of bytes. */
export function compareRanges(
  a: Uint8Array,
  aStart: number,
  aLength: number,
  b: Uint8Array,
  bStart: number,
  bLength: number,
): number {
  for (let index = 0; index < aLength && index < bLength; index++) {
    const difference = (a[aStart + index] ?? 0) - (b[bStart + index] ?? 0);
    if (difference !== 0) return difference;
  }
  return aLength - bLength;
}

/** Whether `length` bytes are the same in both. A loop: they are short. */
export function sameBytes(
  a: Uint8Array,
  aStart: number,
  b: Uint8Array,
  bStart: number,
  length: number,
): boolean {
  for (let index = 0; index < length; index++) {
    if (a[aStart + index] !== b[bStart + index]) return false;
  }
  return true;
}
