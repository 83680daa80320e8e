/**
 * What a leaf of Index Pages gained over an earlier version of it, found by comparing bytes.
 *
 * A leaf stores starts relative to its `t_min`, which an append leaves as it is; the new version is
 * then the old one with entries put in. Only those are decoded. Everything else, such as a leaf
 * that lost entries or one whose first or last cell grew, is left to the comparison of decoded
 * leaves.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { compareBytes } from "../../encoding/bytes.ts";
import { CborCursor } from "../../encoding/cbor-cursor.ts";
import { readLeafEntries } from "../../model/index-leaf.ts";
import type { PagedKind } from "../../model/index-leaf.ts";
import type { PageEntry } from "../../model/page-entry.ts";
import { commonPrefix, entryAt } from "../inline-difference.ts";
import type { TreeChild } from "./tree-format.ts";

/** A leaf that was decoded and checked once, ready to be compared as bytes. */
export interface LeafShape {
  readonly bytes: Buffer;
  /** Where each entry begins; the last element is where they end. */
  readonly offsets: Uint32Array;
  readonly start: bigint;
  readonly end: bigint;
}

interface LeafHead {
  readonly start: bigint;
  readonly end: bigint;
  readonly count: number;
  readonly entriesAt: number;
}

/** The head of a leaf; undefined when it is not written as one. */
function readHead(cursor: CborCursor): LeafHead | undefined {
  if (cursor.readMapLength() !== 5 || cursor.readText() !== "type") return undefined;
  if (cursor.readText() !== "leaf" || cursor.readText() !== "t_max") return undefined;
  const end = cursor.readUint();
  if (cursor.readText() !== "t_min") return undefined;
  const start = cursor.readUint();
  if (cursor.readText() !== "entries") return undefined;
  const count = cursor.readArrayLength();
  return { start, end, count, entriesAt: cursor.offset };
}

/** The shape of a leaf that was decoded before; undefined where two entries sort the same. */
export function leafShape(bytes: Uint8Array): LeafShape | undefined {
  const cursor = new CborCursor(bytes);
  const head = readHead(cursor);
  if (head === undefined) return undefined;
  const offsets = new Uint32Array(head.count + 1);
  for (let index = 0; index < head.count; index++) {
    offsets[index] = cursor.offset;
    cursor.skip();
  }
  offsets[head.count] = cursor.offset;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let index = 1; index < head.count; index++) {
    const before = offsets[index - 1] ?? 0;
    const at = offsets[index] ?? 0;
    if (compareKeys(buffer, before, buffer, at) >= 0) return undefined;
  }
  return { bytes: buffer, offsets, start: head.start, end: head.end };
}

/** Bytes of a stored entry from its cell to the end of its relative start. */
function keyLength(bytes: Uint8Array, entryAtByte: number): number {
  const head = bytes[entryAtByte + 1] ?? 0;
  const cell = head < 0x78 ? 1 + head - 0x60 : 2 + (bytes[entryAtByte + 2] ?? 0);
  const start = bytes[entryAtByte + 1 + cell] ?? 0;
  return cell + 1 + (start < 24 ? 0 : 1 << (start - 24));
}

/** Shortest heads sort as the numbers do, so bytes sort as (cell, start); cells have one length. */
function compareKeys(a: Buffer, aEntry: number, b: Buffer, bEntry: number): number {
  return a.compare(
    b,
    bEntry + 1,
    bEntry + 1 + keyLength(b, bEntry),
    aEntry + 1,
    aEntry + 1 + keyLength(a, aEntry),
  );
}

/**
 * The entries that `side` has and `base` lacks, when that is all that differs.
 *
 * @param child what the page above says about `side`
 * @returns undefined when the leaves have to be decoded to tell
 * @throws DreamDBError malformed-cbor, malformed-object
 */
export function leafGrowth(
  kind: PagedKind,
  base: LeafShape,
  side: Uint8Array,
  child: TreeChild,
): readonly PageEntry[] | undefined {
  const cursor = new CborCursor(side);
  const head = readHead(cursor);
  const { offsets } = base;
  const count = offsets.length - 1;
  if (head === undefined || head.start !== base.start || head.count < count) return undefined;
  if (child.start !== head.start || child.end !== head.end || child.entryCount !== head.count) {
    return undefined;
  }
  const sideBuffer = Buffer.from(side.buffer, side.byteOffset, side.byteLength);
  const textHead = base.bytes[(offsets[0] ?? 0) + 1];
  const added: PageEntry[] = [];
  let end = base.end;
  let position = head.entriesAt;
  let next = 0;
  let previous = -1;
  while (next < count) {
    const start = offsets[next] ?? 0;
    const matched = commonPrefix(base.bytes, start, sideBuffer, position);
    const reached = Math.min(entryAt(offsets, start + matched), count);
    if (reached > next) {
      position += (offsets[reached] ?? 0) - start;
      next = reached;
      previous = -1;
      continue;
    }
    if (next === 0 || added.length >= head.count - count) return undefined;
    cursor.offset = position;
    const [entry] = readLeafEntries(
      { kind: "Index Page", path: child.page },
      kind,
      cursor,
      1,
      head.start,
    );
    if (entry === undefined || sideBuffer[position + 1] !== textHead) return undefined;
    // Strictly between its neighbours, and in no cell that may go on in the next leaf.
    const after = previous < 0
      ? compareKeys(base.bytes, offsets[next - 1] ?? 0, sideBuffer, position) < 0
      : compareKeys(sideBuffer, previous, sideBuffer, position) < 0;
    if (!after || compareKeys(sideBuffer, position, base.bytes, start) >= 0) return undefined;
    if (equalTo(child.low, entry.group) || equalTo(child.high, entry.group)) return undefined;
    if (entry.end > end) end = entry.end;
    added.push(entry);
    previous = position;
    position = cursor.offset;
  }
  if (count + added.length !== head.count || end !== head.end) return undefined;
  const tail = base.bytes.subarray(offsets[count]);
  return tail.equals(sideBuffer.subarray(position)) ? added : undefined;
}

function equalTo(key: Uint8Array | undefined, group: Uint8Array): boolean {
  return key === undefined || compareBytes(key, group) === 0;
}
