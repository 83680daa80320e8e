/**
 * One binding with its Track: they must agree, the index must be sound, and every entry must lie in
 * the coverage (FORMAT 5).
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import { ADDRESS_BYTES, addressFromBytes } from "../encoding/address.ts";
import { bytesKey } from "../encoding/bytes.ts";
import { CborCursor } from "../encoding/cbor-cursor.ts";
import type { Binding } from "../model/binding.ts";
import type { EntryKind, IndexEntry } from "../model/index-entry.ts";
import { parseIndexEntry, readIndexEntries } from "../model/index-entry.ts";
import type { PageEntry } from "../model/page-entry.ts";
import { decodeTrack, encodeTrack } from "../model/track.ts";
import type { InlineIndex, Track } from "../model/track.ts";
import { mapConcurrent } from "../store/limit.ts";
import { graphPagePath, initSegmentPath, trackPath } from "../store/paths.ts";
import { checkEntry } from "./check-payload.ts";
import { checkHotShard } from "./check-registry.ts";
import { checkBtreeIndex, checkKeyIndex, checkPagedIndex } from "./check-tree.ts";
import type { Field } from "./field.ts";
import type { Place, Verification } from "./verification.ts";

/** Checks a binding, its Track and everything below. */
export async function checkBinding(
  run: Verification,
  field: Field,
  binding: Binding,
): Promise<void> {
  const { address } = binding;
  const place: Place = {
    path: trackPath(binding.timeline, binding.modality, address),
    address,
    kind: "Track",
    field: field.name,
  };
  const track = await run.structural(place, decodeTrack, encodeTrack);
  if (track === undefined) return;
  if (track.modality !== binding.modality || track.timeline !== binding.timeline) {
    run.report(
      "disagreement",
      place,
      `a Track of ${track.modality}, bound as ${binding.modality}, or of another timeline`,
    );
    return;
  }
  const { start, end } = binding.coverage;
  if (track.coverage.start !== start || track.coverage.end !== end) {
    run.report(
      "disagreement",
      place,
      `the Track covers [${track.coverage.start}, ${track.coverage.end}], its binding says ` +
        `[${start}, ${end}]`,
    );
  }
  const known = { ...field, segmented: track.initSegment !== undefined };
  await run.once(`track ${place.path} ${field.name}`, () => checkIndex(run, place, known, track));
}

async function checkIndex(
  run: Verification,
  place: Place,
  field: Field,
  track: Track,
): Promise<void> {
  if (track.initSegment !== undefined) await checkInitSegment(run, field, track.initSegment);
  const { index, itemKeyIndex } = track;
  // Which Items a tree of keys holds is not compared: leaves that Tracks share are read once.
  const keys = itemKeyIndex?.form === "inline" && index.form === "inline"
    ? new Set<string>()
    : undefined;
  const onLeaf = async (entries: readonly PageEntry[]): Promise<void> => {
    await checkEntries(run, place, field, parseEntries(field.kind as EntryKind, entries));
  };
  switch (index.form) {
    case "inline":
      if (field.kind === "unknown") return;
      if (field.kind === "graph-page") return await checkGraphPages(run, place, field, index);
      await checkInline(run, place, { ...field, kind: field.kind }, track, index, keys);
      break;
    case "paged": {
      const summary = await checkPagedIndex(run, place, field, index, onLeaf);
      if (summary?.start !== undefined && summary.end !== undefined) {
        checkCovered(run, place, track, summary.start, summary.end);
      }
      break;
    }
    case "scalar-btree-v1":
      await checkBtreeIndex(run, place, field, index, async (entries) => {
        for (const { start, end } of entries) checkCovered(run, place, track, start, end);
        await onLeaf(entries);
      });
      break;
    case "hot-overlay-v1": {
      await checkHotShard(run, field.timeline, field.modality, index.hotShard);
      await checkBaseTrack(run, field, index.baseTrack);
      break;
    }
  }
  if (itemKeyIndex?.form === "paged") {
    await checkKeyIndex(run, place, field, itemKeyIndex, async () => {});
  } else if (keys !== undefined && itemKeyIndex?.form === "inline") {
    checkItemKeys(run, place, track, itemKeyIndex, keys);
  }
}

function* parseEntries(kind: EntryKind, entries: readonly PageEntry[]): Generator<IndexEntry> {
  for (const { bytes } of entries) yield parseIndexEntry({ kind: "index page" }, kind, bytes);
}

async function checkInline(
  run: Verification,
  place: Place,
  field: Field & { readonly kind: EntryKind },
  track: Track,
  index: InlineIndex,
  keys: Set<string> | undefined,
): Promise<void> {
  const relativeTo = field.kind === "video-item" ? track.coverage.start : 0n;
  function* entries(): Generator<IndexEntry> {
    for (const entry of readIndexEntries(place, field.kind, index.entries, relativeTo)) {
      checkCovered(run, place, track, entry.start, entry.end);
      keys?.add(itemKeyOf(entry));
      yield entry;
    }
  }
  await checkEntries(run, place, field, entries());
}

async function checkEntries(
  run: Verification,
  place: Place,
  field: Field,
  entries: Iterable<IndexEntry>,
): Promise<void> {
  try {
    await mapConcurrent(
      entries,
      run.scope.concurrency,
      (entry) => checkEntry(run, field, entry),
      run.scope.signal,
    );
  } catch (error) {
    run.reportMalformed(place, error);
  }
}

function checkCovered(
  run: Verification,
  place: Place,
  track: Track,
  start: bigint,
  end: bigint,
): void {
  if (start >= track.coverage.start && end <= track.coverage.end) return;
  run.report(
    "index",
    place,
    `an entry from ${start} to ${end} outside of the coverage [${track.coverage.start}, ` +
      `${track.coverage.end}]`,
  );
}

/** A HotShard lies over another Track of the same field (FORMAT 5.2). */
async function checkBaseTrack(run: Verification, field: Field, address: Address): Promise<void> {
  const path = trackPath(field.timeline, field.modality, address);
  const place: Place = { path, address, kind: "Track", field: field.name };
  const track = await run.structural(place, decodeTrack, encodeTrack);
  if (track === undefined || track.index.form === "hot-overlay-v1") return;
  await run.once(`track ${path} ${field.name}`, () => checkIndex(run, place, field, track));
}

async function checkInitSegment(
  run: Verification,
  field: Field,
  encoded: Uint8Array,
): Promise<void> {
  const cursor = new CborCursor(encoded);
  if (cursor.peekMajor() !== 2) return;
  const bytes = cursor.readBytes();
  if (bytes.length !== ADDRESS_BYTES) return;
  const address = addressFromBytes(bytes);
  const path = initSegmentPath(field.timeline, field.modality, address);
  const place: Place = { path, address, kind: "init segment", field: field.name };
  if (run.wants(place)) await run.once(`payload ${path}`, () => run.bytesAt(place));
}

/** Entries of a graph Track are arrays of one address. */
async function checkGraphPages(
  run: Verification,
  track: Place,
  field: Field,
  index: InlineIndex,
): Promise<void> {
  const addresses = run.guard(track, () => {
    const cursor = new CborCursor(index.entries);
    const found: Address[] = [];
    while (!cursor.done) {
      cursor.readArrayLength();
      found.push(addressFromBytes(cursor.readBytes()));
    }
    return found;
  });
  for (const address of addresses ?? []) {
    const path = graphPagePath(field.timeline, field.modality, address);
    const place: Place = { path, address, kind: "graph page", field: field.name };
    if (run.wants(place)) await run.once(`payload ${path}`, () => run.bytesAt(place));
  }
}

/** `entry` as the key index has it; its group is the key as encoded. */
function itemKeyOf(entry: PageEntry): string {
  const tail = entry.bytes.subarray(entry.bytes.length - ADDRESS_BYTES);
  return `${bytesKey(entry.group)} ${entry.start} ${entry.end - entry.start} ${bytesKey(tail)}`;
}

/** The two indexes of a VideoItem Track must hold the same Items. */
function checkItemKeys(
  run: Verification,
  place: Place,
  track: Track,
  index: InlineIndex,
  items: ReadonlySet<string>,
): void {
  const found = run.guard(place, () => {
    const keys = new Set<string>();
    const cursor = new CborCursor(index.entries);
    while (!cursor.done) {
      cursor.readArrayLength();
      const at = cursor.offset;
      cursor.skip();
      const key = bytesKey(cursor.bytes.subarray(at, cursor.offset));
      const start = cursor.readUint() + track.coverage.start;
      keys.add(`${key} ${start} ${cursor.readUint()} ${bytesKey(cursor.readBytes())}`);
    }
    return keys;
  });
  if (found === undefined) return;
  const missing = [...items].filter((item) => !found.has(item)).length;
  const extra = [...found].filter((item) => !items.has(item)).length;
  if (missing + extra === 0) return;
  run.report(
    "index",
    place,
    `the key index lacks ${missing} Items of the index and has ${extra} that are not there`,
  );
}
