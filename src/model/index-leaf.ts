/**
 * Leaf entries of Index Pages: reading them into the absolute form, writing them relative to the
 * page's `t_min`, and their size in a page (PAGED 4.1).
 *
 * @module
 */

import { compareBytes } from "../encoding/bytes.ts";
import type { CborCursor } from "../encoding/cbor-cursor.ts";
import { CborWriter } from "../encoding/cbor-writer.ts";
import { MAX_U64 } from "./coverage.ts";
import { malformedObject } from "./malformed.ts";
import type { Subject } from "./malformed.ts";
import { skipAddress, uintLength } from "./page-entry.ts";
import type { PageEntry } from "./page-entry.ts";
import type { TrackKind } from "./track-kind.ts";

/** The kinds of Track whose index can be paged (PAGED 2). */
export type PagedKind = Extract<
  TrackKind,
  "spatial-bucket" | "fragment" | "event-array" | "video-item"
>;

/** The paged kind of that name, or undefined when Tracks of this kind are never paged. */
export function pagedKind(kind: TrackKind): PagedKind | undefined {
  switch (kind) {
    case "spatial-bucket":
    case "fragment":
    case "event-array":
    case "video-item":
      return kind;
    default:
      return undefined;
  }
}

const NO_GROUP: Uint8Array = new Uint8Array(0);
/** Bytes of an address as a CBOR byte string. */
const ENCODED_ADDRESS = 35;
const ZERO = 0x30;
const ONE = 0x31;

/**
 * Reads `count` leaf entries into their absolute form. The bytes of all of them are in one new
 * buffer, so a leaf costs one allocation of bytes.
 * @param pageStart the page's `t_min` in ns, which stored times are relative to
 * @throws DreamDBError malformed-cbor, malformed-object; also when entries are out of order
 */
export function readLeafEntries(
  subject: Subject,
  kind: PagedKind,
  cursor: CborCursor,
  count: number,
  pageStart: bigint,
): readonly PageEntry[] {
  const writer = new CborWriter((cursor.bytes.length - cursor.offset) + 18 * count);
  const ends: number[] = [];
  const parsed: EntryParts[] = [];
  for (let index = 0; index < count; index++) {
    parsed.push(readLeafEntry(subject, kind, cursor, writer, pageStart));
    ends.push(writer.length);
  }
  const bytes = writer.finish();
  const entries = parsed.map(({ group, start, end }, index): PageEntry => ({
    bytes: bytes.subarray(ends[index - 1] ?? 0, ends[index]),
    group,
    start,
    end,
  }));
  entries.forEach((entry, index) => {
    const before = entries[index - 1];
    if (before !== undefined && comparePageEntries(kind, before, entry) > 0) {
      throw malformedObject(subject, `entry ${index} is out of order`, "entries ascending");
    }
  });
  return entries;
}

/** Writes an entry as a leaf with this `t_min` stores it. */
export function writeLeafEntry(
  writer: CborWriter,
  kind: PagedKind,
  entry: PageEntry,
  pageStart: bigint,
): void {
  const timesAt = timesOffset(kind, entry);
  writer.raw(entry.bytes.subarray(0, timesAt));
  writer.uint(entry.start - pageStart);
  if (kind !== "event-array") writer.uint(entry.end - entry.start);
  writer.raw(entry.bytes.subarray(timesAt + absoluteTimesLength(kind, entry)));
}

/** Bytes that an entry takes in a leaf with this `t_min`. */
export function leafEntryLength(kind: PagedKind, entry: PageEntry, pageStart: bigint): number {
  return leafEntryFixedLength(kind, entry) + uintLength(entry.start - pageStart);
}

/** `leafEntryLength` without the relative start, the only part that depends on the page. */
export function leafEntryFixedLength(kind: PagedKind, entry: PageEntry): number {
  const duration = kind === "event-array" ? 0 : uintLength(entry.end - entry.start);
  return entry.bytes.length - absoluteTimesLength(kind, entry) + duration;
}

/**
 * The order of entries in a leaf (PAGED 4.3): by cell and start, or by start. Entries it calls equal
 * keep the order in which they were added.
 */
export function comparePageEntries(kind: PagedKind, a: PageEntry, b: PageEntry): number {
  const byCell = kind === "spatial-bucket" ? compareBytes(a.group, b.group) : 0;
  if (byCell !== 0) return byCell;
  return a.start < b.start ? -1 : a.start > b.start ? 1 : 0;
}

/** Checks that a cell is a text of `0` and `1`. @throws DreamDBError malformed-object */
export function checkCell(subject: Subject, cell: Uint8Array): void {
  let valid = cell.length > 0;
  for (let index = 0; valid && index < cell.length; index++) {
    valid = cell[index] === ZERO || cell[index] === ONE;
  }
  if (valid) return;
  throw malformedObject(
    subject,
    `the cell ${JSON.stringify(new TextDecoder().decode(cell.subarray(0, 40)))}`,
    "a text of 0 and 1",
  );
}

interface EntryParts {
  readonly group: Uint8Array;
  readonly start: bigint;
  readonly end: bigint;
}

function readLeafEntry(
  subject: Subject,
  kind: PagedKind,
  cursor: CborCursor,
  writer: CborWriter,
  pageStart: bigint,
): EntryParts {
  const { bytes } = cursor;
  const from = cursor.offset;
  const length = cursor.readArrayLength();
  let group: Uint8Array = NO_GROUP;
  if (kind === "spatial-bucket") {
    group = cursor.readTextBytes();
    checkCell(subject, group);
  } else if (kind === "event-array") skipAddress(subject, cursor);
  writer.rawRange(bytes, from, cursor.offset);
  const start = pageStart + cursor.readUint();
  const duration = kind === "event-array" ? 1n : cursor.readUint();
  const end = start + duration;
  if (duration === 0n || end > MAX_U64) {
    throw malformedObject(subject, `an entry from ${start} to ${end}`, "a start below the end");
  }
  writer.uint(start);
  if (kind === "video-item") writer.uint(duration);
  else if (kind !== "event-array") writer.uint(end);
  const rest = cursor.offset;
  if (kind === "video-item") {
    const keyAt = cursor.offset;
    cursor.readBytes();
    group = bytes.subarray(keyAt, cursor.offset);
    skipAddress(subject, cursor);
    if (length !== 4) throw wrongLength(subject, length, "4");
  } else if (kind === "event-array") {
    if (length !== 2) throw wrongLength(subject, length, "2");
  } else readPayload(subject, kind, cursor, length);
  writer.rawRange(bytes, rest, cursor.offset);
  return { group, start, end };
}

function readPayload(
  subject: Subject,
  kind: "spatial-bucket" | "fragment",
  cursor: CborCursor,
  length: number,
): void {
  cursor.readSafeUint();
  skipAddress(subject, cursor);
  if (kind === "spatial-bucket") {
    if (length < 5 || length > 7) throw wrongLength(subject, length, "5, 6 or 7");
    if (length > 5) cursor.readUint();
    if (length > 6) skipAddress(subject, cursor);
    return;
  }
  if (length < 4 || length > 6) throw wrongLength(subject, length, "4, 5 or 6");
  if (length === 4) return;
  if (cursor.readBoolean() !== (length === 5)) {
    throw wrongLength(subject, length, "5 with true (chunked) or 6 with false (packed)");
  }
  if (length === 6) cursor.readUint();
}

function wrongLength(subject: Subject, length: number, expected: string) {
  return malformedObject(subject, `an entry of ${length} elements`, expected);
}

/** Where the times begin in the bytes of an absolute entry. */
function timesOffset(kind: PagedKind, entry: PageEntry): number {
  if (kind === "event-array") return 1 + ENCODED_ADDRESS;
  if (kind !== "spatial-bucket") return 1;
  return 1 + uintLength(entry.group.length) + entry.group.length;
}

/** Bytes of the times in an absolute entry. */
function absoluteTimesLength(kind: PagedKind, entry: PageEntry): number {
  const start = uintLength(entry.start);
  switch (kind) {
    case "event-array":
      return start;
    case "video-item":
      return start + uintLength(entry.end - entry.start);
    default:
      return start + uintLength(entry.end);
  }
}
