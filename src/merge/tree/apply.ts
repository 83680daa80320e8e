/**
 * Changing a tree by copying only the pages that change (PAGED 5).
 *
 * For Index Pages the result is what the reference's copy-on-write makes of the same batch. For
 * B-trees it is not: the reference inserts entry by entry and leaves pages with one entry
 * behind; here a batch is put in at once and an overflowing page is cut into even pieces.
 *
 * @module
 */

import { addressOf } from "../../encoding/address.ts";
import { bytesKey } from "../../encoding/bytes.ts";
import type { PageEntry } from "../../model/page-entry.ts";
import { mapConcurrent, Semaphore } from "../../store/limit.ts";
import { writePage } from "./build.ts";
import { cutEvenly } from "./split.ts";
import { loadPage, rootOf, sortedEntries } from "./tree-format.ts";
import type { PageLoader, PageSink, Tree, TreeChild, TreeFormat } from "./tree-format.ts";
import { checkChildren } from "./walk.ts";

/** What is to be put in and taken out. Entries to take out that are not there are passed over. */
export interface TreeChanges {
  readonly added: readonly PageEntry[];
  readonly removed: readonly PageEntry[];
}

/** Entries of a batch, in the tree's order. */
interface Batch<Entry> {
  readonly added: readonly Entry[];
  readonly removed: readonly Entry[];
}

interface Work<Entry extends PageEntry> {
  readonly format: TreeFormat<Entry>;
  readonly tree: Tree;
  readonly load: PageLoader;
  readonly sink: PageSink;
  /** One place for each page that may be open at once. */
  readonly places: Semaphore;
  pageCount: number;
  entryCount: number;
  fanout: number;
}

/** Thrown inside, when a page of the old form cannot tell where an entry belongs. */
class CannotRoute extends Error {}

const CONCURRENCY = 8;

/**
 * Puts a batch into a tree and writes the pages that change. Existing entries come before new ones
 * that sort the same; ties among new ones are broken by their bytes, so the order of the batch does
 * not matter. Leaves are never joined; pages that become empty go.
 *
 * @returns the new tree, undefined when nothing is left of it; `tree` itself when nothing changed;
 * "old-form" when pages without cell ranges do not say where an entry belongs (PAGED 6); pages
 * written until then are in nobody's way
 * @throws DreamDBError malformed-cbor, malformed-object, and what `load` and `sink` throw
 */
export async function applyChanges<Entry extends PageEntry>(
  format: TreeFormat<Entry>,
  tree: Tree,
  changes: TreeChanges,
  load: PageLoader,
  sink: PageSink,
  concurrency = CONCURRENCY,
): Promise<Tree | undefined | "old-form"> {
  const batch = {
    added: sortedEntries(format, changes.added),
    removed: sortedEntries(format, changes.removed),
  };
  const { pageCount, entryCount } = tree;
  const fanout = tree.fanout ?? 0;
  const places = new Semaphore(concurrency);
  const work = { format, tree, load, sink, places, pageCount, entryCount, fanout };
  const root = rootOf(tree);
  let level: readonly TreeChild[];
  try {
    level = await rewrite(work, root, tree.height, batch);
  } catch (error) {
    if (error instanceof CannotRoute) return "old-form";
    throw error;
  }
  if (level[0] === root) return tree;
  let height = tree.height;
  while (level.length > 1) level = await writeInternal(work, level, ++height);
  const top = level[0];
  if (top === undefined) return undefined;
  return {
    root: top.page,
    height,
    pageCount: work.pageCount,
    entryCount: work.entryCount,
    fanout: tree.fanout === undefined ? undefined : work.fanout,
  };
}

/** The pages that take the place of `child`: itself when nothing below it changes. */
async function rewrite<Entry extends PageEntry>(
  work: Work<Entry>,
  child: TreeChild,
  height: number,
  batch: Batch<Entry>,
): Promise<readonly TreeChild[]> {
  if (batch.added.length === 0 && batch.removed.length === 0) return [child];
  // A leaf is let go before the next one is loaded in its place; that bounds what is in memory.
  if (height === 1) return await work.places.run(() => rewriteLeaf(work, child, batch));
  const page = await work.places.run(() => loadPage(work.format, work.load, child, height));
  const children = page.leaf ? [] : page.children;
  checkChildren(work.format, work.tree, children.length, child);
  if (batch.added.length > 0 && !work.format.canRoute(children)) throw new CannotRoute();
  const parts = divide(work.format, children, batch);
  const replaced = await mapConcurrent(
    children,
    children.length,
    (below, index) => rewrite(work, below, height - 1, parts[index] ?? NOTHING),
  );
  if (replaced.every((pages, index) => pages[0] === children[index])) return [child];
  work.pageCount--;
  return await writeInternal(work, replaced.flat(), height);
}

async function rewriteLeaf<Entry extends PageEntry>(
  work: Work<Entry>,
  child: TreeChild,
  batch: Batch<Entry>,
): Promise<readonly TreeChild[]> {
  const { format, sink } = work;
  const grown = batch.removed.length > 0
    ? undefined
    : await format.growLeaf?.(child, batch.added, work.load);
  if (grown !== undefined) {
    work.entryCount += batch.added.length;
    work.pageCount += grown.length - 1;
    const pages: TreeChild[] = [];
    for (const leaf of grown) {
      const page = addressOf(leaf.bytes);
      await sink(page, leaf.bytes);
      pages.push({ ...leaf.child, page });
    }
    return pages;
  }
  const page = await loadPage(format, work.load, child, 1);
  const entries = page.leaf ? page.entries : [];
  const kept = withoutRemoved(entries, batch.removed);
  if (kept.length === entries.length && batch.added.length === 0) return [child];
  work.entryCount += kept.length + batch.added.length - entries.length;
  work.pageCount--;
  return await writeLeaves(work, mergeEntries(format, kept, batch.added));
}

const NOTHING: Batch<never> = { added: [], removed: [] };

async function writeLeaves<Entry extends PageEntry>(
  work: Work<Entry>,
  entries: readonly Entry[],
): Promise<readonly TreeChild[]> {
  const pages: TreeChild[] = [];
  for (const piece of cutEvenly(entries, work.format.leafMeter())) {
    pages.push(await writePage(work.format, work.sink, { leaf: true, entries: piece }, 1));
  }
  work.pageCount += pages.length;
  return pages;
}

async function writeInternal<Entry extends PageEntry>(
  work: Work<Entry>,
  children: readonly TreeChild[],
  height: number,
): Promise<readonly TreeChild[]> {
  const pages: TreeChild[] = [];
  for (const piece of cutEvenly(children, work.format.internalMeter())) {
    pages.push(
      await writePage(work.format, work.sink, { leaf: false, children: piece }, height),
    );
    work.fanout = Math.max(work.fanout, piece.length);
  }
  work.pageCount += pages.length;
  return pages;
}

/** Which part of a batch each child gets: new entries one child, entries to take out every child. */
function divide<Entry extends PageEntry>(
  format: TreeFormat<Entry>,
  children: readonly TreeChild[],
  batch: Batch<Entry>,
): readonly Batch<Entry>[] {
  let from = 0;
  let firstRemoved = 0;
  return children.map((child, index) => {
    const next = children[index + 1];
    let to = from;
    for (; to < batch.added.length; to++) {
      const entry = batch.added[to];
      if (next !== undefined && entry !== undefined && format.reaches(next, entry)) break;
    }
    const added = batch.added.slice(from, to);
    from = to;
    const removed: Entry[] = [];
    for (let at = firstRemoved; at < batch.removed.length; at++) {
      const entry = batch.removed[at];
      if (entry === undefined || format.isAfter(child, entry)) break;
      if (format.isBefore(child, entry)) firstRemoved = at + 1;
      else removed.push(entry);
    }
    return { added, removed };
  });
}

function withoutRemoved<Entry extends PageEntry>(
  entries: readonly Entry[],
  removed: readonly Entry[],
): readonly Entry[] {
  if (removed.length === 0) return entries;
  const gone = new Set(removed.map(({ bytes }) => bytesKey(bytes)));
  return entries.filter(({ bytes }) => !gone.has(bytesKey(bytes)));
}

/** Merges two ordered lists; entries of the first come first where both sort the same. */
export function mergeEntries<Entry extends PageEntry>(
  format: TreeFormat<Entry>,
  old: readonly Entry[],
  added: readonly Entry[],
): readonly Entry[] {
  if (added.length === 0) return old;
  const merged: Entry[] = [];
  let at = 0;
  for (const entry of added) {
    for (let next = old[at]; next !== undefined; next = old[at]) {
      if (format.compare(next, entry) > 0) break;
      merged.push(next);
      at++;
    }
    merged.push(entry);
  }
  for (; at < old.length; at++) {
    const next = old[at];
    if (next !== undefined) merged.push(next);
  }
  return merged;
}
