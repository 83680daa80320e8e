/**
 * A version of a Track whose entries stand in a tree of pages.
 *
 * @module
 */

import { pagedKind } from "../model/index-leaf.ts";
import type { EntryKind, IndexEntry } from "../model/index-entry.ts";
import { parseIndexEntry } from "../model/index-entry.ts";
import { malformedObject } from "../model/malformed.ts";
import type { Subject } from "../model/malformed.ts";
import type { PageEntry } from "../model/page-entry.ts";
import type { OrderedAlgorithm } from "../model/scalar-key.ts";
import type { BtreeIndex, PagedIndex, Track } from "../model/track.ts";
import type { Semaphore } from "../store/limit.ts";
import { indexPagePath } from "../store/paths.ts";
import { checkKeyCount, keyTreeOf } from "./item-keys.ts";
import type { KeyTree } from "./item-keys.ts";
import type { ReadObject } from "./object-reader.ts";
import { meetsAny } from "./overlap.ts";
import type { TrackContent, TrackDifference } from "./track-content.ts";
import { btreeFormat } from "./tree/btree-format.ts";
import { treeOf } from "./tree/descriptor.ts";
import { collectDifference } from "./tree/diff.ts";
import type { IndexSource } from "./tree/diff.ts";
import { indexFormat } from "./tree/index-format.ts";
import type { PageLoader, Tree, TreeFormat } from "./tree/tree-format.ts";
import { measureTree, walkLeaves } from "./tree/walk.ts";

/** Entries in a tree beside what every content offers. */
export interface TreeContent extends TrackContent {
  readonly form: "tree";
  readonly format: TreeFormat<PageEntry>;
  readonly tree: Tree;
  readonly load: PageLoader;
  /** The index by key of a VideoItem Track, when it is a tree. */
  readonly keyTree: KeyTree | undefined;
}

/** Whether a content's entries stand in a tree. */
export function isTree(content: TrackContent): content is TreeContent {
  return (content as Partial<TreeContent>).form === "tree";
}

/** The algorithm of a scalar B-tree modality (PAGED 7). */
function btreeAlgorithm(modality: string): OrderedAlgorithm {
  if (modality.startsWith("scalar.f64.")) return "dreamdb.btree-float64";
  return modality.startsWith("scalar.str.") ? "dreamdb.btree-string" : "dreamdb.btree-int64";
}

/** The format of the trees of a kind and modality; undefined for kinds that have none. */
export function treeFormat(
  kind: EntryKind,
  modality: string,
): TreeFormat<PageEntry> | undefined {
  if (kind === "scalar-btree") {
    return btreeFormat(btreeAlgorithm(modality)) as unknown as TreeFormat<PageEntry>;
  }
  const paged = pagedKind(kind);
  return paged === undefined ? undefined : indexFormat(paged, modality);
}

/** Compares two contents of which at least one is a tree, reading only pages that differ. */
async function treeDifference(
  format: TreeFormat<PageEntry>,
  base: TrackContent,
  side: TrackContent,
): Promise<TrackDifference> {
  const tree = isTree(base) ? base : isTree(side) ? side : undefined;
  if (tree === undefined) throw new Error("unreachable: neither side is a tree");
  const { added, removed } = await collectDifference(
    format,
    await sourceOf(base),
    await sourceOf(side),
    tree.load,
  );
  if (base.count + added.length - removed.length !== side.count) {
    // An entry that stands twice explains it, a wrong count in a descriptor does not.
    for (const each of [base, side]) {
      if (isTree(each)) await measureTree(format, each.tree, each.load);
    }
  }
  const parse = ({ bytes }: PageEntry): IndexEntry =>
    parseIndexEntry({ kind: "track" }, base.kind, bytes);
  return { added: added.map(parse), removed: removed.map(parse) };
}

async function sourceOf(content: TrackContent): Promise<IndexSource> {
  if (isTree(content)) return { tree: content.tree };
  const entries: PageEntry[] = [];
  for await (const bytes of content.entries()) {
    entries.push(parseIndexEntry({ kind: "track" }, content.kind, bytes));
  }
  return { entries };
}

/**
 * The content of a Track in a tree.
 *
 * @param comparisons one place for each comparison of trees that may go on at once
 */
export function treeContent(
  kind: EntryKind,
  subject: Subject,
  track: Track,
  index: PagedIndex | BtreeIndex,
  read: ReadObject,
  comparisons: Semaphore,
): TreeContent {
  const { modality, timeline } = track;
  const format = treeFormat(kind, modality);
  if (format === undefined || (kind === "scalar-btree") !== (index.form === "scalar-btree-v1")) {
    throw malformedObject(
      subject,
      `a ${index.form} index of a ${kind} Track`,
      "a form of the kind",
    );
  }
  checkKeyCount(track, subject.path);
  if (index.treeHeight === 1 && index.pageCount !== 1) {
    throw malformedObject(subject, `an index of one level and ${index.pageCount} pages`, "1 page");
  }
  const tree = treeOf(index);
  const load: PageLoader = (page) => read(indexPagePath(timeline, modality, page), page);
  const content: TreeContent = {
    form: "tree",
    format,
    tree,
    load,
    keyTree: keyTreeOf(track, read),
    track,
    kind,
    count: tree.entryCount,
    async difference(side) {
      if (isTree(side) && side.tree.root === tree.root) return { added: [], removed: [] };
      return await comparisons.run(() => treeDifference(format, content, side));
    },
    async meeting(intervals) {
      const met: IndexEntry[] = [];
      const within = (
        child: { readonly start: bigint | undefined; readonly end: bigint | undefined },
      ) =>
        child.start === undefined || child.end === undefined ||
        meetsAny(intervals, child.start, child.end);
      for await (const leaf of walkLeaves(format, tree, load, { within })) {
        for (const { bytes, start, end } of leaf) {
          // A copy, because a view would keep the whole leaf in memory.
          if (meetsAny(intervals, start, end)) {
            met.push(parseIndexEntry(subject, kind, bytes.slice()));
          }
        }
      }
      return met;
    },
    async *entries() {
      for await (const leaf of walkLeaves(format, tree, load)) {
        for (const { bytes } of leaf) yield bytes;
      }
    },
  };
  return content;
}
