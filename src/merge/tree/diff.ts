/**
 * What one index has that another lacks, read from pages that differ alone.
 *
 * Both trees are opened level by level; pages with the same address have the same entries and are
 * skipped with all that is below them. The leaves that are left are compared region by region as
 * sets of absolute entries, so neither the cut of the pages nor the order of ties plays a part.
 *
 * @module
 */

import { bytesKey, compareBytes, equalBytes } from "../../encoding/bytes.ts";
import type { PageEntry } from "../../model/page-entry.ts";
import { mapConcurrent } from "../../store/limit.ts";
import { RunCursor } from "./run-cursor.ts";
import { SkippedPages } from "./skipped.ts";
import { detach, loadPage, rootOf, sortedEntries } from "./tree-format.ts";
import type { PageLoader, Tree, TreeChild, TreeFormat } from "./tree-format.ts";
import { checkChildren, loadLeaves } from "./walk.ts";

/** An index to compare: a tree, or the entries of an inline index in any order. */
export type IndexSource =
  | { readonly tree: Tree }
  | { readonly entries: Iterable<PageEntry> };

/** Entries only in one of two indexes, in the tree's order. */
export interface IndexDifference<Entry extends PageEntry> {
  /** In `side` and not in `base`. */
  readonly added: readonly Entry[];
  /** In `base` and not in `side`. */
  readonly removed: readonly Entry[];
}

/** How to compare. */
export interface DiffOptions {
  /** Pages to open at once. */
  readonly concurrency?: number | undefined;
  /** Leaves out pages for which it is false; entries outside may still be reported. */
  readonly within?: ((child: TreeChild) => boolean) | undefined;
}

const CONCURRENCY = 8;

/**
 * Compares two indexes region by region and yields each region's difference that is not empty.
 * What is held in memory is one region, the leaves read ahead and the list of differing leaves.
 * @throws DreamDBError malformed-cbor, malformed-object, and what `load` throws
 */
export async function* diffIndexes<Entry extends PageEntry>(
  format: TreeFormat<Entry>,
  base: IndexSource,
  side: IndexSource,
  load: PageLoader,
  options: DiffOptions = {},
): AsyncGenerator<IndexDifference<Entry>> {
  const skipped = new SkippedPages(format, load);
  const grown: Entry[] = [];
  const [baseRuns, sideRuns] = await openBoth(format, base, side, load, options, skipped, grown);
  if (grown.length > 0) yield { added: grown, removed: [] };
  const before = new RunCursor(baseRuns);
  const after = new RunCursor(sideRuns);
  try {
    for (;;) {
      if (!before.ready) await before.refill();
      if (!after.ready) await after.refill();
      const old = before.peek();
      const own = after.peek();
      const region = old === undefined || (own !== undefined && format.compareRegion(own, old) < 0)
        ? own
        : old;
      if (region === undefined) return;
      const belongs = (entry: Entry): boolean => format.compareRegion(entry, region) === 0;
      const oldRegion: Entry[] = [];
      while (!before.take(belongs, oldRegion)) await before.refill();
      const ownRegion: Entry[] = [];
      while (!after.take(belongs, ownRegion)) await after.refill();
      const { added, removed } = compareSets(oldRegion, ownRegion);
      const difference = {
        added: added.length === 0 ? added : await without(format, skipped, added, true),
        removed: removed.length === 0 ? removed : await without(format, skipped, removed, false),
      };
      if (difference.added.length > 0 || difference.removed.length > 0) yield difference;
    }
  } finally {
    await before.close();
    await after.close();
  }
}

/** All of `diffIndexes` in two lists. */
export async function collectDifference<Entry extends PageEntry>(
  format: TreeFormat<Entry>,
  base: IndexSource,
  side: IndexSource,
  load: PageLoader,
  options: DiffOptions = {},
): Promise<IndexDifference<Entry>> {
  const added: Entry[] = [];
  const removed: Entry[] = [];
  for await (const region of diffIndexes(format, base, side, load, options)) {
    for (const entry of region.added) added.push(entry);
    for (const entry of region.removed) removed.push(entry);
  }
  return { added, removed };
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
  options: DiffOptions,
  skipped: SkippedPages<Entry>,
  grown: Entry[],
): Promise<readonly [Runs<Entry>, Runs<Entry>]> {
  const before = frontier(base);
  const after = frontier(side);
  const open = async (level: Frontier): Promise<void> => {
    const opened = await mapConcurrent(
      level.pages,
      options.concurrency ?? CONCURRENCY,
      async (child) => {
        const page = await loadPage(format, load, child, level.height);
        if (page.leaf) return [];
        checkChildren(format, level.tree, page.children.length, child);
        return page.children;
      },
    );
    level.pages = opened.flat().filter((child) => options.within?.(child) ?? true);
    level.height--;
  };
  for (;;) {
    if (before !== undefined && after !== undefined && before.height === after.height) {
      skipShared(before, after, skipped);
    }
    const height = Math.max(before?.height ?? 1, after?.height ?? 1);
    if (height === 1) break;
    for (const level of [before, after]) if (level?.height === height) await open(level);
  }
  if (before !== undefined && after !== undefined) {
    await skipGrown(format, before, after, load, options, skipped, grown);
  }
  return [runs(format, base, before, load), runs(format, side, after, load)];
}

function frontier(source: IndexSource): Frontier | undefined {
  if (!("tree" in source)) return undefined;
  return { tree: source.tree, height: source.tree.height, pages: [rootOf(source.tree)] };
}

function skipShared<Entry extends PageEntry>(
  before: Frontier,
  after: Frontier,
  skipped: SkippedPages<Entry>,
): void {
  const own = new Set(after.pages.map((child) => child.page));
  const shared = new Set<string>();
  before.pages = before.pages.filter((child) => {
    if (!own.has(child.page)) return true;
    if (!shared.has(child.page)) skipped.add(child, before.height);
    shared.add(child.page);
    return false;
  });
  after.pages = after.pages.filter((child) => !shared.has(child.page));
}

/** Settles pairs of leaves of which one is the other with entries put in. */
async function skipGrown<Entry extends PageEntry>(
  format: TreeFormat<Entry>,
  before: Frontier,
  after: Frontier,
  load: PageLoader,
  options: DiffOptions,
  skipped: SkippedPages<Entry>,
  grown: Entry[],
): Promise<void> {
  if (format.leafGrowth === undefined) return;
  const pairs: (readonly [TreeChild, TreeChild])[] = [];
  for (let i = 0, j = 0; i < before.pages.length && j < after.pages.length;) {
    const old = before.pages[i];
    const own = after.pages[j];
    if (old?.low === undefined || own?.low === undefined) return;
    const order = compareBytes(old.low, own.low);
    if (order === 0 && same(old.high, own.high)) pairs.push([old, own]);
    if (order <= 0) i++;
    if (order >= 0) j++;
  }
  const settled = new Set<TreeChild>();
  const gains = await mapConcurrent(
    pairs,
    options.concurrency ?? CONCURRENCY,
    async ([old, own]) => {
      const [base, side] = await Promise.all([load(old.page), load(own.page)]);
      const added = format.leafGrowth?.(base, side, old, own);
      if (added === undefined) return [];
      settled.add(old);
      settled.add(own);
      return added.map((entry) => detach(format, entry));
    },
  );
  for (const gain of gains) grown.push(...gain);
  for (const child of before.pages) if (settled.has(child)) skipped.add(child, 1);
  before.pages = before.pages.filter((child) => !settled.has(child));
  after.pages = after.pages.filter((child) => !settled.has(child));
}

function same(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a !== undefined && b !== undefined && compareBytes(a, b) === 0;
}

function runs<Entry extends PageEntry>(
  format: TreeFormat<Entry>,
  source: IndexSource,
  level: Frontier | undefined,
  load: PageLoader,
): Runs<Entry> {
  if (level !== undefined) return loadLeaves(format, load, level.pages);
  return "entries" in source ? [sortedEntries(format, source.entries)] : [];
}

function compareSets<Entry extends PageEntry>(
  old: readonly Entry[],
  own: readonly Entry[],
): { readonly added: readonly Entry[]; readonly removed: readonly Entry[] } {
  const [first, second] = [old[0], own[0]];
  if (first === undefined) return { added: distinct(own), removed: [] };
  if (second === undefined) return { added: [], removed: distinct(old) };
  if (old.length === 1 && own.length === 1 && equalBytes(first.bytes, second.bytes)) {
    return { added: [], removed: [] };
  }
  // Nearly all regions begin and end alike.
  let head = 0;
  const oldEnd = old.length;
  const ownEnd = own.length;
  const alike = (a: Entry | undefined, b: Entry | undefined): boolean =>
    a !== undefined && b !== undefined && a.bytes.length === b.bytes.length &&
    equalBytes(a.bytes, b.bytes);
  while (head < oldEnd && head < ownEnd && alike(old[head], own[head])) head++;
  if (head === oldEnd && head === ownEnd) return { added: [], removed: [] };
  const oldKeys = new Set(old.map(({ bytes }) => bytesKey(bytes)));
  const ownKeys = new Set(own.map(({ bytes }) => bytesKey(bytes)));
  return {
    added: distinct(own.filter(({ bytes }) => !oldKeys.has(bytesKey(bytes)))),
    removed: distinct(old.filter(({ bytes }) => !ownKeys.has(bytesKey(bytes)))),
  };
}

function distinct<Entry extends PageEntry>(entries: readonly Entry[]): readonly Entry[] {
  if (entries.length < 2) return entries;
  return [...new Map(entries.map((entry) => [bytesKey(entry.bytes), entry])).values()];
}

async function without<Entry extends PageEntry>(
  format: TreeFormat<Entry>,
  skipped: SkippedPages<Entry>,
  entries: readonly Entry[],
  onlyTimed: boolean,
): Promise<readonly Entry[]> {
  const left: Entry[] = [];
  for (const entry of entries) {
    if (!await skipped.holds(entry, onlyTimed)) left.push(detach(format, entry));
  }
  return left;
}
