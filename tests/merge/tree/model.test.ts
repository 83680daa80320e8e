import { describe, expect, test } from "bun:test";
import fc from "fast-check";

import { bytesKey } from "../../../src/encoding/bytes.ts";
import { applyChanges } from "../../../src/merge/tree/apply.ts";
import type { TreeChanges } from "../../../src/merge/tree/apply.ts";
import { btreeFormat } from "../../../src/merge/tree/btree-format.ts";
import { buildTree } from "../../../src/merge/tree/build.ts";
import { collectDifference } from "../../../src/merge/tree/diff.ts";
import { indexFormat } from "../../../src/merge/tree/index-format.ts";
import { mergeRuns } from "../../../src/merge/tree/merge-runs.ts";
import { sortedEntries } from "../../../src/merge/tree/tree-format.ts";
import type { Tree, TreeFormat } from "../../../src/merge/tree/tree-format.ts";
import { measureTree, walkLeaves } from "../../../src/merge/tree/walk.ts";
import type { PageEntry } from "../../../src/model/page-entry.ts";
import {
  eventEntry,
  fragmentEntry,
  MemoryPages,
  scalarEntry,
  spatialEntry,
} from "./memory-pages.ts";

/** A kind of tree with small pages, and how its entries come about. */
interface Kind {
  readonly name: string;
  readonly format: TreeFormat<PageEntry>;
  readonly pageBytes: number;
  /** Makes entry `number`; `place` decides where it sorts, with many ties. */
  readonly entry: (place: number, tick: number, number: number) => PageEntry;
}

const PAGE_BYTES = 420;
const limits = { pageBytes: PAGE_BYTES, leafFanout: 5, internalFanout: 4 };
const asPlain = (format: unknown) => format as TreeFormat<PageEntry>;

const kinds: readonly Kind[] = [
  {
    name: "spatial",
    format: indexFormat("spatial-bucket", "m", PAGE_BYTES),
    pageBytes: PAGE_BYTES,
    entry: (place, tick, number) => spatialEntry(place.toString(2).padStart(5, "0"), tick, number),
  },
  {
    name: "fragment",
    format: indexFormat("fragment", "m", PAGE_BYTES),
    pageBytes: PAGE_BYTES,
    entry: (place, _tick, number) => fragmentEntry(place, number),
  },
  {
    name: "event",
    format: indexFormat("event-array", "m", PAGE_BYTES),
    pageBytes: PAGE_BYTES,
    entry: (place, _tick, number) => eventEntry(place, number),
  },
  {
    name: "int B-tree",
    format: asPlain(btreeFormat("dreamdb.btree-int64", limits)),
    pageBytes: PAGE_BYTES,
    entry: (place, tick, number) => scalarEntry(BigInt(place) - 9n, tick, number),
  },
  {
    name: "float B-tree",
    format: asPlain(btreeFormat("dreamdb.btree-float64", limits)),
    pageBytes: PAGE_BYTES,
    entry: (place, tick, number) => scalarEntry((place - 9) / 4 || -0, tick, number),
  },
  {
    name: "string B-tree",
    format: asPlain(btreeFormat("dreamdb.btree-string", limits)),
    pageBytes: PAGE_BYTES,
    entry: (place, tick, number) => scalarEntry("k".repeat(place % 5) + place, tick, number),
  },
];

/** Where entries sort: few places give ties and regions over several leaves, many give none. */
const places = fc.tuple(fc.nat(19), fc.nat(40));
const size = { size: "medium" as const };
const script = fc.record({
  base: fc.array(places, { minLength: 1, maxLength: 120, ...size }),
  batches: fc.array(
    fc.record({
      added: fc.array(places, { maxLength: 30, ...size }),
      removed: fc.array(fc.nat(200), { maxLength: 20, ...size }),
    }),
    { minLength: 1, maxLength: 3 },
  ),
});
const runs = { numRuns: 30 };
const TIMEOUT = 60_000;

describe.each(kinds)("tree: $name", ({ format, entry, pageBytes }) => {
  test(
    "it holds after each batch what a list would hold, in pages within their limits",
    async () => {
      await fc.assert(
        fc.asyncProperty(script, async ({ base, batches }) => {
          const pages = new MemoryPages();
          let number = 0;
          const make = (list: readonly (readonly [number, number])[]) =>
            list.map(([place, tick]) => entry(place, tick, number++));
          let entries = make(base);
          let tree = await buildTree(format, [sortedEntries(format, entries)], pages.sink);
          for (const batch of batches) {
            if (tree === undefined) return;
            const before = { tree, entries };
            const added = make(batch.added);
            const removed = batch.removed.flatMap((at) => entries[at] ?? []);
            const gone = new Set(removed.map(keyOf));
            entries = [...entries.filter((each) => !gone.has(keyOf(each))), ...added];
            tree = changed(
              await applyChanges(format, tree, { added, removed }, pages.load, pages.sink),
            );
            await check(format, pageBytes, tree, entries, pages);
            if (tree === undefined) return;
            await checkDifference(format, before, { tree, entries }, pages);
          }
        }),
        runs,
      );
    },
    TIMEOUT,
  );

  test("it is the same whatever the order of a batch", async () => {
    await fc.assert(
      fc.asyncProperty(script, fc.func(fc.integer()), async ({ base, batches }, shuffle) => {
        const pages = new MemoryPages();
        let number = 0;
        const make = (list: readonly (readonly [number, number])[]) =>
          list.map(([place, tick]) => entry(place, tick, number++));
        const entries = make(base);
        const tree = await buildTree(format, [sortedEntries(format, entries)], pages.sink);
        if (tree === undefined) return;
        const added = batches.flatMap((batch) => make(batch.added));
        const removed = batches.flatMap((batch) =>
          batch.removed.flatMap((at) => entries[at] ?? [])
        );
        const mixed = (list: readonly PageEntry[]) =>
          list.map((each) => ({ each, rank: shuffle(keyOf(each)) }))
            .sort((a, b) => a.rank - b.rank).map(({ each }) => each);
        const join = (changes: TreeChanges) =>
          applyChanges(format, tree, changes, pages.load, pages.sink);
        expect(await join({ added: mixed(added), removed: mixed(removed) })).toEqual(
          await join({ added, removed }),
        );
      }),
      runs,
    );
  }, TIMEOUT);

  test("it equals the tree of all entries when it is built anew from merged runs", async () => {
    await fc.assert(
      fc.asyncProperty(script, async ({ base, batches }) => {
        const pages = new MemoryPages();
        let number = 0;
        const make = (list: readonly (readonly [number, number])[]) =>
          list.map(([place, tick]) => entry(place, tick, number++));
        const entries = make(base);
        const tree = await buildTree(format, [sortedEntries(format, entries)], pages.sink);
        if (tree === undefined) return;
        const added = batches.flatMap((batch) => make(batch.added));
        const removed = batches.flatMap((batch) =>
          batch.removed.flatMap((at) => entries[at] ?? [])
        );
        const gone = new Set(removed.map(keyOf));
        const merged = mergeRuns(format, walkLeaves(format, tree, pages.load), { added, removed });
        const kept = sortedEntries(format, entries).filter((each) => !gone.has(keyOf(each)));
        const all = [...kept, ...sortedEntries(format, added)].sort(format.compare);
        expect(await buildTree(format, merged, () => {})).toEqual(
          await buildTree(format, [all], () => {}),
        );
      }),
      runs,
    );
  }, TIMEOUT);
});

const keyOf = ({ bytes }: PageEntry) => bytesKey(bytes);
const keysOf = (entries: Iterable<PageEntry>) => Array.from(entries, keyOf).sort();

function changed(result: Tree | undefined | "old-form"): Tree | undefined {
  if (result === "old-form") throw new Error("pages of the old form");
  return result;
}

/** Checks a tree's entries, its numbers and the size of every page. */
async function check(
  format: TreeFormat<PageEntry>,
  pageBytes: number,
  tree: Tree | undefined,
  entries: readonly PageEntry[],
  pages: MemoryPages,
): Promise<void> {
  if (tree === undefined) {
    expect(entries).toEqual([]);
    return;
  }
  const found: PageEntry[] = [];
  for await (const leaf of walkLeaves(format, tree, pages.load)) found.push(...leaf);
  expect(keysOf(found)).toEqual(keysOf(entries));
  pages.read.length = 0;
  const numbers = await measureTree(format, tree, pages.load);
  expect([tree.pageCount, tree.entryCount, tree.height]).toEqual([
    numbers.pageCount,
    entries.length,
    numbers.height,
  ]);
  expect(tree.fanout ?? 0).toBeGreaterThanOrEqual(numbers.fanout);
  expect(pages.read.filter((page) => (pages.pages.get(page)?.length ?? 0) > pageBytes)).toEqual([]);
}

/** Checks the difference of two trees against that of their lists. */
async function checkDifference(
  format: TreeFormat<PageEntry>,
  before: { readonly tree: Tree; readonly entries: readonly PageEntry[] },
  after: { readonly tree: Tree; readonly entries: readonly PageEntry[] },
  pages: MemoryPages,
): Promise<void> {
  const old = new Set(before.entries.map(keyOf));
  const own = new Set(after.entries.map(keyOf));
  const expected = {
    added: keysOf(after.entries.filter((each) => !old.has(keyOf(each)))),
    removed: keysOf(before.entries.filter((each) => !own.has(keyOf(each)))),
  };
  for (
    const [base, side] of [
      [{ tree: before.tree }, { tree: after.tree }],
      [{ entries: before.entries }, { tree: after.tree }],
      [{ tree: before.tree }, { entries: after.entries }],
    ] as const
  ) {
    const { added, removed } = await collectDifference(format, base, side, pages.load);
    expect({ added: keysOf(added), removed: keysOf(removed) }).toEqual(expected);
  }
}
