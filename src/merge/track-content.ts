/**
 * The entries of one version of a Track, ready to be compared with those of other versions,
 * whether they stand inline or in a tree of pages.
 *
 * @module
 */

import type { EntryKind, IndexEntry } from "../model/index-entry.ts";
import type { Track } from "../model/track.ts";

/** Entries only on one side. */
export interface TrackDifference {
  readonly added: readonly IndexEntry[];
  readonly removed: readonly IndexEntry[];
}

/** A half-open interval of time, in nanoseconds. */
export interface Interval {
  readonly start: bigint;
  readonly end: bigint;
}

/** One version of a Track. */
export interface TrackContent {
  /** Undefined for a field that did not exist yet. */
  readonly track: Track | undefined;
  readonly kind: EntryKind;
  readonly count: number;
  /** What `side` has and this lacks, and the other way round. */
  difference(side: TrackContent): Promise<TrackDifference>;
  /** The entries that meet one of the sorted, disjoint `intervals`. */
  meeting(intervals: readonly Interval[]): Promise<readonly IndexEntry[]>;
  /** All encoded entries in order, with absolute times. */
  entries(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}
