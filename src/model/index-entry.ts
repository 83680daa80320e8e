/**
 * One entry of a Track's index, in its inline form with absolute times (FORMAT 5.1).
 *
 * An entry is its encoded bytes plus what a merge needs to know of them. Elements behind the known
 * ones (table id, rerank address, pack offset) are carried in the bytes untouched.
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import { addressFromBytes } from "../encoding/address.ts";
import { bytesKey, compareBytes } from "../encoding/bytes.ts";
import { CborCursor } from "../encoding/cbor-cursor.ts";
import { CborWriter } from "../encoding/cbor-writer.ts";
import { MAX_U64 } from "./coverage.ts";
import { malformedObject } from "./malformed.ts";
import type { Subject } from "./malformed.ts";
import { readAddressBytes } from "./page-entry.ts";
import type { TrackKind } from "./track-kind.ts";

/** Kinds whose entries this file reads. */
export type EntryKind = Exclude<TrackKind, "graph-page" | "unknown">;

/** An index entry. */
export interface IndexEntry {
  /** The encoded entry, absolute times. */
  readonly bytes: Uint8Array;
  /** The cell text, the value key, or nothing: entries of one group belong together. */
  readonly group: Uint8Array;
  /** First anchor, in nanoseconds. */
  readonly start: bigint;
  /** Last anchor + 1, in nanoseconds. */
  readonly end: bigint;
  readonly address: Address;
  /** Length of the payload in bytes, where the entry says it. */
  readonly size: number | undefined;
  /** Where in the object at `address` the payload begins; undefined when it is the whole object. */
  readonly slice: { readonly offset: number; readonly length: number } | undefined;
  /** SpatialBucket: the table the cell belongs to, when the entry names one. */
  readonly table: number | undefined;
  /** SpatialBucket: the sidecar of exact vectors, when there is one. */
  readonly rerank: Address | undefined;
  /** Fragment: `address` is an ItemManifest, not the payload. */
  readonly chunked: boolean;
}

const NO_GROUP = new Uint8Array(0);

/** Kinds whose entries begin with a cell, a value or an address and not with the start. */
const LED_BY_ANOTHER: ReadonlySet<EntryKind> = new Set([
  "spatial-bucket",
  "scalar-bitmap",
  "scalar-btree",
  "event-array",
]);

function wrongLength(subject: Subject, kind: string, length: number, expected: string) {
  return malformedObject(subject, `a ${kind} entry of ${length} elements`, expected);
}

/**
 * Reads the entry at the cursor.
 *
 * @param kind the Track's kind
 * @param relativeTo what start times are relative to (VideoItem Tracks: the coverage's start)
 * @throws DreamDBError malformed-cbor, malformed-object
 */
function readIndexEntry(
  subject: Subject,
  kind: EntryKind,
  cursor: CborCursor,
  relativeTo = 0n,
): IndexEntry {
  const offset = cursor.offset;
  if (kind === "constant") {
    const address = readAddressBytes(subject, cursor);
    return entry(cursor, offset, { start: 0n, end: MAX_U64, address });
  }
  const length = cursor.readArrayLength();
  let parts: EntryParts;
  switch (kind) {
    case "spatial-bucket":
      parts = readSpatial(subject, cursor, length);
      break;
    case "fragment":
      parts = readFragment(subject, cursor, length);
      break;
    case "scalar-bitmap":
    case "scalar-btree":
      parts = readScalar(subject, cursor, length);
      break;
    case "event-array": {
      if (length !== 2) throw wrongLength(subject, kind, length, "[address, anchor]");
      const address = readAddressBytes(subject, cursor);
      const start = cursor.readUint();
      parts = { start, end: start + 1n, address };
      break;
    }
    case "time-batch": {
      if (length !== 4) {
        throw wrongLength(subject, kind, length, "[start, end, time bucket, address]");
      }
      const start = cursor.readUint();
      const end = cursor.readUint();
      cursor.readUint();
      parts = { start, end, address: readAddressBytes(subject, cursor) };
      break;
    }
    case "video-item": {
      if (length !== 4) throw wrongLength(subject, kind, length, "[start, duration, key, address]");
      const start = cursor.readUint() + relativeTo;
      const end = start + cursor.readUint();
      const keyAt = cursor.offset;
      cursor.skip();
      const group = cursor.bytes.subarray(keyAt, cursor.offset);
      parts = { start, end, group, address: readAddressBytes(subject, cursor) };
      break;
    }
    case "geometry": {
      if (length !== 3) throw wrongLength(subject, kind, length, "[anchor, address, size]");
      const start = cursor.readUint();
      const address = readAddressBytes(subject, cursor);
      parts = { start, end: start + 1n, address, size: cursor.readSafeUint() };
      break;
    }
  }
  if (parts.start >= parts.end || parts.end > MAX_U64) {
    throw malformedObject(
      subject,
      `an entry from ${parts.start} to ${parts.end}`,
      "a start below the end, both of 64 bits",
    );
  }
  return entry(cursor, offset, parts);
}

interface EntryParts {
  readonly start: bigint;
  readonly end: bigint;
  readonly address: Uint8Array;
  readonly group?: Uint8Array;
  readonly size?: number | undefined;
  readonly slice?: IndexEntry["slice"];
  readonly table?: number | undefined;
  readonly rerank?: Uint8Array | undefined;
  readonly chunked?: boolean;
}

function entry(cursor: CborCursor, offset: number, parts: EntryParts): IndexEntry {
  const { address, rerank } = parts;
  return {
    bytes: cursor.bytes.subarray(offset, cursor.offset),
    group: parts.group ?? NO_GROUP,
    start: parts.start,
    end: parts.end,
    // Of many entries that are read few are ever looked up, and letters are dear to make.
    get address() {
      return addressFromBytes(address);
    },
    size: parts.size,
    slice: parts.slice,
    table: parts.table,
    get rerank() {
      return rerank === undefined ? undefined : addressFromBytes(rerank);
    },
    chunked: parts.chunked ?? false,
  };
}

function readSpatial(subject: Subject, cursor: CborCursor, length: number): EntryParts {
  if (length < 5 || length > 7) {
    throw wrongLength(subject, "SpatialBucket", length, "5, 6 or 7 elements");
  }
  const group = cursor.readTextBytes();
  const start = cursor.readUint();
  const end = cursor.readUint();
  const size = cursor.readSafeUint();
  const address = readAddressBytes(subject, cursor);
  const table = length > 5 ? cursor.readSafeUint() : undefined;
  const rerank = length > 6 ? readAddressBytes(subject, cursor) : undefined;
  return { group, start, end, size, address, table, rerank };
}

function readFragment(subject: Subject, cursor: CborCursor, length: number): EntryParts {
  if (length < 4 || length > 6) {
    throw wrongLength(subject, "Fragment", length, "4, 5 or 6 elements");
  }
  const start = cursor.readUint();
  const end = cursor.readUint();
  const size = cursor.readSafeUint();
  const address = readAddressBytes(subject, cursor);
  const chunked = length > 4 && cursor.readBoolean();
  if (length < 6) return { start, end, size, address, chunked };
  const offset = cursor.readSafeUint();
  return { start, end, size, address, chunked, slice: { offset, length: size } };
}

function readScalar(subject: Subject, cursor: CborCursor, length: number): EntryParts {
  if (length !== 4 && length !== 6) {
    throw wrongLength(subject, "ScalarBucket", length, "4 or 6 elements");
  }
  const group = cursor.readBytes();
  const start = cursor.readUint();
  const end = cursor.readUint();
  const address = readAddressBytes(subject, cursor);
  if (length === 4) return { group, start, end, address };
  const slice = { offset: cursor.readSafeUint(), length: cursor.readSafeUint() };
  return { group, start, end, address, slice, size: slice.length };
}

/**
 * The start and end of the entry at the cursor, in nanoseconds, and nothing else of it: for walks
 * over many entries of which few are wanted. Leaves the cursor behind the entry.
 */
export function readEntryExtent(
  subject: Subject,
  kind: EntryKind,
  cursor: CborCursor,
): { readonly start: bigint; readonly end: bigint } {
  const offset = cursor.offset;
  if (kind !== "constant") {
    const length = cursor.readArrayLength();
    let left = length;
    let start = 0n;
    let end: bigint | undefined;
    if (LED_BY_ANOTHER.has(kind)) {
      cursor.skip();
      left--;
    }
    if (left > 0) {
      start = cursor.readUint();
      left--;
    }
    if (kind === "event-array" || kind === "geometry") end = start + 1n;
    else if (left > 0) {
      const second = cursor.readUint();
      left--;
      end = kind === "video-item" ? start + second : second;
    }
    for (; left > 0; left--) cursor.skip();
    if (end !== undefined && start < end) return { start, end };
  }
  cursor.offset = offset;
  return readIndexEntry(subject, kind, cursor);
}

/** All entries of an encoded run, in the order they stand. */
export function* readIndexEntries(
  subject: Subject,
  kind: EntryKind,
  entries: Uint8Array,
  relativeTo = 0n,
): Generator<IndexEntry> {
  const cursor = new CborCursor(entries);
  while (!cursor.done) yield readIndexEntry(subject, kind, cursor, relativeTo);
}

/** The entry that `bytes` encodes. */
export function parseIndexEntry(
  subject: Subject,
  kind: EntryKind,
  bytes: Uint8Array,
  relativeTo = 0n,
): IndexEntry {
  return readIndexEntry(subject, kind, new CborCursor(bytes), relativeTo);
}

/** A key that is equal for entries of one group: the same cell of one table, or the same value. */
export function groupKey(entry: IndexEntry): string {
  return `${entry.table ?? ""} ${bytesKey(entry.group)}`;
}

/**
 * The order in which writers keep the entries of a kind: cell or value first where there is one,
 * then the start; a VideoItem Track is in order of time (FORMAT 5.1).
 */
export function compareEntries(kind: EntryKind, a: IndexEntry, b: IndexEntry): number {
  const byGroup = kind === "video-item" ? 0 : compareBytes(a.group, b.group);
  if (byGroup !== 0) return byGroup;
  return a.start < b.start ? -1 : a.start > b.start ? 1 : 0;
}

/** A total order that refines `compareEntries`: ties are broken by the bytes. */
export function compareEntriesFully(kind: EntryKind, a: IndexEntry, b: IndexEntry): number {
  return compareEntries(kind, a, b) || compareBytes(a.bytes, b.bytes);
}

/** Encodes `[cell, start, end, size, address]` with the optional table and sidecar. */
export function encodeSpatialEntry(
  cell: Uint8Array,
  start: bigint,
  end: bigint,
  size: number,
  address: Uint8Array,
  table: number | undefined,
  rerank: Uint8Array | undefined,
): Uint8Array {
  const writer = new CborWriter();
  const withTable = table !== undefined || rerank !== undefined;
  writer.arrayHead(5 + (withTable ? 1 : 0) + (rerank === undefined ? 0 : 1));
  writer.text(new TextDecoder().decode(cell));
  writer.uint(start);
  writer.uint(end);
  writer.uint(size);
  writer.bytes(address);
  if (withTable) writer.uint(table ?? 0);
  if (rerank !== undefined) writer.bytes(rerank);
  return writer.finish();
}

/** Encodes `[key, start, end, address, offset, length]`. */
export function encodeScalarEntry(
  key: Uint8Array,
  start: bigint,
  end: bigint,
  address: Uint8Array,
  offset: number,
  length: number,
): Uint8Array {
  const writer = new CborWriter();
  writer.arrayHead(6);
  writer.bytes(key);
  writer.uint(start);
  writer.uint(end);
  writer.bytes(address);
  writer.uint(offset);
  writer.uint(length);
  return writer.finish();
}
