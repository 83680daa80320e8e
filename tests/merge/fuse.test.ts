import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { addressOf } from "../../src/encoding/address.ts";
import { encodeAnchorArray } from "../../src/model/scalar-bucket.ts";
import { bucketAnchors, decodeSpatialBucket } from "../../src/model/spatial-bucket.ts";
import { bucketPath, cellPath } from "../../src/store/paths.ts";
import { anchorAt, rowAt, rowsFrom } from "../support/rows.ts";
import type { StoreBuilder } from "../support/store-builder.ts";
import { cellName } from "../support/store-fields.ts";
import { readRefDataset, readStored } from "../support/store-reader.ts";
import { expectMerged, expectTrunk, FIELDS, forked, range, refusalsOf } from "./merging.ts";

setDefaultTimeout(60_000);

const EMBEDDING = { emb: FIELDS.emb } as const;
const MEBIBYTE = 1_048_576;

async function entriesOf(store: StoreBuilder, field: string) {
  return (await readRefDataset(store.connector, "trunk")).entries.get(field) ?? [];
}

function fieldReport(report: Awaited<ReturnType<StoreBuilder["merge"]>>, field: string) {
  const found = report.fields.find((one) => one.field === field);
  if (found === undefined) throw new Error(`no report of ${field}`);
  return found;
}

/** The anchors' numbers of each bucket of `field`, in the order they are stored. */
async function bucketsOf(store: StoreBuilder, field: string): Promise<number[][]> {
  const buckets = [];
  for (const { address, group } of await entriesOf(store, field)) {
    const cell = new TextDecoder().decode(group);
    const path = cellPath(store.timeline, store.modality(field), cell, address);
    const bucket = decodeSpatialBucket(await readStored(store.connector, path, address));
    buckets.push(
      [...bucketAnchors(bucket)].map((anchor) => Number((anchor - anchorAt(0)) / 33_333_333n)),
    );
  }
  return buckets;
}

describe("cells", () => {
  test("that two sides changed get one bucket of what was added, in anchor order", async () => {
    const store = await forked(2, EMBEDDING, 0);
    await store.append("trunk", rowsFrom(store.fields, 0, 3, 1));
    await store.branch("v0");
    await store.branch("v1");
    await store.append("v0", [14, 12, 10].map((index) => rowAt(store.fields, index, 1)));
    await store.append("v1", [11, 13].map((index) => rowAt(store.fields, index, 1)));
    const report = expectMerged(await store.merge(["v0", "v1"]));
    expect(await bucketsOf(store, "emb")).toEqual([[0, 1, 2], [10, 11, 12, 13, 14]]);
    expect(fieldReport(report, "emb")).toMatchObject({ bucketsFused: 2, bucketsWritten: 1 });
  });

  test("that only one side changed stay as they are", async () => {
    const store = await forked(2, EMBEDDING, 0);
    await store.append("w0", rowsFrom(store.fields, 10, 12, 1));
    await store.append("w0", rowsFrom(store.fields, 12, 14, 1));
    await store.append("w1", rowsFrom(store.fields, 20, 22, 2));
    const report = expectMerged(await store.merge(["w0", "w1"]));
    expect(await bucketsOf(store, "emb")).toEqual([[10, 11], [12, 13], [20, 21]]);
    expect(fieldReport(report, "emb")).toMatchObject({ bucketsFused: 0, bucketsWritten: 0 });
  });

  test("trunk's own additions since the fork are fused too", async () => {
    const store = await forked(1, EMBEDDING, 0);
    await store.append("trunk", [rowAt(store.fields, 5, 1)]);
    await store.append("w0", [rowAt(store.fields, 4, 1)]);
    expectMerged(await store.merge(["w0"]));
    expect(await bucketsOf(store, "emb")).toEqual([[4, 5]]);
  });

  test("every round adds one bucket, also to cells that an earlier round fused", async () => {
    const store = await forked(2, { emb: FIELDS.emb, cat: FIELDS.cat }, 0);
    for (let round = 1; round <= 4; round++) {
      const from = round * 100;
      await store.append("w0", rowsFrom(store.fields, from, from + 3, 1));
      await store.append("w1", rowsFrom(store.fields, from + 10, from + 13, 1));
      expectMerged(await store.merge(["w0", "w1"]));
      expect(await bucketsOf(store, "emb")).toHaveLength(round);
      expect(await entriesOf(store, "cat")).toHaveLength(3 * round);
    }
    await expectTrunk(
      store,
      range(1, 5).flatMap((round) => [
        ...range(round * 100, round * 100 + 3),
        ...range(round * 100 + 10, round * 100 + 13),
      ]),
    );
  });

  test("of two branches are fused beside trunk's compaction", async () => {
    const store = await forked(2, EMBEDDING, 0);
    await store.append("trunk", rowsFrom(store.fields, 0, 2, 1));
    await store.append("trunk", rowsFrom(store.fields, 2, 4, 1));
    await store.branch("v0");
    await store.branch("v1");
    await store.compact("trunk");
    await store.append("v0", [rowAt(store.fields, 10, 1)]);
    await store.append("v1", [rowAt(store.fields, 11, 1)]);
    expectMerged(await store.merge(["v0", "v1"]));
    expect(await bucketsOf(store, "emb")).toEqual([[0, 1, 2, 3], [10, 11]]);
  });

  test("side by side with --buckets=keep, and no payload is written", async () => {
    const store = await forked(2, EMBEDDING, 0);
    await store.append("w0", [rowAt(store.fields, 10, 1)]);
    await store.append("w1", [rowAt(store.fields, 11, 1)]);
    const before = [...store.connector.objects.keys()].filter((path) => path.includes("/0"));
    expectMerged(await store.merge(["w0", "w1"], { buckets: "keep" }));
    expect(await bucketsOf(store, "emb")).toEqual([[10], [11]]);
    const after = [...store.connector.objects.keys()].filter((path) => path.includes("/0"));
    expect(after).toEqual(before);
  });
});

describe("bucket sizes", () => {
  // Records of 24 bytes: 43,690 of them fill a bucket of one mebibyte.
  const CAPPED = { emb: { kind: "embedding", bucketMaxBytes: MEBIBYTE } } as const;
  const PER_BUCKET = Math.floor(MEBIBYTE / 24);

  test("a bucket above half the cap is left alone", async () => {
    const store = await forked(3, CAPPED, 0);
    await store.append("w0", rowsFrom(store.fields, 0, PER_BUCKET / 2 + 100, 1));
    await store.append("w1", rowsFrom(store.fields, 100_000, 100_010, 1));
    await store.append("w2", rowsFrom(store.fields, 200_000, 200_010, 1));
    expectMerged(await store.merge(["w0", "w1", "w2"]));
    expect((await bucketsOf(store, "emb")).map(({ length }) => length)).toEqual([21_945, 20]);
  });

  test("what exceeds the cap is cut in anchor order", async () => {
    const store = await forked(3, CAPPED, 0);
    const half = 20_000;
    for (const [index, ref] of ["w0", "w1", "w2"].entries()) {
      const rows = Array.from({ length: half }, (_, step) => step * 3 + index);
      await store.append(ref, rows.map((row) => rowAt(store.fields, row, 1)));
    }
    expectMerged(await store.merge(["w0", "w1", "w2"]));
    const buckets = await bucketsOf(store, "emb");
    expect(buckets.map(({ length }) => length)).toEqual([PER_BUCKET, 60_000 - PER_BUCKET]);
    expect(buckets.flat()).toEqual(range(0, 60_000));
  });
});

describe("what belongs to buckets", () => {
  test("sidecars of exact vectors follow in the order of the records", async () => {
    const store = await forked(2, { emb: { kind: "embedding", rerank: true } }, 2);
    await store.append("w0", [12, 10].map((index) => rowAt(store.fields, index, 1)));
    await store.append("w1", [11, 13].map((index) => rowAt(store.fields, index, 1)));
    const wanted = new Map<bigint, string>();
    for (const ref of ["w0", "w1"]) {
      for (
        const { anchor, value } of (await readRefDataset(store.connector, ref)).records
          .get("emb") ?? []
      ) wanted.set(anchor, value);
    }
    expectMerged(await store.merge(["w0", "w1"]));
    const { records } = await readRefDataset(store.connector, "trunk");
    expect(new Map(records.get("emb")?.map(({ anchor, value }) => [anchor, value])))
      .toEqual(wanted);
    expect(await bucketsOf(store, "emb")).toContainEqual([10, 11, 12, 13]);
    await expectTrunk(store, [0, 1, 10, 11, 12, 13]);
  });

  test("codes are copied and the compressor stays named", async () => {
    const fields = { emb: { kind: "embedding", rerank: true, compressorSeed: 3 } } as const;
    const store = await forked(2, fields, 0);
    await store.append("w0", rowsFrom(store.fields, 10, 12, 1));
    await store.append("w1", rowsFrom(store.fields, 20, 22, 1));
    expectMerged(await store.merge(["w0", "w1"]));
    const [entry] = await entriesOf(store, "emb");
    if (entry === undefined) throw new Error("no entry");
    const path = cellPath(store.timeline, store.modality("emb"), cellName(1), entry.address);
    const bucket = decodeSpatialBucket(
      await readStored(store.connector, path, entry.address),
    );
    expect(bucket.compressor).toBeDefined();
    expect(bucket.recordSize).toBe(13);
    await expectTrunk(store, [10, 11, 20, 21]);
  });

  test("buckets of one cell whose headers differ are damage, not a merge", async () => {
    const store = await forked(2, EMBEDDING, 0);
    await store.append("w0", rowsFrom(store.fields, 10, 12, 1));
    store.fields.set("emb", { kind: "embedding", seed: 2 });
    await store.append("w1", rowsFrom(store.fields, 20, 22, 1));
    await expect(store.merge(["w0", "w1"])).rejects.toMatchObject({ code: "malformed-object" });
  });
});

describe("values of scalars", () => {
  test("that two sides added get one set each, all of them in one pack", async () => {
    const store = await forked(2, { cat: FIELDS.cat }, 0);
    await store.append("w0", rowsFrom(store.fields, 10, 16));
    await store.append("w1", rowsFrom(store.fields, 20, 26));
    const report = expectMerged(await store.merge(["w0", "w1"]));
    const entries = await entriesOf(store, "cat");
    expect(entries).toHaveLength(3);
    expect(new Set(entries.map(({ address }) => address)).size).toBe(1);
    expect(fieldReport(report, "cat")).toMatchObject({ bucketsFused: 6, bucketsWritten: 3 });
    await expectTrunk(store, [...range(10, 16), ...range(20, 26)]);
  });

  test("in the array form of the first releases stay in it", async () => {
    const store = await forked(2, { cat: { kind: "categorical", arrays: true } }, 0);
    await store.append("w0", [rowAt(store.fields, 9)]);
    await store.append("w1", [rowAt(store.fields, 12)]);
    expectMerged(await store.merge(["w0", "w1"]));
    const expected = encodeAnchorArray(BigUint64Array.of(anchorAt(9), anchorAt(12)));
    const path = bucketPath(store.timeline, store.modality("cat"), addressOf(expected));
    expect(store.connector.objects.get(path)).toEqual(expected);
  });

  test("in both forms become the newer one", async () => {
    const store = await forked(2, { flag: { kind: "bool", arrays: true } }, 0);
    await store.append("w0", rowsFrom(store.fields, 10, 14));
    store.fields.set("flag", { kind: "bool", unpacked: true });
    await store.append("w1", rowsFrom(store.fields, 20, 24));
    expectMerged(await store.merge(["w0", "w1"]));
    await expectTrunk(store, [...range(10, 14), ...range(20, 24)]);
  });
});

describe("rewritten cells", () => {
  const rewritten = async () => {
    const store = await forked(2, EMBEDDING, 0);
    await store.append("trunk", rowsFrom(store.fields, 0, 2, 1));
    await store.append("trunk", rowsFrom(store.fields, 2, 4, 1));
    await store.branch("v0");
    await store.branch("v1");
    await store.append("v0", [rowAt(store.fields, 10, 1)]);
    await store.compact("v0");
    await store.append("v1", [rowAt(store.fields, 20, 1)]);
    return store;
  };

  test("on two sides are joined record by record", async () => {
    const store = await rewritten();
    await store.compact("v1");
    expectMerged(await store.merge(["v0", "v1"]));
    expect(await bucketsOf(store, "emb")).toEqual([[0, 1, 2, 3, 10, 20]]);
    await expectTrunk(store, [0, 1, 2, 3, 10, 20]);
  });

  test("on trunk and on a branch are joined record by record", async () => {
    const store = await rewritten();
    await store.append("trunk", [rowAt(store.fields, 30, 1)]);
    await store.compact("trunk");
    expectMerged(await store.merge(["v0", "v1"]));
    await expectTrunk(store, [0, 1, 2, 3, 10, 20, 30]);
  });

  test("on two sides are refused side by side", async () => {
    const store = await rewritten();
    await store.compact("v1");
    const report = await store.merge(["v0", "v1"], { buckets: "keep" });
    expect(refusalsOf(report)).toEqual(["cell-rewritten-twice emb v0+v1"]);
    expect(report.refusals[0]?.next).toContain("--buckets=fuse");
  });

  test.each(["fuse", "keep"] as const)(
    "on one side beside an append elsewhere: %s",
    async (buckets) => {
      const store = await rewritten();
      expectMerged(await store.merge(["v0", "v1"], { buckets }));
      await expectTrunk(store, [0, 1, 2, 3, 10, 20]);
      expect(await bucketsOf(store, "emb")).toHaveLength(2);
    },
  );

  test.each(["fuse", "keep"] as const)(
    "alike on both sides, one of which grew: %s",
    async (buckets) => {
      const store = await forked(2, EMBEDDING, 0);
      await store.append("trunk", rowsFrom(store.fields, 0, 2, 1));
      await store.append("trunk", rowsFrom(store.fields, 2, 4, 1));
      await store.branch("v0");
      await store.branch("v1");
      await store.compact("v0");
      await store.compact("v1");
      await store.append("v1", [rowAt(store.fields, 20, 1)]);
      expectMerged(await store.merge(["v0", "v1"], { buckets }));
      await expectTrunk(store, [0, 1, 2, 3, 20]);
    },
  );

  test("in a second round, after a fuse", async () => {
    const store = await forked(2, EMBEDDING);
    await store.append("w0", rowsFrom(store.fields, 10, 12, 1));
    await store.append("w1", rowsFrom(store.fields, 20, 22, 1));
    expectMerged(await store.merge(["w0", "w1"]));
    await store.append("w0", [rowAt(store.fields, 30, 1)]);
    await store.compact("w0");
    await store.append("w1", [rowAt(store.fields, 40, 1)]);
    expectMerged(await store.merge(["w0", "w1"]));
    await expectTrunk(store, [...range(0, 4), 10, 11, 20, 21, 30, 40]);
  });

  test("without all records are refused, for each kind", async () => {
    for (const field of ["emb", "image", "cat", "num", "matrix"]) {
      const store = await forked(2);
      await store.replaceEntries("w0", field, (entries) => entries.slice(1));
      await store.append("w1", [rowAt(store.fields, 20)]);
      const report = await store.merge(["w0", "w1"]);
      expect(refusalsOf(report)).toEqual([`records-missing ${field} w0`]);
    }
  });

  test("by which trunk lost whole entries are refused, for each kind", async () => {
    for (const field of ["emb", "image", "cat", "num", "matrix"]) {
      const store = await forked(2);
      await store.replaceEntries("trunk", field, (entries) => entries.slice(1));
      await store.append("w0", rowsFrom(store.fields, 10, 12, 1));
      await store.append("w1", [rowAt(store.fields, 20)]);
      const report = await store.merge(["w0", "w1"]);
      expect(refusalsOf(report)).toEqual([`records-missing ${field} trunk`]);
    }
  });

  test("by which a record became another are refused", async () => {
    const store = await rewritten();
    await store.branch("x0");
    const other = await forked(0, EMBEDDING, 0);
    // The same anchors with other vectors, in buckets of another store with the same index.
    await other.append(
      "trunk",
      range(0, 4).map((index) =>
        rowAt(store.fields, index, 1, { emb: { cell: 1, vector: [9, 9, 9, index] } })
      ),
    );
    for (const [path, bytes] of other.connector.objects) {
      await store.connector.putIfAbsent(
        path.replace(other.timeline, store.timeline),
        bytes,
      );
    }
    const forged = (await readRefDataset(other.connector, "trunk")).entries.get("emb") ?? [];
    await store.replaceEntries("x0", "emb", () => forged);
    expect(refusalsOf(await store.merge(["x0", "v1"])))
      .toEqual(["records-missing emb x0"]);
  });
});
