/**
 * Where everything lies in a leaf of Index Pages, so that leaves can be compared as bytes.
 *
 * @module
 */

import type { Buffer } from "node:buffer";
import type { Address } from "../../encoding/address.ts";
import { asBuffer } from "../../encoding/bytes.ts";
import { CborCursor } from "../../encoding/cbor-cursor.ts";
import { CborWriter } from "../../encoding/cbor-writer.ts";
import { PAGE_LIMIT } from "../../model/index-page.ts";
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
  readonly bytes: Buffer;
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

/**
 * The head of a leaf; undefined when it is not written as one.
 * @throws DreamDBError malformed-cbor
 */
export function readLeafHead(bytes: Uint8Array): LeafHead | undefined {
  if (bytes.length > PAGE_LIMIT || !standsAt(HEAD_START, bytes, 0)) return undefined;
  const cursor = new CborCursor(bytes, HEAD_START.length);
  const end = cursor.readUint();
  if (!standsAt(T_MIN, bytes, cursor.offset)) return undefined;
  cursor.offset += T_MIN.length;
  const start = cursor.readUint();
  if (!standsAt(ENTRIES, bytes, cursor.offset)) return undefined;
  cursor.offset += ENTRIES.length;
  const count = cursor.readArrayLength();
  return { start, end, count, entriesAt: cursor.offset };
}

function standsAt(expected: Uint8Array, bytes: Uint8Array, at: number): boolean {
  for (let index = 0; index < expected.length; index++) {
    if (bytes[at + index] !== expected[index]) return false;
  }
  return true;
}

/** Where the text that begins at `at` has its characters. */
export function textStart(bytes: Uint8Array, at: number): number {
  const head = bytes[at] ?? 0;
  return at + (head < 0x78 ? 1 : head === 0x78 ? 2 : head === 0x79 ? 3 : 5);
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
  const [startHigh, startLow] = halves(head.start);
  const offsets = new Uint32Array(count + 1);
  const cellAts = new Uint32Array(count);
  const startAt = new Uint32Array(count);
  const restAt = new Uint32Array(count);
  const cellFirst = new Uint32Array(count);
  const starts = new Uint32Array(2 * count);
  const ends = new Uint32Array(2 * count);
  const integer = new IntegerReader();
  let least = Infinity;
  let endHigh = 0;
  let endLow = 0;
  let at = head.entriesAt;
  for (let index = 0; index < count; index++) {
    const elements = (bytes[at] ?? 0) - 0x80;
    const cellAt = textStart(bytes, at + 1);
    const cellEnd = readCell(bytes, at + 1, cellAt);
    if (elements < 5 || elements > 7 || cellEnd < 0) return undefined;
    const afterStart = integer.read(bytes, cellEnd);
    if (afterStart < 0) return undefined;
    if (integer.high === 0 && integer.low === 0) least = 0;
    integer.add(startHigh, startLow);
    const { high, low } = integer;
    const afterDuration = integer.read(bytes, afterStart);
    if (afterDuration < 0 || (integer.high === 0 && integer.low === 0)) return undefined;
    integer.add(high, low);
    if (integer.high >= TWO_32) return undefined;
    starts[2 * index] = high;
    starts[2 * index + 1] = low;
    ends[2 * index] = integer.high;
    ends[2 * index + 1] = integer.low;
    if (integer.high > endHigh || (integer.high === endHigh && integer.low > endLow)) {
      endHigh = integer.high;
      endLow = integer.low;
    }
    offsets[index] = at;
    cellAts[index] = cellAt;
    startAt[index] = cellEnd;
    restAt[index] = afterStart;
    if (index > 0) {
      const [from, to] = [cellAts[index - 1] ?? 0, startAt[index - 1] ?? 0];
      const order = compareRanges(bytes, from, to, cellAt, cellEnd);
      if (order > 0) return undefined;
      if (order < 0) cellFirst[index] = index;
      else {
        cellFirst[index] = cellFirst[index - 1] ?? 0;
        const [h, l] = [starts[2 * index - 2] ?? 0, starts[2 * index - 1] ?? 0];
        if (h > high || (h === high && l > low)) return undefined;
      }
    }
    at = readPayload(bytes, afterDuration, elements, integer);
    if (at < 0) return undefined;
  }
  offsets[count] = at;
  const end = joinHalves(endHigh, endLow);
  if (least !== 0 || end !== head.end) return undefined;
  if (bytes.length - at !== tail.length || !sameBytes(bytes, at, tail, 0, tail.length)) {
    return undefined;
  }
  const child = {
    page: address,
    low: bytes.slice(cellAts[0], startAt[0]),
    high: bytes.slice(cellAts[count - 1], startAt[count - 1]),
    start: head.start,
    end,
    entryCount: count,
  };
  return {
    child,
    bytes: asBuffer(bytes),
    head,
    offsets,
    cellAt: cellAts,
    startAt,
    restAt,
    cellFirst,
    starts,
    ends,
  };
}

const TWO_32 = 0x1_0000_0000;
const ZERO = 0x30;
const ONE = 0x31;

/** The halves of a 64-bit number. */
export function halves(value: bigint): readonly [high: number, low: number] {
  return [Number(value >> 32n), Number(value & 0xffff_ffffn)];
}

export function joinHalves(high: number, low: number): bigint {
  return (BigInt(high) << 32n) | BigInt(low);
}

/** Reads unsigned integers as two halves, without a bigint for each. */
export class IntegerReader {
  high = 0;
  low = 0;

  /** Reads the integer at `at`; where it ends, or −1 when it is not one in its shortest form. */
  read(bytes: Uint8Array, at: number): number {
    const head = bytes[at] ?? 0xff;
    this.high = 0;
    this.low = head;
    if (head < 24) return at + 1;
    if (head > 0x1b) return -1;
    const width = 1 << (head - 24);
    if (at + width >= bytes.length) return -1;
    if (width === 8) {
      this.high = word(bytes, at + 1);
      this.low = word(bytes, at + 5);
      return this.high === 0 ? -1 : at + 9;
    }
    if (width === 4) this.low = word(bytes, at + 1);
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

function word(bytes: Uint8Array, at: number): number {
  return (((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) |
    (bytes[at + 3] ?? 0)) >>> 0;
}

/** Where the cell whose text begins at `at` ends; −1 when it is not a cell. */
function readCell(bytes: Uint8Array, at: number, charactersAt: number): number {
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

/** Where an entry with so many elements ends, from its length in bytes on; −1 when it is wrong. */
function readPayload(
  bytes: Uint8Array,
  at: number,
  elements: number,
  integer: IntegerReader,
): number {
  let end = integer.read(bytes, at);
  if (end < 0 || integer.high >= 0x20_0000) return -1;
  end = readAddress(bytes, end);
  if (elements > 5 && end >= 0) end = integer.read(bytes, end);
  if (elements > 6 && end >= 0) end = readAddress(bytes, end);
  return end;
}

function readAddress(bytes: Uint8Array, at: number): number {
  const is = bytes[at] === 0x58 && bytes[at + 1] === 33 && bytes[at + 2] === 0x1e;
  return is && at + 35 <= bytes.length ? at + 35 : -1;
}

/** The order of two ranges of bytes. */
function compareRanges(
  bytes: Uint8Array,
  aStart: number,
  aEnd: number,
  bStart: number,
  bEnd: number,
): number {
  const [aLength, bLength] = [aEnd - aStart, bEnd - bStart];
  for (let index = 0; index < aLength && index < bLength; index++) {
    const difference = (bytes[aStart + index] ?? 0) - (bytes[bStart + index] ?? 0);
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
