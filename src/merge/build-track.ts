/**
 * Builds the Track of a joined field in the form it needs: inline, or a tree of pages.
 *
 * One rule for all trees, whatever order the branches came in: a tree is built as a whole while it
 * is small or much of it is new, which gives the bytes the reference would write; a large tree of
 * which little changes is copied page by page where it changes.
 *
 * @module
 */

import { CborWriter } from "../encoding/cbor-writer.ts";
import { joinCoverage } from "../model/coverage.ts";
import { parseIndexEntry } from "../model/index-entry.ts";
import type { EntryKind, IndexEntry } from "../model/index-entry.ts";
import type { PageEntry } from "../model/page-entry.ts";
import type { Track } from "../model/track.ts";
import { isInline } from "./inline-content.ts";
import { inlineTrack, joinEntries } from "./join-track.ts";
import type { PageWriter } from "./page-writer.ts";
import type { TrackJoin } from "./field-plan.ts";
import { isTree, treeFormat } from "./tree-content.ts";
import type { TreeContent } from "./tree-content.ts";
import { applyChanges } from "./tree/apply.ts";
import { buildTree } from "./tree/build.ts";
import { btreeIndex, pagedIndex } from "./tree/descriptor.ts";
import { mergeRuns } from "./tree/merge-runs.ts";
import { sortedEntries } from "./tree/tree-format.ts";
import type { Tree, TreeFormat } from "./tree/tree-format.ts";
import { walkLeaves } from "./tree/walk.ts";

/** The most bytes of an inline index array before it becomes a tree (PAGED 2). */
const MAX_INLINE_BYTES = 1_048_576;
/** B-trees of up to so many entries are always built as a whole: the reference does the same. */
const SMALL_BTREE_ENTRIES = 131_072;
/** Index trees of up to so many pages are built as a whole. */
const SMALL_TREE_PAGES = 16;
/** When a tree gains more than this part of its entries it is built as a whole. */
const LARGE_CHANGE = 0.5;

/** A joined Track; its pages are written by the time it is there. */
export interface BuiltTrack {
  readonly track: Track;
  readonly count: number;
}

/**
 * Builds the Track of `join`.
 *
 * @param like a version of the Track, for what entries do not say
 * @param fused the entries of buckets that were fused for it
 */
export async function buildTrack(
  join: TrackJoin,
  like: Track,
  fused: readonly IndexEntry[],
  pages: PageWriter,
): Promise<BuiltTrack> {
  const added = [...join.added, ...fused];
  const format = join.inlineOnly ? undefined : treeFormat(join.kind, like.modality);
  if (isInline(join.trunk) && !join.tree) {
    const joined = joinEntries({ trunk: join.trunk, removed: join.removed, added });
    const paged = join.kind !== "scalar-btree" && join.kind !== "video-item" &&
      inlineLength(joined.count, joined.bytes.length) > MAX_INLINE_BYTES;
    if (format === undefined || !paged) {
      return { track: inlineTrack(like, join.kind, joined), count: joined.count };
    }
  }
  if (format === undefined) throw new Error("unreachable: a tree of a kind that has none");
  const coverage = joinCoverage([
    ...(join.trunk.track === undefined || join.trunk.count === 0
      ? []
      : [join.trunk.track.coverage]),
    ...added,
  ]);
  const tree = await joinTree(join, format, added, pages);
  await pages.finish();
  const index = join.kind === "scalar-btree" ? btreeIndex(tree) : pagedIndex(tree);
  return { track: { ...like, coverage, index }, count: tree.entryCount };
}

function inlineLength(count: number, entries: number): number {
  const head = new CborWriter();
  head.arrayHead(count);
  return head.length + entries;
}

/** Whether a tree is built as a whole. */
function builtWhole(kind: EntryKind, trunk: TreeContent, changes: number): boolean {
  const { entryCount, pageCount } = trunk.tree;
  const small = kind === "scalar-btree"
    ? entryCount <= SMALL_BTREE_ENTRIES
    : pageCount <= SMALL_TREE_PAGES;
  return small || changes > entryCount * LARGE_CHANGE;
}

async function joinTree(
  join: TrackJoin,
  format: TreeFormat<PageEntry>,
  added: readonly IndexEntry[],
  pages: PageWriter,
): Promise<Tree> {
  const { trunk, removed } = join;
  let tree: Tree | undefined | "old-form" = "old-form";
  if (isTree(trunk) && !builtWhole(join.kind, trunk, added.length + removed.size)) {
    tree = await applyChanges(
      format,
      trunk.tree,
      { added, removed: removed.values() },
      trunk.load,
      pages.sink,
    );
  }
  if (tree === "old-form") {
    const changes = { added, removed: removed.values() };
    tree = await buildTree(format, mergeRuns(format, leavesOf(join, format), changes), pages.sink);
  }
  if (tree === undefined) throw new Error("unreachable: a merge leaves at least trunk's entries");
  return tree;
}

async function* leavesOf(
  join: TrackJoin,
  format: TreeFormat<PageEntry>,
): AsyncGenerator<readonly PageEntry[]> {
  const { trunk } = join;
  if (isTree(trunk)) {
    yield* walkLeaves(format, trunk.tree, trunk.load);
    return;
  }
  const entries: IndexEntry[] = [];
  for await (const bytes of trunk.entries()) {
    entries.push(parseIndexEntry({ kind: "track" }, trunk.kind, bytes));
  }
  yield sortedEntries(format, entries);
}
