/**
 * Where everything lies in a leaf of Index Pages, so that leaves can be compared as bytes.
 *
 * @module
 */

import type { Buffer } from "node:buffer";
import { asBuffer } from "../../encoding/bytes.ts";
import { CborCursor } from "../../encoding/cbor-cursor.ts";
import { CborWriter } from "../../encoding/cbor-writer.ts";
import type { PageEntry } from "../../model/page-entry.ts";
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

/** A leaf of SpatialBuckets that was decoded and checked. Times are absolute, as two halves. */
export interface LeafShape {
  /** What a page above has to say about it. */
  readonly child: TreeChild;
  readonly bytes: Buffer;
  readonly head: LeafHead;
  /** Where each entry begins; the last element is where they end. */
  readonly offsets: Uint32Array;
  /** Where the relative start of each entry begins. */
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

/** The head of a leaf; undefined when it is not written as one. @throws DreamDBError malformed-cbor */
export function readLeafHead(bytes: Uint8Array): LeafHead | undefined {
  if (!standsAt(HEAD_START, bytes, 0)) return undefined;
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

/** Bytes of the unsigned integer whose first byte is at `at`. */
export function uintWidth(bytes: Uint8Array, at: number): number {
  const head = bytes[at] ?? 0;
  return head < 24 ? 1 : 1 + (1 << (head - 24));
}

/**
 * The shape of a leaf.
 * @param child what a page above has to say about it
 * @param entries what `bytes` was decoded to
 * @throws DreamDBError malformed-cbor
 */
export function leafShape(
  child: TreeChild,
  bytes: Uint8Array,
  entries: readonly PageEntry[],
): LeafShape {
  const head = readLeafHead(bytes);
  if (head === undefined) throw new Error("unreachable: a decoded leaf without a leaf's head");
  const { count } = head;
  const shape = {
    child,
    bytes: asBuffer(bytes),
    head,
    offsets: new Uint32Array(count + 1),
    startAt: new Uint32Array(count),
    restAt: new Uint32Array(count),
    cellFirst: new Uint32Array(count),
    starts: new Uint32Array(2 * count),
    ends: new Uint32Array(2 * count),
  };
  const cursor = new CborCursor(bytes, head.entriesAt);
  for (let index = 0; index < count; index++) {
    const entry = entries[index];
    if (entry === undefined) throw new Error("unreachable: a leaf with more entries than decoded");
    const at = cursor.offset;
    const startAt = textStart(bytes, at + 1) + entry.group.length;
    shape.offsets[index] = at;
    shape.startAt[index] = startAt;
    shape.restAt[index] = startAt + uintWidth(bytes, startAt);
    shape.cellFirst[index] = index > 0 && sameCell(shape, index, bytes, at)
      ? shape.cellFirst[index - 1] ?? 0
      : index;
    shape.starts[2 * index] = Number(entry.start >> 32n);
    shape.starts[2 * index + 1] = Number(entry.start & 0xffff_ffffn);
    shape.ends[2 * index] = Number(entry.end >> 32n);
    shape.ends[2 * index + 1] = Number(entry.end & 0xffff_ffffn);
    cursor.skip();
  }
  shape.offsets[count] = cursor.offset;
  return shape;
}

/** Whether the entry before `index` is in the cell of the entry of `bytes` at `at`. */
function sameCell(shape: LeafShape, index: number, bytes: Uint8Array, at: number): boolean {
  const before = shape.offsets[index - 1] ?? 0;
  const length = (shape.startAt[index - 1] ?? 0) - before;
  return sameBytes(shape.bytes, before + 1, bytes, at + 1, length - 1);
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
