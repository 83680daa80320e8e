import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { encodedTracksLength, MAX_TRACKS_BYTES } from "../../src/model/manifest.ts";
import { MAX_U64 } from "../../src/model/coverage.ts";
import { referenceKey, referenceTo } from "../../src/model/binding.ts";
import { rowAt, rowsFrom } from "../support/rows.ts";
import { StoreBuilder } from "../support/store-builder.ts";
import type { FieldSpec } from "../support/store-fields.ts";
import { findDefects } from "../support/store-reader.ts";
import {
  addressesOf,
  expectMerged,
  expectTrunk,
  FIELDS,
  forked,
  only,
  permutations,
  range,
  refusalsOf,
  snapshot,
} from "./merging.ts";

setDefaultTimeout(60_000);

const LAYERED = { emb: FIELDS.emb, layer: { kind: "embedding", layerOver: "emb" } } as const;

async function grown(branches = 3) {
  const store = await forked(branches);
  for (const index of range(0, branches)) {
    await store.append(`w${index}`, rowsFrom(store.fields, 100 * index + 10, 100 * index + 16));
  }
  return store;
}

describe("the merged Manifest", () => {
  test("has trunk's tip and then the branches as they were named for parents", async () => {
    const store = await grown();
    const tips = await Promise.all(["trunk", "w2", "w0", "w1"].map((ref) => store.tip(ref)));
    const report = expectMerged(await store.merge(["w2", "w0", "w1"]));
    expect((await store.manifest("trunk")).parents).toEqual(tips);
    expect(report.parents).toEqual(tips);
    expect(report.manifest).toBe(await store.tip("trunk"));
  });

  test.each(
    [
      ["of now", 1_900_000_000_000_000_000n, undefined, 1_900_000_000_000_000_000n],
      ["one more than the newest parent's when the clock is behind", 5n, 77n, 78n],
      ["one more than the newest parent's when the clock says the same", 77n, 77n, 78n],
      ["the largest number there is at most", 5n, MAX_U64, MAX_U64],
    ] as const,
  )("has the time %s", async (_, now, newest, expected) => {
    const store = await StoreBuilder.inMemory({ num: FIELDS.num });
    if (newest !== undefined) await store.commit("trunk", { operation: "old", ts: 3n });
    await store.branch("w0");
    await store.branch("w1");
    const change = { operation: "set_meta", ...newest === undefined ? {} : { ts: newest } };
    await store.commit("w0", change);
    await store.commit("w1", { ...change, operation: "other" });
    expectMerged(await store.merge(["w0", "w1"], {}, { now: () => now }));
    expect((await store.manifest("trunk")).ts).toBe(expected);
  });

  test("has a writer that readers know", async () => {
    const store = await grown();
    await store.merge(["w0", "w1"]);
    expect((await store.manifest("trunk")).writer).toBe(
      "dreamdb-writer/1;sdk=typescript%2Fdreamdb;version=0.0.0-test;operation=union-merge",
    );
  });

  test("of a Legacy store is Legacy, with the writer of its time", async () => {
    const store = await StoreBuilder.inMemory(FIELDS, { form: "legacy" });
    await store.append("trunk", rowsFrom(store.fields, 0, 4));
    await store.branch("w0");
    await store.branch("w1");
    await store.append("w0", rowsFrom(store.fields, 10, 14));
    await store.append("w1", rowsFrom(store.fields, 20, 24));
    expectMerged(await store.merge(["w0", "w1"]));
    const { writer, tracks } = await store.manifest("trunk");
    expect(writer).toBe("dreamdb-dataset/0.1#trunk#union-merge");
    expect(tracks.form).toBe("legacy");
    await expectTrunk(store, [...range(0, 4), ...range(10, 14), ...range(20, 24)]);
  });

  test("of sides in two forms is refused", async () => {
    const store = await forked(1);
    const manifest = await store.manifest("w0");
    const { active } = manifest.tracks;
    const legacy = { ...manifest, ts: manifest.ts + 1n, parents: [await store.tip("w0")] };
    await store.move(
      "w0",
      await store.putManifest({ ...legacy, tracks: { form: "legacy", active } }),
    );
    await store.append("trunk", [rowAt(store.fields, 10)]);
    expect(refusalsOf(await store.merge(["w0"]))).toEqual(["manifest-form-differs trunk+w0"]);
  });
});

describe("lineage", () => {
  test("a joined base field has no edge, one that one side changed keeps its chain", async () => {
    const store = await forked(2);
    await store.append("w0", rowsFrom(store.fields, 10, 14));
    await store.append("w1", only(rowsFrom(store.fields, 20, 24), "cat", "num"));
    expectMerged(await store.merge(["w0", "w1"]));
    const { tracks } = await store.manifest("trunk");
    if (tracks.form === "legacy") throw new Error("not a lineage form");
    const chained = new Set(tracks.edges.map(({ child }) => child.field));
    expect([...chained].sort()).toEqual(["emb", "image", "matrix"]);
    const own = (await store.manifest("w0")).tracks;
    if (own.form === "legacy") throw new Error("not a lineage form");
    const keys = (bindings: typeof own.lineage) =>
      bindings.filter(({ field }) => field === "emb").map((one) => referenceKey(referenceTo(one)));
    expect(keys(tracks.lineage)).toEqual(keys(own.lineage));
  });

  test("a Layer that two branches grew from one parent is joined, with an edge to it", async () => {
    const store = await forked(2, LAYERED);
    const parent = (await store.manifest("trunk")).tracks.active
      .find(({ field }) => field === "layer");
    await store.append("w0", rowsFrom(store.fields, 10, 14, 1));
    await store.append("w1", rowsFrom(store.fields, 20, 24, 1));
    expectMerged(await store.merge(["w0", "w1"]));
    const { tracks } = await store.manifest("trunk");
    if (tracks.form === "legacy" || parent === undefined) throw new Error("no Layer");
    const layer = tracks.active.find(({ field }) => field === "layer");
    expect(layer?.role).toBe(parent.role);
    expect(tracks.edges.find(({ child }) => child.address === layer?.address)?.exactParent)
      .toEqual(referenceTo(parent));
    await expectTrunk(store, [...range(0, 4), ...range(10, 14), ...range(20, 24)]);
  });

  test("a Layer that grew twice on one side is refused", async () => {
    const store = await forked(2, LAYERED);
    await store.append("w0", rowsFrom(store.fields, 10, 14, 1));
    await store.append("w0", rowsFrom(store.fields, 14, 16, 1));
    await store.append("w1", rowsFrom(store.fields, 20, 24, 1));
    expect(refusalsOf(await store.merge(["w0", "w1"])))
      .toEqual(["layer-parent-differs layer w0+w1"]);
  });

  test("a Layer that one side grew, however often, is taken with its chain", async () => {
    const store = await forked(2, LAYERED);
    await store.append("w0", rowsFrom(store.fields, 10, 14, 1));
    await store.append("w0", rowsFrom(store.fields, 14, 16, 1));
    await store.append("w1", only(rowsFrom(store.fields, 20, 24, 1), "emb"));
    expectMerged(await store.merge(["w0", "w1"]));
    expect(await findDefects(store.connector, await store.tip("trunk"))).toEqual([]);
  });
});

describe("the bound of the tracks map", () => {
  /** A store whose merge has a tracks map of `length` bytes: long field names fill it up. */
  async function storeOf(length: number) {
    const fields = (padding: number): Record<string, FieldSpec> => ({
      num: FIELDS.num,
      ...Object.fromEntries(
        range(0, 4).map((index): [string, FieldSpec] => [
          `f${index}${"x".repeat(250_000 + (index === 3 ? padding : 0))}`,
          { kind: "image", mime: `m${index}` },
        ]),
      ),
    });
    const build = async (padding: number) => {
      const store = await StoreBuilder.inMemory(fields(padding));
      await store.branch("w0");
      await store.branch("w1");
      await store.append("w0", only(rowsFrom(store.fields, 10, 12), "num"));
      await store.append("w1", only(rowsFrom(store.fields, 20, 22), "num"));
      return store;
    };
    const probe = await build(0);
    expectMerged(await probe.merge(["w0", "w1"]));
    const { tracks } = await probe.manifest("trunk");
    // A padding of this size does not change the length of any head.
    return await build(length - encodedTracksLength(tracks));
  }

  test("1,048,576 bytes are written", async () => {
    const store = await storeOf(MAX_TRACKS_BYTES);
    expectMerged(await store.merge(["w0", "w1"]));
    expect(encodedTracksLength((await store.manifest("trunk")).tracks)).toBe(MAX_TRACKS_BYTES);
  });

  test("one byte more is refused before anything is written", async () => {
    const store = await storeOf(MAX_TRACKS_BYTES + 1);
    const before = snapshot(store);
    expect(refusalsOf(await store.merge(["w0", "w1"]))).toEqual(["tracks-too-large "]);
    expect(snapshot(store)).toBe(before);
  });
});

describe("whatever the order of the branches", () => {
  const stories: readonly [
    string,
    () => Promise<StoreBuilder>,
    Parameters<
      StoreBuilder["merge"]
    >[1],
  ][] = [
    ["disjoint slices", () => grown(), {}],
    ["disjoint slices side by side", () => grown(), { buckets: "keep" }],
    ["one cell and one time range", async () => {
      const store = await forked(3);
      for (const index of range(0, 3)) {
        const rows = range(0, 5).map((step) => rowAt(store.fields, 10 + 3 * step + index, 1));
        await store.append(`w${index}`, rows);
      }
      return store;
    }, {}],
    ["equal batches, allowed", async () => {
      const store = await forked(3);
      for (const index of range(0, 3)) {
        await store.append(`w${index}`, rowsFrom(store.fields, 10, 14 + index, 1));
      }
      return store;
    }, { allowIdentical: true }],
    ["compactions", async () => {
      const store = await forked(3);
      for (const index of range(0, 3)) {
        await store.append(
          `w${index}`,
          rowsFrom(store.fields, 10 + 10 * index, 14 + 10 * index, 1),
        );
        if (index < 2) await store.compact(`w${index}`);
      }
      return store;
    }, {}],
    ["a branch of a branch", async () => {
      const store = await forked(2);
      await store.append("w0", rowsFrom(store.fields, 10, 14, 1));
      await store.branch("w2", "w0");
      await store.append("w0", rowsFrom(store.fields, 20, 24, 1));
      await store.append("w1", rowsFrom(store.fields, 30, 34, 1));
      await store.append("w2", rowsFrom(store.fields, 40, 44, 1));
      return store;
    }, {}],
  ];
  test.each(stories)("the Tracks are the same: %s", async (_, prepare, request) => {
    const results = new Set<string>();
    for (const order of permutations(["w0", "w1", "w2"])) {
      const store = await prepare();
      expectMerged(await store.merge(order, request));
      results.add(JSON.stringify(await addressesOf(store)));
    }
    expect(results.size).toBe(1);
  });
});

describe("a merge that has nothing to do", () => {
  test("a second run writes nothing", async () => {
    const store = await grown();
    await store.merge(["w0", "w1", "w2"]);
    const before = snapshot(store);
    const report = await store.merge(["w0", "w1", "w2"]);
    expect(report.status).toBe("already-merged");
    expect(report.branches.map(({ state }) => state))
      .toEqual(["already-merged", "already-merged", "already-merged"]);
    expect(report.written).toEqual({ objects: 0, pages: 0, bytes: 0 });
    expect(snapshot(store)).toBe(before);
  });

  test("a dry run plans the same and writes nothing", async () => {
    const store = await grown();
    const before = snapshot(store);
    const dry = await store.merge(["w0", "w1", "w2"], { dryRun: true });
    expect(dry).toMatchObject({ status: "merged", dryRun: true, manifest: null });
    expect(dry.trunk.after).toBeNull();
    expect(dry.written).toEqual({ objects: 0, pages: 0, bytes: 0 });
    expect(snapshot(store)).toBe(before);
    const done = await store.merge(["w0", "w1", "w2"]);
    const essence = (report: typeof done) =>
      report.fields.map(({ field, action, entriesAdded }) => ({ field, action, entriesAdded }));
    expect(essence(dry)).toEqual(essence(done));
  });

  test("only a branch ahead of trunk is left: trunk moves forward to it", async () => {
    const store = await grown(2);
    await store.merge(["w0"]);
    const tip = await store.tip("w0");
    expect(await store.tip("trunk")).toBe(tip);
    await store.branch("same", "w0");
    const report = await store.merge(["same", "w0"]);
    expect(report.status).toBe("already-merged");
    expect(report.branches.map(({ state }) => state)).toEqual(["same-tip", "same-tip"]);
  });

  test("a contained branch, a second name and trunk's own tip are no parents", async () => {
    const store = await grown(3);
    await store.merge(["w0", "w1"]);
    await store.branch("again", "w2");
    await store.branch("tip");
    const report = expectMerged(
      await store.merge(["w0", "w2", "again", "tip", "w1"]).then(
        async (first) => {
          expect(first.branches.map(({ state }) => state)).toEqual([
            "already-merged",
            "merged",
            "repeated",
            "same-tip",
            "already-merged",
          ]);
          return first;
        },
      ),
    );
    expect(report.parents).toEqual([report.trunk.before, await store.tip("w2")]);
  });
});

describe("what a merge asks of the store", () => {
  test("each Manifest once, none behind the base, each Track once", async () => {
    const store = await forked(0);
    for (const index of range(0, 6)) await store.append("trunk", [rowAt(store.fields, 10 + index)]);
    for (const index of range(0, 3)) {
      await store.branch(`w${index}`);
      await store.append(`w${index}`, [rowAt(store.fields, 100 + index, 3)]);
    }
    await store.append("trunk", [rowAt(store.fields, 200, 3)]);
    const report = await store.merge(["w0", "w1", "w2"], { dryRun: true, buckets: "keep" });
    // Trunk, the base and three branches.
    expect(report.read.requests.manifest).toBe(5);
    expect(report.read.requests.track).toBe(5 * Object.keys(FIELDS).length);
    // Disjoint in time: nothing of the payload is looked at.
    expect(report.read.requests.bucket).toBe(0);
  });
});
