/**
 * Builds the Track of a joined field in the form it needs: inline, or a tree of pages.
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import { addressOf } from "../encoding/address.ts";
import { bytesKey, concatBytes } from "../encoding/bytes.ts";
import {
  BTREE_LIMITS,
  btreeChildLength,
  btreeChildOf,
  btreeEntry,
  compareBtreeEntries,
  encodeBtreePage,
} from "../model/btree-page.ts";
import type { BtreeChild, BtreePage } from "../model/btree-page.ts";
import { joinCoverage } from "../model/coverage.ts";
import { compareEntriesFully, parseIndexEntry } from "../model/index-entry.ts";
import type { IndexEntry } from "../model/index-entry.ts";
import type { Track } from "../model/track.ts";
import { indexPagePath } from "../store/paths.ts";
import { inlineContent, isInline } from "./inline-content.ts";
import { inlineTrack, joinEntries } from "./join-track.ts";
import type { TrackJoin } from "./plan-field.ts";
import type { JoinedTrack } from "./track-content.ts";
import { btreeAlgorithm } from "./tree-content.ts";

/** Builds the Track of `join` with the entries of fused buckets put in. */
export async function buildTrack(
  join: TrackJoin,
  like: Track,
  fused: readonly IndexEntry[],
): Promise<JoinedTrack> {
  const added = [...join.added, ...fused];
  if (!join.tree && isInline(join.trunk)) {
    const joined = joinEntries({ trunk: join.trunk, removed: join.removed, added });
    return { track: inlineTrack(like, join.kind, joined), count: joined.count, pages: [] };
  }
  const entries: IndexEntry[] = [...added];
  for await (const bytes of join.trunk.entries()) {
    if (join.removed.has(bytesKey(bytes))) continue;
    entries.push(parseIndexEntry({ kind: "track" }, join.kind, bytes));
  }
  const coverage = joinCoverage(entries);
  if (join.kind !== "scalar-btree") {
    entries.sort((a, b) => compareEntriesFully(join.kind, a, b));
    const bytes = concatBytes(entries.map((entry) => entry.bytes));
    const content = inlineContent(join.kind, { kind: "track" }, undefined, entries.length, bytes);
    const joined = { count: content.count, bytes, coverage };
    return { track: inlineTrack(like, join.kind, joined), count: entries.length, pages: [] };
  }
  return btree(like, entries, coverage);
}

function btree(
  like: Track,
  entries: readonly IndexEntry[],
  coverage: Track["coverage"],
): JoinedTrack {
  const algorithm = btreeAlgorithm(like.modality);
  const pages: { path: string; bytes: Uint8Array }[] = [];
  const emit = (page: BtreePage): BtreeChild => {
    const bytes = encodeBtreePage(page, algorithm);
    const address = addressOf(bytes);
    pages.push({ path: indexPagePath(like.timeline, like.modality, address), bytes });
    return btreeChildOf(page, address);
  };
  const sorted = entries.map((entry) => btreeEntry(algorithm, entry)).sort(compareBtreeEntries);
  const head = (count: number): number =>
    1 + 5 + 5 + 6 + 1 + 8 + (count < 24 ? 1 : count < 256 ? 2 : 3) + 10 + 1 + algorithm.length;
  const pack = <T>(items: readonly T[], size: (item: T) => number, most: number): T[][] => {
    const out: T[][] = [];
    let current: T[] = [];
    let length = 0;
    for (const item of items) {
      const next = length + size(item);
      if (
        current.length > 0 &&
        (current.length >= most || next + head(current.length + 1) > BTREE_LIMITS.pageBytes)
      ) {
        out.push(current);
        current = [];
        length = 0;
      }
      current.push(item);
      length += size(item);
    }
    out.push(current);
    return out;
  };
  let level = pack(sorted, (entry) => entry.bytes.length, BTREE_LIMITS.leafFanout)
    .map((part) => emit({ type: "leaf", entries: part }));
  let height = 1;
  while (level.length > 1) {
    level = pack(level, btreeChildLength, BTREE_LIMITS.internalFanout)
      .map((children) => emit({ type: "internal", level: height, children }));
    height++;
  }
  const root = level[0]?.page as Address;
  return {
    track: {
      ...like,
      coverage,
      index: {
        form: "scalar-btree-v1",
        root,
        pageCount: pages.length,
        treeHeight: height,
        totalEntries: entries.length,
      },
    },
    count: entries.length,
    pages,
  };
}
