/**
 * A version of a Track whose entries stand in the Track itself.
 *
 * @module
 */

import { CborCursor } from "../encoding/cbor-cursor.ts";
import { CborWriter } from "../encoding/cbor-writer.ts";
import { parseIndexEntry, readEntryExtent, readIndexEntries } from "../model/index-entry.ts";
import type { EntryKind } from "../model/index-entry.ts";
import type { Subject } from "../model/malformed.ts";
import type { Track } from "../model/track.ts";
import { indexEntryRun, inlineDifference } from "./inline-difference.ts";
import type { EntryDifference, EntryRun } from "./inline-difference.ts";
import { meetsAny } from "./overlap.ts";
import type { TrackContent, TrackDifference } from "./track-content.ts";

/** Inline entries beside what every content offers. */
export interface InlineContent extends TrackContent {
  readonly form: "inline";
  readonly subject: Subject;
  /** The encoded entries, absolute times. */
  readonly bytes: Uint8Array;
  /** The same with their offsets. */
  run(): EntryRun;
}

/** Whether a content's entries stand inline. */
export function isInline(content: TrackContent): content is InlineContent {
  return (content as Partial<InlineContent>).form === "inline";
}

/** VideoItem entries count from the coverage's start; absolute times make versions comparable. */
function absoluteVideoEntries(subject: Subject, entries: Uint8Array, start: bigint): Uint8Array {
  const writer = new CborWriter();
  const cursor = new CborCursor(entries);
  for (const entry of readIndexEntries(subject, "video-item", entries, start)) {
    const at = entry.bytes.byteOffset - entries.byteOffset;
    cursor.offset = at;
    cursor.readArrayLength();
    cursor.readUint();
    writer.arrayHead(4);
    writer.uint(entry.start);
    writer.raw(entries.subarray(cursor.offset, at + entry.bytes.length));
  }
  return writer.finish();
}

function slices(run: EntryRun): Uint8Array[] {
  return Array.from(
    { length: run.offsets.length - 1 },
    (_, index) => run.bytes.subarray(run.offsets[index], run.offsets[index + 1]),
  );
}

/** Parses the entries of a difference. */
function parseDifference(
  kind: EntryKind,
  subjects: { readonly base: Subject; readonly side: Subject },
  { added, removed }: EntryDifference,
): TrackDifference {
  return {
    added: added.map((bytes) => parseIndexEntry(subjects.side, kind, bytes)),
    removed: removed.map((bytes) => parseIndexEntry(subjects.base, kind, bytes)),
  };
}

/**
 * The content of encoded entries.
 *
 * @param track the Track they are of; undefined for a field that did not exist yet
 */
export function inlineContent(
  kind: EntryKind,
  subject: Subject,
  track: Track | undefined,
  count: number,
  entries: Uint8Array,
): InlineContent {
  const bytes = kind === "video-item" && track !== undefined
    ? absoluteVideoEntries(subject, entries, track.coverage.start)
    : entries;
  let indexed: EntryRun | undefined;
  const run = (): EntryRun => indexed ??= indexEntryRun(bytes, count);
  const content: InlineContent = {
    form: "inline",
    subject,
    track,
    kind,
    count,
    bytes,
    run,
    async difference(side) {
      if (side === content) return { added: [], removed: [] };
      if (!isInline(side)) {
        // The other way round: what this has and the tree lacks was removed.
        const { added, removed } = await side.difference(content);
        return { added: removed, removed: added };
      }
      const subjects = { base: subject, side: side.subject };
      if (count === 0) {
        return parseDifference(kind, subjects, { added: slices(side.run()), removed: [] });
      }
      return parseDifference(kind, subjects, inlineDifference(run(), side.bytes, side.count));
    },
    meeting(intervals) {
      const cursor = new CborCursor(bytes);
      const met = [];
      while (!cursor.done) {
        const at = cursor.offset;
        const { start, end } = readEntryExtent(subject, kind, cursor);
        if (meetsAny(intervals, start, end)) {
          met.push(parseIndexEntry(subject, kind, bytes.subarray(at, cursor.offset)));
        }
      }
      return Promise.resolve(met);
    },
    entries: () => slices(run()),
  };
  return content;
}

/** The content of a field that a side does not have, or that holds nothing yet. */
export function emptyContent(kind: EntryKind, track?: Track): InlineContent {
  return inlineContent(kind, { kind: "track" }, track, 0, new Uint8Array(0));
}
