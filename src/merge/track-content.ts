/**
 * The entries of one version of a Track, ready to be compared with those of other versions.
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import { DreamDBError } from "../errors.ts";
import { CborCursor } from "../encoding/cbor-cursor.ts";
import { CborWriter } from "../encoding/cbor-writer.ts";
import type { Binding } from "../model/binding.ts";
import { parseIndexEntry, readIndexEntries } from "../model/index-entry.ts";
import type { EntryKind, IndexEntry } from "../model/index-entry.ts";
import { malformedObject } from "../model/malformed.ts";
import type { Subject } from "../model/malformed.ts";
import { decodeTrack } from "../model/track.ts";
import type { Track } from "../model/track.ts";
import { trackPath } from "../store/paths.ts";
import { cancel, indexEntryRun, inlineDifference } from "./inline-difference.ts";
import type { EntryRun } from "./inline-difference.ts";
import type { ReadObject } from "./object-reader.ts";

/** Entries only on one side. */
export interface TrackDifference {
  readonly added: readonly IndexEntry[];
  readonly removed: readonly IndexEntry[];
}

/** One version of a Track. */
export interface TrackContent {
  readonly address: Address | undefined;
  /** Undefined for a field that did not exist yet. */
  readonly track: Track | undefined;
  readonly kind: EntryKind;
  readonly subject: Subject;
  readonly count: number;
  /** All entries, encoded inline with absolute times. */
  readonly run: () => EntryRun;
  /** The encoded entries without their offsets. */
  readonly bytes: Uint8Array;
}

/** The content of a field that a side does not have: no entries. */
export function emptyContent(kind: EntryKind): TrackContent {
  const bytes = new Uint8Array(0);
  return {
    address: undefined,
    track: undefined,
    kind,
    subject: { kind: "track" },
    count: 0,
    bytes,
    run: () => indexEntryRun(bytes, 0),
  };
}

/** Loads the Tracks of one run, each once. */
export interface TrackLoader {
  /** The Track that a binding names; checked to be of the binding's modality and coverage. */
  load(binding: Binding): Promise<Track>;
  /** The same with its entries. */
  content(binding: Binding | undefined, kind: EntryKind): Promise<TrackContent>;
}

function checkAgreement(subject: Subject, binding: Binding, track: Track): void {
  if (track.modality !== binding.modality || track.timeline !== binding.timeline) {
    throw malformedObject(
      subject,
      `a Track of ${track.modality}`,
      `${binding.modality} and the binding's timeline`,
    );
  }
  const { start, end } = binding.coverage;
  if (track.coverage.start !== start || track.coverage.end !== end) {
    throw malformedObject(
      subject,
      `coverage [${track.coverage.start}, ${track.coverage.end}]`,
      `the binding's [${start}, ${end}]`,
    );
  }
}

/** VideoItem entries count from the coverage's start; absolute times make versions comparable. */
function absoluteVideoEntries(subject: Subject, entries: Uint8Array, start: bigint): Uint8Array {
  const writer = new CborWriter();
  const cursor = new CborCursor(entries);
  for (const entry of readIndexEntries(subject, "video-item", entries, start)) {
    cursor.offset = entry.bytes.byteOffset - entries.byteOffset;
    cursor.readArrayLength();
    cursor.readUint();
    writer.arrayHead(4);
    writer.uint(entry.start);
    writer.raw(
      entries.subarray(
        cursor.offset,
        entry.bytes.byteOffset - entries.byteOffset + entry.bytes.length,
      ),
    );
  }
  return writer.finish();
}

/** A loader over `read`. */
export function createTrackLoader(read: ReadObject): TrackLoader {
  const tracks = new Map<string, Promise<Track>>();
  const contents = new Map<string, Promise<TrackContent>>();

  const load = async (binding: Binding): Promise<Track> => {
    const path = trackPath(binding.timeline, binding.modality, binding.address);
    let loading = tracks.get(path);
    if (loading === undefined) {
      loading = read(path, binding.address).then((bytes) => decodeTrack(bytes, path));
      tracks.set(path, loading);
    }
    const track = await loading;
    checkAgreement({ kind: "track", path }, binding, track);
    return track;
  };

  const open = async (binding: Binding, kind: EntryKind): Promise<TrackContent> => {
    const track = await load(binding);
    const path = trackPath(binding.timeline, binding.modality, binding.address);
    const subject = { kind: "track", path };
    if (track.index.form !== "inline") {
      throw new DreamDBError({
        code: "internal",
        found: `a ${track.index.form} index where an inline one was asked for`,
        expected: "an inline index",
        next: "Report this as a bug.",
      });
    }
    const { count } = track.index;
    const bytes = kind === "video-item"
      ? absoluteVideoEntries(subject, track.index.entries, track.coverage.start)
      : track.index.entries;
    let run: EntryRun | undefined;
    return {
      address: binding.address,
      track,
      kind,
      subject,
      count,
      bytes,
      run: () => run ??= indexEntryRun(bytes, count),
    };
  };

  return {
    load,
    content(binding, kind) {
      if (binding === undefined) return Promise.resolve(emptyContent(kind));
      const key = trackPath(binding.timeline, binding.modality, binding.address);
      let opening = contents.get(key);
      if (opening === undefined) {
        opening = open(binding, kind);
        contents.set(key, opening);
      }
      return opening;
    },
  };
}

/** What `side` has and `base` lacks, and the other way round. */
export function contentDifference(base: TrackContent, side: TrackContent): TrackDifference {
  if (base.address !== undefined && base.address === side.address) {
    return { added: [], removed: [] };
  }
  const { added, removed } = base.count === 0
    ? { added: slices(side.run()), removed: [] }
    : side.count === 0
    ? { added: [], removed: slices(base.run()) }
    : inlineDifference(base.run(), side.bytes);
  const difference = cancel(added, removed);
  return {
    added: difference.added.map((bytes) => parseIndexEntry(side.subject, side.kind, bytes)),
    removed: difference.removed.map((bytes) => parseIndexEntry(base.subject, base.kind, bytes)),
  };
}

function slices(run: EntryRun): Uint8Array[] {
  return Array.from(
    { length: run.offsets.length - 1 },
    (_, index) => run.bytes.subarray(run.offsets[index], run.offsets[index + 1]),
  );
}
