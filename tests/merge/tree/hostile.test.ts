import { describe, expect, test } from "bun:test";

import { equalBytes } from "../../../src/encoding/bytes.ts";
import { isDreamDBError } from "../../../src/errors.ts";
import { applyChanges } from "../../../src/merge/tree/apply.ts";
import { btreeFormat } from "../../../src/merge/tree/btree-format.ts";
import { buildTree } from "../../../src/merge/tree/build.ts";
import { collectDifference } from "../../../src/merge/tree/diff.ts";
import { indexFormat } from "../../../src/merge/tree/index-format.ts";
import { mergeRuns } from "../../../src/merge/tree/merge-runs.ts";
import { sortedEntries } from "../../../src/merge/tree/tree-format.ts";
import type { Tree, TreeChild, TreeFormat } from "../../../src/merge/tree/tree-format.ts";
import { measureTree, walkLeaves } from "../../../src/merge/tree/walk.ts";
import type { PageEntry } from "../../../src/model/page-entry.ts";
import { fragmentEntry, MemoryPages, scalarEntry, spatialEntry } from "./memory-pages.ts";

const PAGE_BYTES = 420;
const spatial = indexFormat("spatial-bucket", "m", PAGE_BYTES);
const fragment = indexFormat("fragment", "m", PAGE_BYTES);
const btree = btreeFormat("dreamdb.btree-int64", {
  pageBytes: 900,
  leafFanout: 5,
  internalFanout: 4,
});

const cell = (n: number) => n.toString(2).padStart(6, "0");
const spatialEntries = Array.from({ length: 24 }, (_, n) => spatialEntry(cell(n), 100 - n, n));
const fragmentEntries = Array.from({ length: 24 }, (_, n) => fragmentEntry(n, n));
const scalarEntries = Array.from(
  { length: 15 },
  (_, n) => btree.entry(scalarEntry(BigInt(n), n, n)),
);

/** A tree with one level of leaves below its root, and its root's children. */
async function twoLevels<Entry extends PageEntry>(
  format: TreeFormat<Entry>,
  entries: readonly Entry[],
): Promise<{ tree: Tree; pages: MemoryPages; children: readonly TreeChild[] }> {
  const pages = new MemoryPages();
  const tree = await buildTree(format, [sortedEntries(format, entries)], pages.sink);
  const bytes = tree === undefined ? undefined : pages.pages.get(tree.root);
  if (tree === undefined || bytes === undefined) throw new Error("no tree");
  const root = format.decode(bytes, tree.height, tree.root);
  if (root.leaf || tree.height !== 2 || root.children.length < 3) throw new Error("another shape");
  return { tree, pages, children: root.children };
}

type Alteration = (children: readonly TreeChild[]) => readonly TreeChild[];
const first = (fields: Partial<TreeChild>): Alteration => ([child, ...rest]) =>
  child === undefined ? rest : [{ ...child, ...fields }, ...rest];
const last = (fields: Partial<TreeChild>): Alteration => (children) =>
  children.map((child, index) => index === children.length - 1 ? { ...child, ...fields } : child);

/** Whether walking the tree with an altered root fails with a fault that names it. */
async function walkOf<Entry extends PageEntry>(
  format: TreeFormat<Entry>,
  entries: readonly Entry[],
  alter: Alteration,
  descriptor: (tree: Tree) => Partial<Tree> = () => ({}),
): Promise<string> {
  const { tree, pages, children } = await twoLevels(format, entries);
  const root = pages.put(format.encodeInternal(alter(children), 2));
  try {
    await measureTree(format, { ...tree, root, ...descriptor(tree) }, pages.load);
  } catch (error) {
    if (isDreamDBError(error)) return error.code;
    return error instanceof Error ? error.message.slice(0, 7) : "";
  }
  return "accepted";
}

const same: Alteration = (children) => children;
const swapped: Alteration = ([a, b, ...rest]) =>
  a === undefined || b === undefined ? rest : [b, a, ...rest];
const twice: Alteration = ([a, ...rest]) => a === undefined ? rest : [a, a, ...rest];
const without: Alteration = ([, ...rest]) => rest;

describe("a walk refuses a spatial tree", () => {
  const rows: readonly [string, Alteration, ((tree: Tree) => Partial<Tree>)?][] = [
    ["with too many pages in the descriptor", same, (t) => ({ pageCount: t.pageCount + 1 })],
    ["with too few pages in the descriptor", same, (t) => ({ pageCount: t.pageCount - 1 })],
    ["with too many entries in the descriptor", same, (t) => ({ entryCount: t.entryCount + 1 })],
    ["with too few entries in the descriptor", same, (t) => ({ entryCount: t.entryCount - 1 })],
    ["with a height that is too low", same, () => ({ height: 1 })],
    ["with a height that is too high", same, () => ({ height: 3 })],
    ["with a fanout of 0 over a real root", same, () => ({ fanout: 0 })],
    ["with a fanout below its widest page", same, (t) => ({ fanout: (t.fanout ?? 0) - 1 })],
    ["with a wrong number of entries in a child", first({ entryCount: 1 })],
    ["with a wrong t_min of a child", first({ start: 1n })],
    ["with a wrong t_max of a child", first({ end: 2n ** 63n })],
    ["with a wrong first cell of a child", first({ low: new Uint8Array([0x30]) })],
    ["with a wrong last cell of a child", last({ high: new Uint8Array([0x31, 0x31]) })],
    ["with swapped children", swapped],
    ["with the same leaf twice", twice],
    ["without one of its leaves", without],
  ];
  const complete = rows.map(([name, alter, descriptor]) => ({ name, alter, descriptor }));
  test.each(complete)("$name", async ({ alter, descriptor }) => {
    expect(await walkOf(spatial, spatialEntries, alter, descriptor)).toBe("malformed-object");
  });

  test("but takes a fanout above its widest page, as appends leave it", async () => {
    expect(await walkOf(spatial, spatialEntries, same, () => ({ fanout: 50 }))).toBe("accepted");
  });

  test("but takes children of the old form, without cells", async () => {
    const old: Alteration = (children) =>
      children.map((child) => ({ ...child, low: undefined, high: undefined }));
    expect(await walkOf(spatial, spatialEntries, old)).toBe("accepted");
  });

  test("with a page that is not there", async () => {
    const { tree, pages, children } = await twoLevels(spatial, spatialEntries);
    pages.pages.delete(children[1]?.page ?? tree.root);
    await expect(measureTree(spatial, tree, pages.load)).rejects.toThrow("no page");
  });
});

describe("a walk refuses a fragment tree", () => {
  test.each([
    ["with swapped children", swapped],
    ["with the same leaf twice", twice],
    ["with a wrong t_min of a child", first({ start: 1n })],
  ])("%s", async (_name, alter) => {
    expect(await walkOf(fragment, fragmentEntries, alter)).toBe("malformed-object");
  });

  test("with a leaf that begins before the end of the one to its left", async () => {
    const pages = new MemoryPages();
    const leaf = (ticks: readonly number[]) => {
      const page = { leaf: true, entries: ticks.map((n) => fragmentEntry(n, n)) } as const;
      return fragment.childOf(page, pages.put(fragment.encodeLeaf(page.entries)));
    };
    const children = [leaf([0, 9]), leaf([5, 10])];
    const root = pages.put(fragment.encodeInternal(children, 2));
    const tree = { root, height: 2, pageCount: 3, entryCount: 4, fanout: 2 };
    await expect(measureTree(fragment, tree, pages.load)).rejects.toThrow("ascending order");
  });
});

describe("a walk refuses a B-tree", () => {
  test.each([
    ["with a wrong low key", first({ low: new Uint8Array(8) })],
    ["with a wrong high key", last({ high: new Uint8Array(8).fill(255) })],
    ["with swapped children", swapped],
    ["with the same leaf twice", twice],
    ["without one of its leaves", without],
  ])("%s", async (_name, alter) => {
    expect(await walkOf(btree, scalarEntries, alter)).toBe("malformed-object");
  });

  test.each([[{ pageCount: 9 }], [{ entryCount: 9 }], [{ height: 1 }], [{ height: 3 }]])(
    "whose descriptor says %p",
    async (wrong) => {
      expect(await walkOf(btree, scalarEntries, same, () => wrong)).toBe("malformed-object");
    },
  );
});

describe("an entry that stands twice", () => {
  test.each([
    [
      "in a cell over several leaves",
      spatial,
      spatialEntries.map((_, n) => spatialEntry("01", n, n)),
    ],
    [
      "at one time over several leaves",
      fragment,
      fragmentEntries.map((_, n) => fragmentEntry(7, n)),
    ],
  ])("%s is neither added nor removed with one of its copies", async (_name, format, entries) => {
    const twice = entries[0];
    if (twice === undefined) throw new Error("no entries");
    // Its first copy is in the first leaf, which both trees share, the second one in the last.
    const late = format === spatial ? spatialEntry("01", 0, 0) : twice;
    expect(equalBytes(late.bytes, twice.bytes)).toBe(true);
    const pages = new MemoryPages();
    const one = await buildTree(format, [entries], pages.sink);
    const two = await buildTreeUnordered(format, [...entries, twice], pages);
    if (one === undefined || two === undefined) throw new Error("no trees");
    const nothing = { added: [], removed: [] };
    expect(await collectDifference(format, { tree: two }, { tree: one }, pages.load)).toEqual(
      nothing,
    );
    expect(await collectDifference(format, { tree: one }, { tree: two }, pages.load)).toEqual(
      nothing,
    );
  });

  test("in a B-tree is not removed with one of its copies", async () => {
    const pages = new MemoryPages();
    const five = scalarEntries.slice(0, 5);
    const one = await buildTree(btree, [five], pages.sink);
    const two = await buildTree(btree, [[...five, ...five.slice(-1)]], pages.sink);
    if (one === undefined || two === undefined) throw new Error("no trees");
    expect(await collectDifference(btree, { tree: two }, { tree: one }, pages.load)).toEqual({
      added: [],
      removed: [],
    });
  });
});

describe("a comparison", () => {
  test("of one tree with itself reads nothing", async () => {
    const { tree, pages } = await twoLevels(spatial, spatialEntries);
    await collectDifference(spatial, { tree }, { tree }, pages.load);
    expect(pages.read).toEqual([]);
  });

  test("reads the pages on the way to a change, once for each side, and no other", async () => {
    const { tree, pages } = await twoLevels(fragment, fragmentEntries);
    const added = [fragmentEntry(11, 99)];
    const after = await applyChanges(
      fragment,
      tree,
      { added, removed: [] },
      pages.load,
      pages.sink,
    );
    if (after === undefined || after === "old-form") throw new Error("no tree");
    pages.read.length = 0;
    await collectDifference(fragment, { tree }, { tree: after }, pages.load);
    expect(pages.read.length).toBe(new Set(pages.read).size);
    expect(pages.read.length).toBeLessThanOrEqual(2 + 1 + 2);
  });
});

describe("a change", () => {
  test("of nothing gives the tree itself and writes nothing", async () => {
    const { tree, pages } = await twoLevels(spatial, spatialEntries);
    pages.written.length = 0;
    const absent = [spatialEntry(cell(3), 1, 500)];
    const nothing = { added: [], removed: absent };
    expect(await applyChanges(spatial, tree, nothing, pages.load, pages.sink)).toBe(tree);
    expect(pages.written).toEqual([]);
  });

  test("that takes everything out leaves no tree", async () => {
    const { tree, pages } = await twoLevels(spatial, spatialEntries);
    const all = { added: [], removed: spatialEntries };
    expect(await applyChanges(spatial, tree, all, pages.load, pages.sink)).toBeUndefined();
  });

  test("of a tree of the old form needs it to be built anew, with cells", async () => {
    const { tree, pages, children } = await twoLevels(spatial, spatialEntries);
    const old = children.map((child) => ({ ...child, low: undefined, high: undefined }));
    const root = pages.put(spatial.encodeInternal(old, 2));
    const added = [spatialEntry(cell(3), 1, 500)];
    const changes = { added, removed: [] };
    const oldTree = { ...tree, root };
    expect(await applyChanges(spatial, oldTree, changes, pages.load, pages.sink)).toBe("old-form");
    const runs = mergeRuns(spatial, walkLeaves(spatial, oldTree, pages.load), changes);
    const whole = sortedEntries(spatial, [...spatialEntries, ...added]);
    expect(await buildTree(spatial, runs, () => {})).toEqual(
      await buildTree(spatial, [whole], () => {}),
    );
  });

  test("that puts an older entry behind newer ones of its cell is put right by a rebuild", async () => {
    const cells = Array.from({ length: 24 }, (_, n) => spatialEntry("01", 100 + n, n));
    const { tree, pages } = await twoLevels(spatial, cells);
    const older = [spatialEntry("01", 1, 99)];
    const changes = { added: older, removed: [] };
    const after = await applyChanges(spatial, tree, changes, pages.load, pages.sink);
    if (after === undefined || after === "old-form") throw new Error("no tree");
    const leaves = await Array.fromAsync(walkLeaves(spatial, after, pages.load));
    const starts = leaves.flat().map(({ start }) => start);
    expect(starts).not.toEqual(starts.toSorted((a, b) => a < b ? -1 : 1));
    const runs = mergeRuns(spatial, leaves, { added: [], removed: [] });
    expect(await buildTree(spatial, runs, () => {})).toEqual(
      await buildTree(spatial, [sortedEntries(spatial, [...cells, ...older])], () => {}),
    );
  });

  test("writes each touched page once", async () => {
    const { tree, pages } = await twoLevels(btree, scalarEntries);
    pages.written.length = 0;
    const added = [scalarEntry(3n, 50, 50)];
    await applyChanges(btree, tree, { added, removed: [] }, pages.load, pages.sink);
    expect(pages.written.length).toBe(3);
  });
});

/** Builds a tree of entries that are in order by region only. */
async function buildTreeUnordered(
  format: TreeFormat<PageEntry>,
  entries: readonly PageEntry[],
  pages: MemoryPages,
): Promise<Tree | undefined> {
  const leaves: TreeChild[] = [];
  const meter = format.leafMeter();
  let leaf: PageEntry[] = [];
  const close = (): void => {
    leaf.sort(format.compare);
    const page = { leaf: true, entries: leaf } as const;
    leaves.push(format.childOf(page, pages.put(format.encodeLeaf(leaf))));
    meter.clear();
    leaf = [];
  };
  for (const entry of entries) {
    if (!meter.tryAdd(entry)) {
      close();
      meter.tryAdd(entry);
    }
    leaf.push(entry);
  }
  close();
  let level: readonly TreeChild[] = leaves;
  let height = 1;
  let pageCount = leaves.length;
  while (level.length > 1) {
    height++;
    const above: TreeChild[] = [];
    for (let at = 0; at < level.length; at += 4) {
      const page = { leaf: false, children: level.slice(at, at + 4) } as const;
      above.push(format.childOf(page, pages.put(format.encodeInternal(page.children, height))));
    }
    level = above;
    pageCount += above.length;
  }
  const root = level[0]?.page;
  if (root === undefined) return undefined;
  return { root, height, pageCount, entryCount: entries.length, fanout: 4 };
}
