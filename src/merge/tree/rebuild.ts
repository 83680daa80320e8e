/**
 * The two ways to bring changes into an index, and the rule that chooses between them.
 *
 * @module
 */

import { bytesKey } from "../../encoding/bytes.ts";
import type { PageEntry } from "../../model/page-entry.ts";
import { applyChanges, mergeEntries } from "./apply.ts";
import type { TreeChanges } from "./apply.ts";
import { buildTree } from "./build.ts";
import type { EntryRuns } from "./build.ts";
import { RunCursor } from "./run-cursor.ts";
import { sortedEntries } from "./tree-format.ts";
import type { PageLoader, PageSink, Tree, TreeFormat } from "./tree-format.ts";
import { walkLeaves } from "./walk.ts";

/** When a tree is built anew instead of changed in place. */
export interface RebuildRule {
  /** Trees of up to this many entries are. */
  readonly entries: number;
  /** Larger ones are when at least this share of their entries changes. */
  readonly share: number;
}

/** Index Pages: as the reference, which changes a paged tree in place (PAGED 8). */
export const INDEX_RULE: RebuildRule = { entries: 0, share: 0.5 };

/** B-trees: as the reference, which builds them anew, as long as that is cheap (PAGED 7). */
export const BTREE_RULE: RebuildRule = { entries: 262_144, share: 0.5 };

/** How a joined tree came about. */
export interface JoinedTree {
  /** Undefined when nothing is left. */
  readonly tree: Tree | undefined;
  readonly way: "unchanged" | "rebuilt" | "changed";
}

/**
 * Brings changes into a tree. Which way it takes depends on the tree and on how much changes, not
 * on the order of the changes; so do the bytes.
 * @throws DreamDBError malformed-cbor, malformed-object, and what `load` and `sink` throw
 */
export async function joinTree<Entry extends PageEntry>(
  format: TreeFormat<Entry>,
  tree: Tree,
  changes: TreeChanges,
  load: PageLoader,
  sink: PageSink,
  rule: RebuildRule,
): Promise<JoinedTree> {
  const batch = { added: [...changes.added], removed: [...changes.removed] };
  const changed = batch.added.length + batch.removed.length;
  if (changed === 0) return { tree, way: "unchanged" };
  if (tree.entryCount > rule.entries && changed < tree.entryCount * rule.share) {
    const result = await applyChanges(format, tree, batch, load, sink);
    if (result !== "old-form") {
      return { tree: result, way: result === tree ? "unchanged" : "changed" };
    }
  }
  const runs = mergeRuns(format, walkLeaves(format, tree, load), batch);
  return { tree: await buildTree(format, runs, sink), way: "rebuilt" };
}

const RUN_LENGTH = 512;

/**
 * Merges changes into ordered runs. Regions come out sorted: existing entries before new ones that
 * sort the same, ties among new ones by their bytes. Entries to take out that are not there are
 * passed over.
 */
export async function* mergeRuns<Entry extends PageEntry>(
  format: TreeFormat<Entry>,
  runs: EntryRuns<Entry>,
  changes: TreeChanges,
): AsyncGenerator<readonly Entry[]> {
  const existing = new RunCursor(runs);
  const added = new RunCursor([sortedEntries(format, changes.added)]);
  const removed = new RunCursor([sortedEntries(format, changes.removed)]);
  let out: Entry[] = [];
  for (;;) {
    for (const cursor of [existing, added, removed]) if (!cursor.ready) await cursor.refill();
    const old = existing.peek();
    const fresh = added.peek();
    const region =
      old === undefined || (fresh !== undefined && format.compareRegion(fresh, old) < 0)
        ? fresh
        : old;
    if (region === undefined) break;
    const belongs = (entry: Entry): boolean => format.compareRegion(entry, region) === 0;
    const taken: Entry[] = [];
    while (!existing.take(belongs, taken)) await existing.refill();
    const gone: Entry[] = [];
    removed.take((entry) => format.compareRegion(entry, region) <= 0, gone);
    const comes: Entry[] = [];
    added.take(belongs, comes);
    const kept = without(taken, gone);
    if (kept.length > 1) kept.sort(format.compare);
    for (const entry of mergeEntries(format, kept, comes)) out.push(entry);
    if (out.length >= RUN_LENGTH) {
      yield out;
      out = [];
    }
  }
  if (out.length > 0) yield out;
}

function without<Entry extends PageEntry>(entries: Entry[], gone: readonly Entry[]): Entry[] {
  if (gone.length === 0) return entries;
  const keys = new Set(gone.map(({ bytes }) => bytesKey(bytes)));
  return entries.filter(({ bytes }) => !keys.has(bytesKey(bytes)));
}
