/**
 * Loads the Tracks of one run, each once.
 *
 * @module
 */

import type { Binding } from "../model/binding.ts";
import type { EntryKind } from "../model/index-entry.ts";
import { malformedObject } from "../model/malformed.ts";
import type { Subject } from "../model/malformed.ts";
import { decodeTrack } from "../model/track.ts";
import type { Track } from "../model/track.ts";
import { Semaphore } from "../store/limit.ts";
import { trackPath } from "../store/paths.ts";
import { emptyContent, inlineContent } from "./inline-content.ts";
import type { ReadObject } from "./object-reader.ts";
import type { TrackContent } from "./track-content.ts";
import { GarbageCounter } from "./tree/garbage.ts";
import { treeContent } from "./tree-content.ts";

/** Loads Tracks and their entries. */
export interface TrackLoader {
  /** The Track that a binding names; checked to be of the binding's modality and coverage. */
  load(binding: Binding): Promise<Track>;
  /** The same with its entries; no entries where there is no binding. */
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

/** Bytes of pages read after which garbage is collected. */
const COLLECT_EVERY = 16 * 1024 * 1024;
/** Trees compared at once: each holds some leaves read ahead, and that bounds the memory for them. */
const COMPARED_TREES = 4;

/** A loader over `read`. */
export function createTrackLoader(read: ReadObject): TrackLoader {
  const tracks = new Map<string, Promise<Track>>();
  const contents = new Map<string, Promise<TrackContent>>();
  const comparisons = new Semaphore(COMPARED_TREES);
  const garbage = new GarbageCounter(COLLECT_EVERY);
  const readPage: ReadObject = async (path, address) => {
    const bytes = await read(path, address);
    garbage.add(bytes.length);
    return bytes;
  };

  const load = async (binding: Binding): Promise<Track> => {
    const path = trackPath(binding.timeline, binding.modality, binding.address);
    let loading = tracks.get(path);
    if (loading === undefined) {
      loading = read(path, binding.address).then((bytes) =>
        decodeTrack(bytes, path, { deferEntries: true })
      );
      tracks.set(path, loading);
    }
    const track = await loading;
    checkAgreement({ kind: "track", path }, binding, track);
    return track;
  };

  const open = async (binding: Binding, kind: EntryKind, path: string): Promise<TrackContent> => {
    const track = await load(binding);
    const { index } = track;
    const subject = { kind: "track", path };
    switch (index.form) {
      case "inline":
        return inlineContent(kind, subject, track, index.count, index.entries);
      case "hot-overlay-v1":
        throw malformedObject(subject, "an index under a HotShard", "an index of its own");
      default:
        return treeContent(kind, subject, track, index, readPage, comparisons);
    }
  };

  return {
    load,
    content(binding, kind) {
      if (binding === undefined) return Promise.resolve(emptyContent(kind));
      const path = trackPath(binding.timeline, binding.modality, binding.address);
      let opening = contents.get(path);
      if (opening === undefined) {
        opening = open(binding, kind, path);
        contents.set(path, opening);
      }
      return opening;
    },
  };
}
