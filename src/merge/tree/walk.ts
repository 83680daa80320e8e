/**
 * Walking a tree in order.
 *
 * @module
 */

import { malformedObject } from "../../model/malformed.ts";
import type { PageEntry } from "../../model/page-entry.ts";
import { loadPage, rootOf } from "./tree-format.ts";
import type { PageLoader, Tree, TreeChild, TreeFormat } from "./tree-format.ts";

/** How to walk. */
export interface WalkOptions {
  /** Leaves out pages for which it is false, with all that is below them. */
  readonly within?: ((child: TreeChild) => boolean) | undefined;
}

/** What a tree consists of. */
export interface TreeStatistics {
  readonly height: number;
  readonly pageCount: number;
  readonly leafCount: number;
  readonly entryCount: number;
  /** Children of the widest page. */
  readonly fanout: number;
}

/** How to load leaves. */
export interface LeafOptions {
  /** Whether decoded leaves are kept; see `loadPage`. */
  readonly keepLeaf?: boolean | undefined;
}

/** Leaves that are loaded ahead of the one that is being read. */
const READ_AHEAD = 8;

/**
 * The entries of a tree, one leaf after another, with absolute times. A walk over the whole tree
 * also checks the numbers of the descriptor.
 * @throws DreamDBError malformed-cbor, malformed-object, and what `load` throws
 */
export async function* walkLeaves<Entry extends PageEntry>(
  format: TreeFormat<Entry>,
  tree: Tree,
  load: PageLoader,
  options: WalkOptions = {},
): AsyncGenerator<readonly Entry[], TreeStatistics> {
  const counter = { pages: 0, leaves: 0, entries: 0, fanout: 0 };
  const leaves = leafPages(format, tree, load, options, counter);
  for await (const entries of loadLeaves(format, load, leaves)) {
    counter.leaves++;
    counter.entries += entries.length;
    yield entries;
  }
  const statistics = {
    height: tree.height,
    pageCount: counter.pages,
    leafCount: counter.leaves,
    entryCount: counter.entries,
    fanout: counter.fanout,
  };
  if (options.within === undefined) checkNumbers(format, tree, statistics);
  return statistics;
}

/** Reads every page of a tree and checks it; see `walkLeaves`. */
export async function measureTree<Entry extends PageEntry>(
  format: TreeFormat<Entry>,
  tree: Tree,
  load: PageLoader,
): Promise<TreeStatistics> {
  const walk = walkLeaves(format, tree, load);
  for (;;) {
    const step = await walk.next();
    if (step.done === true) return step.value;
  }
}

/**
 * Loads leaves in their order, some ahead, and checks that they ascend.
 * @throws DreamDBError malformed-object, and what `load` throws
 */
export async function* loadLeaves<Entry extends PageEntry>(
  format: TreeFormat<Entry>,
  load: PageLoader,
  leaves: AsyncIterable<TreeChild> | Iterable<TreeChild>,
  { keepLeaf = false }: LeafOptions = {},
): AsyncGenerator<readonly Entry[]> {
  // Bytes are read ahead and decoded in their turn: decoded entries take many times as much memory.
  const pending: {
    readonly leaf: TreeChild;
    readonly bytes: Promise<Uint8Array> | undefined;
  }[] = [];
  let last: Entry | undefined;
  const take = async (): Promise<readonly Entry[]> => {
    const next = pending.shift();
    if (next === undefined) return [];
    const { leaf, bytes } = next;
    const page = await loadPage(format, (address) => bytes ?? load(address), leaf, 1, { keepLeaf });
    const entries = page.leaf ? page.entries : [];
    const first = entries[0];
    if (last !== undefined && first !== undefined && format.compareRegion(last, first) > 0) {
      throw malformedObject(
        { kind: format.name, path: leaf.page },
        "it begins before the end of the leaf to its left",
        "leaves in ascending order",
      );
    }
    last = entries.at(-1);
    return entries;
  };
  for await (const leaf of leaves) {
    const known = keepLeaf && format.kept?.get(leaf.page, 1) !== undefined;
    const bytes = known ? undefined : load(leaf.page);
    // A failure is thrown when its turn comes; until then it must not count as unhandled.
    bytes?.catch(() => {});
    pending.push({ leaf, bytes });
    if (pending.length > READ_AHEAD) yield await take();
  }
  while (pending.length > 0) yield await take();
}

async function* leafPages<Entry extends PageEntry>(
  format: TreeFormat<Entry>,
  tree: Tree,
  load: PageLoader,
  options: WalkOptions,
  counter: { pages: number; fanout: number },
): AsyncGenerator<TreeChild> {
  /** Pages to visit, the next one last. */
  const stack: { readonly child: TreeChild; readonly height: number }[] = [
    { child: rootOf(tree), height: tree.height },
  ];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    counter.pages++;
    if (next.height === 1) {
      yield next.child;
      continue;
    }
    const page = await loadPage(format, load, next.child, next.height);
    if (page.leaf) continue;
    checkChildren(format, tree, page.children.length, next.child);
    counter.fanout = Math.max(counter.fanout, page.children.length);
    for (const child of page.children.toReversed()) {
      if (options.within?.(child) ?? true) stack.push({ child, height: next.height - 1 });
    }
  }
}

/**
 * Checks a page with children against the descriptor: that it is not wider than it says, and that
 * a tree of two levels has as many pages as it says. Of a higher tree only a whole walk can tell.
 * @throws DreamDBError malformed-object
 */
export function checkChildren<Entry extends PageEntry>(
  format: TreeFormat<Entry>,
  tree: Tree,
  children: number,
  page: TreeChild,
): void {
  if (tree.fanout !== undefined && children > tree.fanout) {
    throw malformedObject(
      { kind: format.name, path: page.page },
      `${children} children`,
      `at most ${tree.fanout}, the fanout of the index`,
    );
  }
  if (tree.height === 2 && tree.pageCount !== children + 1) {
    throw malformedObject(
      { kind: format.name, path: page.page },
      `a root over ${children} leaves`,
      `${tree.pageCount} pages with the root, as the Track says`,
    );
  }
}

function checkNumbers<Entry extends PageEntry>(
  format: TreeFormat<Entry>,
  tree: Tree,
  found: TreeStatistics,
): void {
  for (const key of ["pageCount", "entryCount"] as const) {
    if (found[key] === tree[key]) continue;
    throw malformedObject(
      { kind: format.name, path: tree.root },
      `the tree below this root has a ${key} of ${found[key]}`,
      `${tree[key]}, as the Track says`,
    );
  }
}
