/**
 * Writes the joined Track of a field: trunk's entries, less those that go, with those that come
 * put into their places.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { bytesKey, compareBytes, concatBytes } from "../encoding/bytes.ts";
import { CborCursor } from "../encoding/cbor-cursor.ts";
import { CborWriter } from "../encoding/cbor-writer.ts";
import { joinCoverage } from "../model/coverage.ts";
import type { Coverage } from "../model/coverage.ts";
import { compareEntries, compareEntriesFully, parseIndexEntry } from "../model/index-entry.ts";
import type { EntryKind, IndexEntry } from "../model/index-entry.ts";
import type { InlineIndex, Track } from "../model/track.ts";
import type { EntryRun } from "./inline-difference.ts";
import type { InlineContent } from "./inline-content.ts";

/** Entries to put together. */
export interface JoinInput {
  readonly trunk: InlineContent;
  /** Trunk's entries that go, by their bytes; others are not in it and are passed over. */
  readonly removed: ReadonlyMap<string, IndexEntry>;
  readonly added: readonly IndexEntry[];
}

/** The joined entries, encoded inline with absolute times. */
export interface JoinedEntries {
  readonly count: number;
  readonly bytes: Uint8Array;
  readonly coverage: Coverage;
}

/** Trunk's entries without those that go; the run itself when none goes. */
function withoutRemoved(run: EntryRun, removed: JoinInput["removed"]): EntryRun {
  const count = run.offsets.length - 1;
  if (removed.size === 0 || count === 0) return run;
  const kept: Uint8Array[] = [];
  const offsets = [0];
  for (let index = 0; index < count; index++) {
    const bytes = run.bytes.subarray(run.offsets[index], run.offsets[index + 1]);
    if (removed.has(bytesKey(bytes))) continue;
    kept.push(bytes);
    offsets.push((offsets.at(-1) ?? 0) + bytes.length);
  }
  if (kept.length === count) return run;
  return { bytes: concatBytes(kept), offsets: Uint32Array.from(offsets) };
}

/** Where the encoded start of a spatial entry ends, counted from the entry's first byte. */
function startEnd(bytes: Uint8Array): number {
  const cursor = new CborCursor(bytes);
  cursor.readArrayLength();
  cursor.skip();
  cursor.skip();
  return cursor.offset;
}

/** How many of the first entries of `run`, from `from` on, belong before `entry`. */
function placeOf(
  content: InlineContent,
  run: EntryRun,
  entry: IndexEntry,
  from: number,
): number {
  const spatial = content.kind === "spatial-bucket";
  const runBuffer = asBuffer(run.bytes);
  const key = entry.bytes;
  const keyEnd = spatial ? startEnd(key) : 0;
  // The length of a cell of up to 23 letters stands in its head, that of others behind it.
  const shortCell = (key[1] ?? 0) < 0x78;
  const before = (index: number): boolean => {
    const at = run.offsets[index] ?? 0;
    // Of two entries with cells of one length the bytes from the cell to the start's end sort as
    // (cell, start), since shortest heads sort as numbers do.
    if (
      spatial && runBuffer[at + 1] === key[1] && (shortCell || runBuffer[at + 2] === key[2])
    ) {
      return runBuffer.compare(key, 1, keyEnd, at + 1, at + keyEnd) <= 0;
    }
    return compareEntries(
      content.kind,
      parseIndexEntry(
        content.subject,
        content.kind,
        run.bytes.subarray(at, run.offsets[index + 1]),
      ),
      entry,
    ) <= 0;
  };
  const count = run.offsets.length - 1;
  let step = 1;
  let low = from;
  while (low + step <= count && before(low + step - 1)) {
    low += step;
    step *= 2;
  }
  let high = Math.min(count, low + step);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (before(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * Joins the entries. Added entries come after trunk's where cell or value and start are the same;
 * among themselves ties are broken by their bytes, so that no order of branches shows.
 */
export function joinEntries({ trunk, removed, added }: JoinInput): JoinedEntries {
  const run = withoutRemoved(trunk.run(), removed);
  const kept = run.offsets.length - 1;
  const sorted = [...added].sort((a, b) => compareEntriesFully(trunk.kind, a, b));
  const parts: Uint8Array[] = [];
  let done = 0;
  for (const entry of sorted) {
    const place = placeOf(trunk, run, entry, done);
    if (place > done) parts.push(run.bytes.subarray(run.offsets[done], run.offsets[place]));
    parts.push(entry.bytes);
    done = place;
  }
  if (done < kept) parts.push(run.bytes.subarray(run.offsets[done], run.offsets[kept]));
  const coverage = joinCoverage([
    ...(trunk.track === undefined || trunk.count === 0 ? [] : [trunk.track.coverage]),
    ...sorted,
  ]);
  return { count: kept + sorted.length, bytes: concatBytes(parts), coverage };
}

function inlineIndex(count: number, entries: Uint8Array): InlineIndex {
  return { form: "inline", count, entries };
}

/** Puts VideoItem entries back to times relative to the coverage, and makes the index by key. */
function videoIndexes(
  joined: JoinedEntries,
): { readonly index: InlineIndex; readonly itemKeyIndex: InlineIndex } {
  const byTime = new CborWriter();
  const keyed: { readonly key: Uint8Array; readonly bytes: Uint8Array }[] = [];
  const cursor = new CborCursor(joined.bytes);
  while (!cursor.done) {
    cursor.readArrayLength();
    const start = cursor.readUint() - joined.coverage.start;
    const restAt = cursor.offset;
    const duration = cursor.readUint();
    const key = cursor.readBytes();
    const addressAt = cursor.offset;
    cursor.skip();
    byTime.arrayHead(4);
    byTime.uint(start);
    byTime.raw(joined.bytes.subarray(restAt, cursor.offset));
    const entry = new CborWriter();
    entry.arrayHead(4);
    entry.bytes(key);
    entry.uint(start);
    entry.uint(duration);
    entry.raw(joined.bytes.subarray(addressAt, cursor.offset));
    keyed.push({ key, bytes: entry.finish() });
  }
  // By the keys themselves: their CBOR would put every shorter key first.
  keyed.sort((a, b) => compareBytes(a.key, b.key));
  return {
    index: inlineIndex(joined.count, byTime.finish()),
    itemKeyIndex: inlineIndex(joined.count, concatBytes(keyed.map(({ bytes }) => bytes))),
  };
}

/**
 * The inline Track that holds `joined`.
 *
 * @param like a version of the Track, for what the entries do not say
 */
export function inlineTrack(like: Track, kind: EntryKind, joined: JoinedEntries): Track {
  if (kind === "video-item") return { ...like, coverage: joined.coverage, ...videoIndexes(joined) };
  return { ...like, coverage: joined.coverage, index: inlineIndex(joined.count, joined.bytes) };
}
