/**
 * Builds the Track of a joined field in the form it needs: inline, or a tree of pages.
 *
 * @module
 */

import type { Binding } from "../model/binding.ts";
import type { IndexEntry } from "../model/index-entry.ts";
import { decodeTrack } from "../model/track.ts";
import type { Track } from "../model/track.ts";
import type { Connector } from "../store/connector.ts";
import { trackPath } from "../store/paths.ts";
import { inlineTrack, joinEntries } from "./join-track.ts";
import type { ReadObject } from "./object-reader.ts";
import type { TrackJoin } from "./plan-field.ts";

/** What building needs. */
export interface BuildContext {
  readonly read: ReadObject;
  /** A binding of a version of the Track. */
  readonly like: Binding;
  readonly connector: Connector;
  readonly concurrency: number;
  readonly signal?: AbortSignal | undefined;
}

/** A Track ready to be written; its pages already are. */
export interface BuiltTrack {
  readonly track: Track;
  readonly count: number;
}

/** Builds the Track of `join` with the entries of fused buckets put in. */
export async function buildTrack(
  join: TrackJoin,
  fused: readonly IndexEntry[],
  context: BuildContext,
): Promise<BuiltTrack> {
  const { like } = context;
  const joined = joinEntries({
    trunk: join.trunk,
    removed: join.removed,
    added: [...join.added, ...fused],
  });
  const path = trackPath(like.timeline, like.modality, like.address);
  const version = join.trunk.track ?? decodeTrack(await context.read(path, like.address), path);
  return { track: inlineTrack(version, join.kind, joined), count: joined.count };
}
