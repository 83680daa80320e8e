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
import { trackPath } from "../store/paths.ts";
import { emptyContent, inlineContent } from "./inline-content.ts";
import type { ReadObject } from "./object-reader.ts";
import type { TrackContent } from "./track-content.ts";
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

/** A loader over `read`. */
export function createTrackLoader(read: ReadObject): TrackLoader {
  const tracks = new Map<string, Promise<Track>>();
  const contents = new Map<string, Promise<TrackContent>>();

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
        return treeContent(kind, subject, track, index, read);
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
