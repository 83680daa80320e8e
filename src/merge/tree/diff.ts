/**
 * What one index has that another lacks, read from pages that differ alone.
 *
 * Both trees are opened level by level; pages with the same address have the same entries and are
 * skipped with all that is below them. The leaves that are left are compared as bytes where the
 * format can do that (`leaf-comparison.ts`), else region by region as sets of absolute entries, so
 * neither the cut of the pages nor the order of ties plays a part.
 *
 * @module
 */

import { comparePageChildren } from "../../model/page-entry.ts";
import type { PageEntry } from "../../model/page-entry.ts";
import { mapConcurrent } from "../../store/limit.ts";
import { compareSets } from "./entry-sets.ts";
import type { IndexDifference } from "./entry-sets.ts";
import { RunCursor } from "./run-cursor.ts";
import { SkippedPages } from "./skipped.ts";
import { detach, loadPage, rootOf, sortedEntries } from "./tree-format.ts";
import type { PageLoader, Tree, TreeChild, TreeFormat, TreePage } from "./tree-format.ts";
import { checkChildren, loadLeaves } from "./walk.ts";

/** An index to compare: a tree, or the entries of an inline index in any order. */
export type IndexSource =
  | { readonly tree: Tree }
  | { readonly entries: Iterable<PageEntry> };

/** Internal pages opened at once. */
const CONCURRENCY = 32;

/**
 * Compares two indexes. What is held in memory beside the result is one region, the leaves read
 * ahead and the list of differing leaves.
 * @returns entries in the tree's order, with memory of their own
 * @throws DreamDBError malformed-cbor, malformed-object, and what `load` throws
 */
export async function collectDifference<Entry extends PageEntry>(
  format: TreeFormat<Entry>,
  base: IndexSource,
  side: IndexSource,
  load: PageLoader,
): Promise<IndexDifference<Entry>> {
  const skipped = new SkippedPages(format, load);
  const [ofBase, ofSide] = await openBoth(format, base, side, load, skipped);
  const found = ofBase === undefined || ofSide === undefined
    ? undefined
    : await format.compareLeaves?.(ofBase.pages, ofSide.pages, load);
  if (found !== undefined) return await withoutSkipped(skipped, found);
  const before = new RunCursor(runs(format, base, ofBase, load, true));
  const after = new RunCursor(runs(format, side, ofSide, load, false));
  try {
    return await compareRegions(format, before, after, skipped);
  } finally {
    await before.close();
    await after.close();
  }
}

/** Compares two runs of entries region by region. */
async function compareRegions<Entry extends PageEntry>(
  format: TreeFormat<Entry>,
  before: RunCursor<Entry>,
  after: RunCursor<Entry>,
  skipped: SkippedPages<Entry>,
): Promise<IndexDifference<Entry>> {
  const added: Entry[] = [];
  const removed: Entry[] = [];
  for (;;) {
    if (!before.ready) await before.refill();
    if (!after.ready) await after.refill();
    const old = before.peek();
    const own = after.peek();
    const region = old === undefined || (own !== undefined && format.compareRegion(own, old) < 0)
      ? own
      : old;
    if (region === undefined) return { added, removed };
    const belongs = (entry: Entry): boolean => format.compareRegion(entry, region) === 0;
    const oldRegion: Entry[] = [];
    while (!before.take(belongs, oldRegion)) await before.refill();
    const ownRegion: Entry[] = [];
    while (!after.take(belongs, ownRegion)) await after.refill();
    const found = compareSets(oldRegion, ownRegion);
    if (found.added.length === 0 && found.removed.length === 0) continue;
    const difference = await withoutSkipped(skipped, found);
    for (const entry of difference.added) added.push(detach(format, entry));
    for (const entry of difference.removed) removed.push(detach(format, entry));
  }
}

/** A tree's pages of one level that are still to be compared. */
interface Frontier {
  readonly tree: Tree;
  height: number;
  pages: readonly TreeChild[];
}

type Runs<Entry> = AsyncIterable<readonly Entry[]> | Iterable<readonly Entry[]>;

async function openBoth<Entry extends PageEntry>(
  format: TreeFormat<Entry>,
  base: IndexSource,
  side: IndexSource,
  load: PageLoader,
  skipped: SkippedPages<Entry>,
): Promise<readonly [Frontier | undefined, Frontier | undefined]> {
  const before = frontier(base);
  const after = frontier(side);
  const open = async (
    level: Frontier,
    like?: readonly TreePage<Entry>[],
  ): Promise<readonly TreePage<Entry>[]> => {
    const opened = await mapConcurrent(
      level.pages,
      CONCURRENCY,
      async (child) => {
        const page = await loadPage(format, load, child, level.height, { like });
        if (!page.leaf) checkChildren(format, level.tree, page.children.length, child);
        return page;
      },
    );
    level.pages = opened.flatMap((page) => page.leaf ? [] : page.children);
    level.height--;
    return opened;
  };
  for (;;) {
    if (before !== undefined && after !== undefined && before.height === after.height) {
      skipShared(before, after, skipped);
    }
    const height = Math.max(before?.height ?? 1, after?.height ?? 1);
    if (height === 1) break;
    const opened = before?.height === height ? await open(before) : [];
    if (after?.height === height) await open(after, opened);
  }
  return [before, after];
}

function frontier(source: IndexSource): Frontier | undefined {
  if (!("tree" in source)) return undefined;
  return { tree: source.tree, height: source.tree.height, pages: [rootOf(source.tree)] };
}

/** Takes pages that both have out of both. */
function skipShared<Entry extends PageEntry>(
  before: Frontier,
  after: Frontier,
  skipped: SkippedPages<Entry>,
): void {
  const shared: TreeChild[] = [];
  // Most are shared, in order, and one object in both.
  const old: TreeChild[] = [];
  const own: TreeChild[] = [];
  let at = 0;
  for (const child of after.pages) {
    let next = before.pages[at];
    for (; next !== undefined && next !== child; next = before.pages[++at]) {
      if (comparePageChildren(next, child) >= 0) break;
      old.push(next);
    }
    if (next === child) {
      shared.push(child);
      at++;
    } else own.push(child);
  }
  for (const child of before.pages.slice(at)) old.push(child);
  const ownPages = new Set(own.map((child) => child.page));
  const met = new Set<string>();
  const left = old.filter((child) => {
    if (!ownPages.has(child.page)) return true;
    if (!met.has(child.page)) shared.push(child);
    met.add(child.page);
    return false;
  });
  skipped.add(shared, before.height);
  before.pages = left;
  after.pages = met.size === 0 ? own : own.filter((child) => !met.has(child.page));
}

function runs<Entry extends PageEntry>(
  format: TreeFormat<Entry>,
  source: IndexSource,
  level: Frontier | undefined,
  load: PageLoader,
  keepLeaf: boolean,
): Runs<Entry> {
  if (level !== undefined) return loadLeaves(format, load, level.pages, { keepLeaf });
  return "entries" in source ? [sortedEntries(format, source.entries)] : [];
}

/** A difference without what stands in a shared page, too. */
async function withoutSkipped<Entry extends PageEntry>(
  skipped: SkippedPages<Entry>,
  { added, removed }: IndexDifference<Entry>,
): Promise<IndexDifference<Entry>> {
  return {
    added: await without(skipped, added, true),
    removed: await without(skipped, removed, false),
  };
}

async function without<Entry extends PageEntry>(
  skipped: SkippedPages<Entry>,
  entries: readonly Entry[],
  onlyTimed: boolean,
): Promise<readonly Entry[]> {
  const left: Entry[] = [];
  for (const entry of entries) {
    const holds = skipped.holds(entry, onlyTimed);
    if (holds === false || (holds !== true && !await holds)) left.push(entry);
  }
  return left;
}
