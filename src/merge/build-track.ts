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
import type { IndexEntry } from "../model/index-entry.ts";
import type { PageEntry } from "../model/page-entry.ts";
import type { Track } from "../model/track.ts";
import { isInline } from "./inline-content.ts";
import { byKey } from "./item-keys.ts";
import { inlineTrack, joinEntries } from "./join-track.ts";
import type { PageWriter } from "./page-writer.ts";
import type { TrackJoin } from "./field-plan.ts";
import { isTree, treeFormat } from "./tree-content.ts";
import type { TrackContent } from "./track-content.ts";
import { applyChanges } from "./tree/apply.ts";
import type { TreeChanges } from "./tree/apply.ts";
import { buildTree } from "./tree/build.ts";
import type { EntryRuns } from "./tree/build.ts";
import { btreeIndex, pagedIndex } from "./tree/descriptor.ts";
import { mergeRuns } from "./tree/merge-runs.ts";
import { sortedEntries } from "./tree/tree-format.ts";
import type { PageLoader, PageSink, Tree, TreeFormat } from "./tree/tree-format.ts";
import { videoKeyFormat } from "./tree/video-key-format.ts";
import { walkLeaves } from "./tree/walk.ts";

/** The most bytes of an inline index array before it becomes a tree (PAGED 2). */
const MAX_INLINE_BYTES = 1_048_576;
/** B-trees of up to so many entries are always built as a whole: the reference does the same. */
const SMALL_BTREE_ENTRIES = 262_144;
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
  const format = join.inlineOnly ? undefined : formatOf(join, like);
  if (isInline(join.trunk) && !join.tree) {
    const joined = joinEntries({ trunk: join.trunk, removed: join.removed, added });
    const paged = join.kind !== "scalar-btree" &&
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
  const changes: TreeChanges = { added, removed: [...join.removed.values()] };
  const tree = await joinTree(join.trunk, format, changes, pages.sink);
  const index = join.kind === "scalar-btree" ? btreeIndex(tree) : pagedIndex(tree);
  const itemKeyIndex = join.kind === "video-item"
    ? pagedIndex(await joinKeyTree(join.trunk, changes, pages.keySink))
    : undefined;
  await pages.finish();
  return { track: { ...like, coverage, index, itemKeyIndex }, count: tree.entryCount };
}

/** The format of trunk's tree, which knows pages of it, or a new one. */
function formatOf({ trunk, kind }: TrackJoin, like: Track): TreeFormat<PageEntry> | undefined {
  return isTree(trunk) ? trunk.format : treeFormat(kind, like.modality);
}

function inlineLength(count: number, entries: number): number {
  const head = new CborWriter();
  head.arrayHead(count);
  return head.length + entries;
}

/** Whether a tree is built as a whole. */
function builtWhole(canonical: boolean, { entryCount, pageCount }: Tree, changes: number): boolean {
  const small = canonical ? entryCount <= SMALL_BTREE_ENTRIES : pageCount <= SMALL_TREE_PAGES;
  return small || changes > entryCount * LARGE_CHANGE;
}

async function joinTree(
  trunk: TrackContent,
  format: TreeFormat<PageEntry>,
  changes: TreeChanges,
  sink: PageSink,
): Promise<Tree> {
  const standing = isTree(trunk) ? trunk : undefined;
  const leaves = standing === undefined
    ? inlineRuns(trunk, format, (entry) => entry)
    : walkLeaves(format, standing.tree, standing.load);
  return await changeTree(format, standing, leaves, changes, sink);
}

/** The tree of a VideoItem Track's index by key, which follows from that by time. */
async function joinKeyTree(
  trunk: TrackContent,
  { added, removed }: TreeChanges,
  sink: PageSink,
): Promise<Tree> {
  const format = videoKeyFormat();
  const standing = isTree(trunk) ? trunk.keyTree : undefined;
  const leaves = standing === undefined
    ? inlineRuns(trunk, format, byKey)
    : walkLeaves(format, standing.tree, standing.load);
  const changes = { added: Array.from(added, byKey), removed: Array.from(removed, byKey) };
  return await changeTree(format, standing, leaves, changes, sink);
}

/**
 * Puts changes into a tree in one of the two ways.
 *
 * @param standing trunk's tree, when it has one
 * @param leaves all of trunk's entries in order, read only when the tree is built as a whole
 */
async function changeTree(
  format: TreeFormat<PageEntry>,
  standing: { readonly tree: Tree; readonly load: PageLoader } | undefined,
  leaves: EntryRuns<PageEntry>,
  changes: TreeChanges,
  sink: PageSink,
): Promise<Tree> {
  let tree: Tree | undefined | "old-form" = "old-form";
  const count = changes.added.length + changes.removed.length;
  if (standing !== undefined && !builtWhole(format.canonical, standing.tree, count)) {
    tree = await applyChanges(format, standing.tree, changes, standing.load, sink);
  }
  if (tree === "old-form") {
    tree = await buildTree(format, mergeRuns(format, leaves, changes), sink);
  }
  if (tree === undefined) throw new Error("unreachable: a merge leaves at least trunk's entries");
  return tree;
}

/** All entries of a Track that has no tree, in the tree's order. */
async function* inlineRuns(
  trunk: TrackContent,
  format: TreeFormat<PageEntry>,
  convert: (entry: PageEntry) => PageEntry,
): AsyncGenerator<readonly PageEntry[]> {
  const entries: PageEntry[] = [];
  for await (const bytes of trunk.entries()) {
    entries.push(convert(parseIndexEntry({ kind: "track" }, trunk.kind, bytes)));
  }
  yield sortedEntries(format, entries);
}
