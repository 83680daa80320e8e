import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { applyChanges } from "../../../src/merge/tree/apply.ts";
import { buildTree } from "../../../src/merge/tree/build.ts";
import { btreeIndex, pagedIndex, treeOf } from "../../../src/merge/tree/descriptor.ts";
import { collectDifference } from "../../../src/merge/tree/diff.ts";
import { mergeRuns } from "../../../src/merge/tree/merge-runs.ts";
import type { PageLoader, Tree } from "../../../src/merge/tree/tree-format.ts";
import { videoKeyFormat } from "../../../src/merge/tree/video-key-format.ts";
import { measureTree, walkLeaves } from "../../../src/merge/tree/walk.ts";
import type { Track, TrackIndex } from "../../../src/model/track.ts";
import {
  allEntries,
  formatOf,
  histories,
  historyOf,
  keysOf,
  loaderOf,
  sourceOf,
  treeIn,
} from "./histories.ts";

/** Some of these trees have 45,000 entries. */
const TIMEOUT = 60_000;

const table = histories.map((history) => [history.name, history] as const);

describe("a walk finds what the descriptor says", () => {
  test.each(table)("%s", async (_name, history) => {
    let walked = 0;
    for (const { track } of history.versions) {
      const tree = treeIn(track);
      if (tree === undefined) continue;
      const found = await measureTree(formatOf(track.modality), tree, loaderOf(history));
      expect([found.pageCount, found.entryCount]).toEqual([tree.pageCount, tree.entryCount]);
      walked++;
    }
    expect(walked).toBeGreaterThan(0);
  }, TIMEOUT);
});

describe("the reference's bulk builds have the same root and numbers here", () => {
  const names = [
    "spatial",
    "fragment",
    "event",
    "video-item",
    "scalar-btree n",
    "scalar-btree s",
    "scalar-btree f",
  ];
  test.each(names)("%s", async (name) => {
    const history = historyOf(name);
    const trees = history.versions.filter(({ track }) => track.index.form !== "inline");
    // The first tree is built as a whole, and so is every merge of B-trees (PAGED 7).
    const bulk = trees.filter(({ merged }, index) => index === 0 || merged);
    expect(bulk.length).toBe(name.startsWith("scalar") ? 3 : 1);
    for (const { track } of bulk) {
      const entries = await allEntries(track, history);
      const tree = await buildTree(formatOf(track.modality), [entries], () => {});
      expect(descriptor(track, tree)).toEqual(track.index);
    }
  }, TIMEOUT);
});

describe("the reference's appends and merges have the same root and numbers here", () => {
  const names = [
    "spatial",
    "fragment",
    "event",
    "paged-spatial emb",
    "paged-fragment img",
  ];
  test.each(names)("%s", async (name) => {
    const history = historyOf(name);
    const load = loaderOf(history);
    const steps: string[] = [];
    for (const [index, { track }] of history.versions.entries()) {
      const before = history.versions[index - 1];
      const from = before === undefined ? undefined : treeIn(before.track);
      const to = treeIn(track);
      if (from === undefined || to === undefined) continue;
      const format = formatOf(track.modality);
      const changes = await collectDifference(format, { tree: from }, { tree: to }, load);
      const tree = await applyChanges(format, from, changes, load, () => {});
      if (tree === "old-form") throw new Error(`${name} has pages of the old form`);
      steps.push(`+${changes.added.length} -${changes.removed.length}`);
      expect(descriptor(track, tree)).toEqual(track.index);
    }
    console.log(`${name}: ${steps.join(", ")}`);
    expect(steps.length).toBeGreaterThan(0);
  }, TIMEOUT);
});

describe("the difference of a version and the one before is that of their entries as sets", () => {
  test.each(table)("%s", async (_name, history) => {
    let old = new Set<string>();
    for (const [index, { track }] of history.versions.entries()) {
      const format = formatOf(track.modality);
      const load = loaderOf(history);
      const own = new Set(keysOf(await allEntries(track, history)));
      const before = history.versions[index - 1]?.track;
      const source = before === undefined ? { entries: [] } : sourceOf(before);
      const found = await collectDifference(format, source, sourceOf(track), load);
      expect(keysOf(found.added)).toEqual([...own].filter((key) => !old.has(key)));
      expect(keysOf(found.removed)).toEqual([...old].filter((key) => !own.has(key)));
      old = own;
    }
  }, TIMEOUT);
});

test("the reference's bulk build of an index by key has the same root and numbers here", async () => {
  const { folder, versions } = historyOf("video-item");
  const index = versions[0]?.track.itemKeyIndex;
  if (index?.form !== "paged") throw new Error("not paged");
  const load: PageLoader = (page) =>
    Promise.resolve(new Uint8Array(readFileSync(join(folder, "video-item-key-index", page))));
  const format = videoKeyFormat();
  const tree = await buildTree(format, walkLeaves(format, treeOf(index), load), () => {});
  expect(tree === undefined ? undefined : pagedIndex(tree)).toEqual(index);
});

test("a rebuild of changes into a tree equals a build of all entries", async () => {
  const history = historyOf("spatial");
  const [first, , last] = history.versions;
  const from = first === undefined ? undefined : treeIn(first.track);
  const to = last === undefined ? undefined : treeIn(last.track);
  if (last === undefined || from === undefined || to === undefined) throw new Error("no trees");
  const format = formatOf(last.track.modality);
  const load = loaderOf(history);
  const changes = await collectDifference(format, { tree: from }, { tree: to }, load);
  const runs = mergeRuns(format, walkLeaves(format, from, load), changes);
  const entries = (await allEntries(last.track, history)).sort(format.compare);
  expect(await buildTree(format, runs, () => {})).toEqual(
    await buildTree(format, [entries], () => {}),
  );
});

function descriptor(track: Track, tree: Tree | undefined): TrackIndex | undefined {
  if (tree === undefined) return undefined;
  return track.index.form === "paged" ? pagedIndex(tree) : btreeIndex(tree);
}
