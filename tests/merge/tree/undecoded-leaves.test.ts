import { describe, expect, test } from "bun:test";
import fc from "fast-check";

import { bytesKey } from "../../../src/encoding/bytes.ts";
import { applyChanges } from "../../../src/merge/tree/apply.ts";
import { buildTree } from "../../../src/merge/tree/build.ts";
import { collectDifference } from "../../../src/merge/tree/diff.ts";
import { indexFormat } from "../../../src/merge/tree/index-format.ts";
import { sortedEntries } from "../../../src/merge/tree/tree-format.ts";
import type { Tree, TreeFormat } from "../../../src/merge/tree/tree-format.ts";
import type { PageEntry } from "../../../src/model/page-entry.ts";
import { MemoryPages, spatialEntry } from "./memory-pages.ts";

const PAGE_BYTES = 900;
const TIMEOUT = 60_000;
const runs = { numRuns: 60 };

/** A format that reads leaves as bytes, and how often that was enough; and one that decodes them. */
function formats() {
  const decoding = indexFormat("spatial-bucket", "m", PAGE_BYTES);
  const { compareLeaves, growLeaf } = indexFormat("spatial-bucket", "m", PAGE_BYTES);
  const settled = { compared: 0, grown: 0, cut: 0 };
  const undecoded: TreeFormat<PageEntry> = {
    ...decoding,
    async compareLeaves(base, side, load) {
      const found = await compareLeaves?.(base, side, load);
      if (found !== undefined) settled.compared++;
      return found;
    },
    async growLeaf(child, added, load) {
      const leaves = await growLeaf?.(child, added, load);
      if (leaves?.length === 1) settled.grown++;
      else if (leaves !== undefined) settled.cut++;
      return leaves;
    },
  };
  // Leaves out both, so that every leaf is decoded.
  const { compareLeaves: _compare, growLeaf: _grow, ...plain } = decoding;
  return { undecoded, plain, settled };
}

/** How far apart starts are, in nanoseconds: with one anchor, in minutes, in years. */
const SCALES = [1n, 1_000_000_007n, 31_556_952_000_000_000n] as const;

type Place = readonly [cell: number, tick: number, number: number];

/** A few cells and ticks give ties, regions over several leaves and the same entry twice. */
const place = fc.tuple(fc.nat(40), fc.nat(20), fc.nat(3));
const size = { size: "medium" as const };
const story = fc.record({
  base: fc.array(place, { minLength: 1, maxLength: 150, ...size }),
  batches: fc.array(
    fc.record({
      added: fc.array(place, { maxLength: 20, ...size }),
      removed: fc.array(fc.nat(200), { maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 3 },
  ),
});

const keysOf = (entries: readonly PageEntry[]) =>
  entries.map(({ bytes }) => bytesKey(bytes)).sort();

describe.each(SCALES)("leaves that are not decoded, starts %p ns apart", (scale) => {
  const make = (places: readonly Place[]) =>
    places.map(([cell, tick, number]) =>
      spatialEntry(cell.toString(2).padStart(6, "0"), BigInt(tick) * scale, number)
    );

  test("become the pages that decoded ones become", async () => {
    const { undecoded, plain, settled } = formats();
    await fc.assert(
      fc.asyncProperty(story, async ({ base, batches }) => {
        const pages = new MemoryPages();
        let tree = await buildTree(plain, [sortedEntries(plain, make(base))], pages.sink);
        for (const batch of batches) {
          if (tree === undefined) return;
          const changes = { added: make(batch.added), removed: [] };
          const [own, other] = [new MemoryPages(), new MemoryPages()];
          const grown = await applyChanges(undecoded, tree, changes, pages.load, own.sink);
          const decoded = await applyChanges(plain, tree, changes, pages.load, other.sink);
          expect(grown).toEqual(decoded);
          expect([...own.pages.keys()].sort()).toEqual([...other.pages.keys()].sort());
          for (const [address, bytes] of own.pages) pages.pages.set(address, bytes);
          tree = decoded as Tree;
        }
      }),
      runs,
    );
    expect(settled.grown).toBeGreaterThan(50);
    if (scale < SCALES[2]) expect(settled.cut).toBeGreaterThan(50);
  }, TIMEOUT);

  test("tell what decoded ones tell", async () => {
    const { undecoded, plain, settled } = formats();
    await fc.assert(
      fc.asyncProperty(story, async ({ base, batches }) => {
        const pages = new MemoryPages();
        const entries = make(base);
        const first = await buildTree(plain, [sortedEntries(plain, entries)], pages.sink);
        const trees = first === undefined ? [] : [first];
        for (const { added, removed } of batches) {
          const last = trees.at(-1);
          if (last === undefined) return;
          const gone = removed.flatMap((at) => entries[at] ?? []);
          const changes = { added: make(added), removed: gone };
          const tree = await applyChanges(plain, last, changes, pages.load, pages.sink);
          if (tree !== undefined && tree !== "old-form") trees.push(tree);
        }
        for (const before of trees) {
          for (const after of trees) {
            const difference = async (format: TreeFormat<PageEntry>) => {
              const found = await collectDifference(
                format,
                { tree: before },
                { tree: after },
                pages.load,
              );
              return { added: keysOf(found.added), removed: keysOf(found.removed) };
            };
            expect(await difference(undecoded)).toEqual(await difference(plain));
          }
        }
      }),
      runs,
    );
    expect(settled.compared).toBeGreaterThan(100);
  }, TIMEOUT);
});
