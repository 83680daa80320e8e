import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { addressBytes } from "../../src/encoding/address.ts";
import { anchorAt, blob, embedded, rowAt, rowsFrom } from "../support/rows.ts";
import type { StoreBuilder } from "../support/store-builder.ts";
import type { FieldValue } from "../support/store-fields.ts";
import {
  expectMerged,
  expectTrunk,
  FIELDS,
  forked,
  only,
  range,
  recordsOf,
  refusalOf,
  refusalsOf,
  snapshot,
} from "./merging.ts";

setDefaultTimeout(60_000);

const ORDERS = [["w0", "w1"], ["w1", "w0"]] as const;

type Values = Readonly<Record<string, FieldValue | undefined>>;

/** Values other than those that follow from the anchor. */
const OTHER: Values = {
  emb: embedded(99, 3),
  image: blob(99),
  cat: "violet",
  num: 77n,
  matrix: blob(98),
};

describe("an anchor that two sides added is refused", () => {
  const kinds: readonly { name: string; field: string; first: Values; second: Values }[] = [
    { name: "in one cell", field: "emb", first: {}, second: { emb: embedded(99, 2) } },
    { name: "in two cells", field: "emb", first: {}, second: { emb: embedded(10, 3) } },
    { name: "with equal vectors", field: "emb", first: {}, second: {} },
    { name: "as a Fragment", field: "image", first: {}, second: { image: blob(99) } },
    { name: "as an equal Fragment", field: "image", first: {}, second: {} },
    { name: "under two values", field: "cat", first: {}, second: { cat: "violet" } },
    { name: "under one value", field: "cat", first: {}, second: {} },
    { name: "under two numbers", field: "num", first: {}, second: { num: 77n } },
    { name: "as an array item", field: "matrix", first: {}, second: { matrix: blob(99) } },
  ];
  test.each(kinds.map((kind) => [kind.name, kind] as const))("%s", async (_, kind) => {
    const store = await forked(2);
    await store.append("w0", only([rowAt(store.fields, 10, 2, kind.first)], kind.field));
    await store.append("w1", only([rowAt(store.fields, 10, 2, kind.second)], kind.field));
    const before = snapshot(store);
    const report = await store.merge(["w0", "w1"]);
    expect(refusalsOf(report)).toEqual([`duplicate-anchor ${kind.field} w0+w1`]);
    expect(refusalOf(report, kind.field)).toMatchObject({
      anchors: [anchorAt(10)],
      anchorCount: 1,
    });
    expect(snapshot(store)).toBe(before);
  });

  test("trunk and a branch", async () => {
    const store = await forked(1);
    await store.append("trunk", [rowAt(store.fields, 10)]);
    await store.append("w0", [rowAt(store.fields, 10, 2, OTHER)]);
    expect(refusalsOf(await store.merge(["w0"]))).toEqual(
      ["cat", "emb", "image", "matrix", "num"].map((field) => `duplicate-anchor ${field} trunk+w0`),
    );
  });

  test("a branch re-appends what the base has, and trunk stood still", async () => {
    const store = await forked(1);
    await store.append("w0", [rowAt(store.fields, 2, 2, OTHER)]);
    expect(refusalsOf(await store.merge(["w0"]))).toEqual(
      ["cat", "emb", "image", "matrix", "num"].map((field) => `duplicate-anchor ${field} trunk+w0`),
    );
  });

  test("a branch compacts and then re-appends what the base has", async () => {
    const store = await forked(2, { emb: FIELDS.emb });
    await store.append("w0", rowsFrom(store.fields, 10, 14));
    await store.compact("w0");
    await store.append("w0", [rowAt(store.fields, 2, 2, { emb: embedded(99, 2) })]);
    await store.append("w1", rowsFrom(store.fields, 20, 24));
    for (const allowIdentical of [false, true]) {
      const report = await store.merge(["w0", "w1"], { allowIdentical });
      expect(refusalsOf(report)).toEqual(["duplicate-anchor emb trunk+w0"]);
      expect(refusalOf(report, "emb").anchors).toEqual([anchorAt(2)]);
    }
  });

  test("what trunk gained in an earlier round", async () => {
    const store = await forked(2);
    await store.append("w0", [rowAt(store.fields, 10)]);
    await store.append("w1", [rowAt(store.fields, 20)]);
    expectMerged(await store.merge(["w0", "w1"]));
    await store.append("w1", [rowAt(store.fields, 10, 2, OTHER)]);
    const report = await store.merge(["w1"]);
    expect(refusalOf(report, "emb").anchors).toEqual([anchorAt(10)]);
    expect(refusalOf(report, "num").anchors).toEqual([anchorAt(10)]);
  });

  test("also when it is deleted", async () => {
    const store = await forked(2);
    await store.append("w0", [rowAt(store.fields, 10)]);
    await store.delete("w0", [anchorAt(10)]);
    await store.append("w1", [rowAt(store.fields, 10)]);
    expect(refusalsOf(await store.merge(["w0", "w1"])))
      .toContain("duplicate-anchor emb w0+w1");
  });

  test("the refusal lists a hundred anchors, counts all, and names cells", async () => {
    const store = await forked(2, { emb: FIELDS.emb });
    await store.append("w0", rowsFrom(store.fields, 100, 250, 1));
    await store.append("w1", rowsFrom(store.fields, 100, 260, 2));
    const refusal = refusalOf(await store.merge(["w0", "w1"]), "emb");
    expect(refusal.anchorCount).toBe(150);
    expect(refusal.anchors).toEqual(range(100, 200).map(anchorAt));
    expect(refusal.cells).toEqual(["00000000000000000001", "00000000000000000010"]);
  });
});

describe("an anchor that is in two entries but was added once is accepted", () => {
  test("history that two branches share", async () => {
    const store = await forked(1);
    await store.append("w0", rowsFrom(store.fields, 10, 14));
    await store.branch("w1", "w0");
    await store.append("w0", [rowAt(store.fields, 30)]);
    await store.append("w1", [rowAt(store.fields, 40)]);
    expectMerged(await store.merge(["w0", "w1"]));
    await expectTrunk(store, [...range(0, 4), ...range(10, 14), 30, 40]);
  });

  test("a branch of a branch that compacted what they share", async () => {
    const store = await forked(1);
    await store.append("w0", rowsFrom(store.fields, 10, 14, 1));
    await store.branch("w1", "w0");
    await store.append("w0", [rowAt(store.fields, 30, 1)]);
    await store.append("w1", [rowAt(store.fields, 40, 1)]);
    await store.compact("w1");
    expectMerged(await store.merge(["w0", "w1"]));
    await expectTrunk(store, [...range(0, 4), ...range(10, 14), 30, 40]);
  });

  test("both compacted what they share", async () => {
    const store = await forked(1);
    await store.append("w0", rowsFrom(store.fields, 10, 14, 1));
    await store.branch("w1", "w0");
    await store.append("w0", [rowAt(store.fields, 30, 1)]);
    await store.compact("w0");
    await store.append("w1", [rowAt(store.fields, 40, 1)]);
    await store.compact("w1");
    expectMerged(await store.merge(["w0", "w1"]));
    await expectTrunk(store, [...range(0, 4), ...range(10, 14), 30, 40]);
  });

  test("a branch's compaction holds records of the base", async () => {
    const store = await forked(2);
    await store.append("w0", rowsFrom(store.fields, 10, 14));
    await store.compact("w0");
    await store.append("w1", rowsFrom(store.fields, 20, 24));
    expectMerged(await store.merge(["w0", "w1"]));
    await expectTrunk(store, [...range(0, 4), ...range(10, 14), ...range(20, 24)]);
  });

  test("one anchor in two fields", async () => {
    const store = await forked(2, { emb: FIELDS.emb, image: FIELDS.image });
    await store.append("w0", only([rowAt(store.fields, 10)], "emb"));
    await store.append("w1", only([rowAt(store.fields, 10)], "image"));
    expectMerged(await store.merge(["w0", "w1"]));
    expect(await recordsOf(store, "emb")).toEqual([0, 1, 2, 3, 10]);
    expect(await recordsOf(store, "image")).toEqual([0, 1, 2, 3, 10]);
  });

  test("slices that interleave but share no anchor", async () => {
    const store = await forked(2);
    await store.append("w0", [10, 12, 14].map((index) => rowAt(store.fields, index, 1)));
    await store.append("w1", [11, 13, 15].map((index) => rowAt(store.fields, index, 1)));
    expectMerged(await store.merge(["w0", "w1"]));
    await expectTrunk(store, [0, 1, 2, 3, ...range(10, 16)]);
  });
});

describe("records of shared history that one branch has changed", () => {
  const shared = async () => {
    const store = await forked(1, { emb: FIELDS.emb });
    await store.append("w0", rowsFrom(store.fields, 10, 14, 1));
    await store.branch("w1", "w0");
    await store.append("w0", [rowAt(store.fields, 30, 1)]);
    return store;
  };
  test.each(ORDERS)("re-appended there: %s, %s", async (first, second) => {
    const store = await shared();
    await store.append("w1", [rowAt(store.fields, 12, 1, { emb: embedded(99, 1) })]);
    const refusal = refusalOf(await store.merge([first, second]), "emb");
    expect(refusal.code).toBe("duplicate-anchor");
    expect(refusal.anchors).toEqual([anchorAt(12)]);
  });

  test.each(ORDERS)("lost there: %s, %s", async (first, second) => {
    const store = await shared();
    const base = await recordsOf(store, "emb");
    await store.replaceEntries(
      "w1",
      "emb",
      (entries) => entries.filter(({ start }) => start < anchorAt(base.length)),
    );
    await store.append("w1", [rowAt(store.fields, 40, 1)]);
    const refusal = refusalOf(await store.merge([first, second]), "emb");
    expect(refusal.code).toBe("records-missing");
    expect(refusal.anchors).toEqual(range(10, 14).map(anchorAt));
  });

  test("compacted there, and added once more by a third branch", async () => {
    const store = await shared();
    await store.append("w1", [rowAt(store.fields, 40, 1)]);
    await store.compact("w1");
    await store.branch("w2");
    await store.append("w2", rowsFrom(store.fields, 10, 14, 1));
    for (const order of [["w0", "w1", "w2"], ["w2", "w1", "w0"]]) {
      const refusal = refusalOf(await store.merge(order), "emb");
      expect(refusal.code).toBe("duplicate-anchor");
      expect(refusal.anchors).toEqual(range(10, 14).map(anchorAt));
    }
    expectMerged(await store.merge(["w0", "w1", "w2"], { allowIdentical: true }));
    await expectTrunk(store, [...range(0, 4), ...range(10, 14), 30, 40]);
  });
});

describe("records that were rewritten in shared history, and again behind it", () => {
  /** w2 is forked from w0, which holds w1 fused with its own; w0 then rewrites that. */
  const rewritten = async () => {
    const store = await forked(2);
    await store.append("w0", rowsFrom(store.fields, 10, 14, 1));
    await store.append("w1", rowsFrom(store.fields, 20, 24, 1));
    expectMerged(await store.merge(["w1"], { ref: "w0", buckets: "fuse" }));
    await store.branch("w2", "w0");
    await store.append("w0", rowsFrom(store.fields, 30, 32, 1));
    await store.compact("w0");
    await store.append("w2", rowsFrom(store.fields, 40, 42, 1));
    return store;
  };
  const rows = [["w0", "w1", "w2"], ["w2", "w1", "w0"], ["w1", "w0", "w2"]].map((row) => [row]);
  test.each(rows)("count once: %j", async (branches) => {
    const store = await rewritten();
    expectMerged(await store.merge(branches));
    const all = [range(0, 4), range(10, 14), range(20, 24), range(30, 32), range(40, 42)].flat();
    await expectTrunk(store, all);
  });

  test.each(rows)("but not a record that is added once more: %j", async (branches) => {
    const store = await rewritten();
    await store.branch("w3");
    await store.append("w3", rowsFrom(store.fields, 21, 22, 1));
    const refusal = refusalOf(await store.merge([...branches, "w3"]), "emb");
    expect([refusal.code, refusal.anchors]).toEqual(["duplicate-anchor", [anchorAt(21)]]);
  });
});

describe("branches that share history but have different bases merge", () => {
  /** w0 is what w2 and trunk are together, trunk having rewritten its base since w2 was forked. */
  const joined = async (buckets: "fuse" | "keep") => {
    const store = await forked(2);
    await store.append("trunk", rowsFrom(store.fields, 4, 8));
    await store.branch("w2");
    await store.compact("trunk");
    await store.append("w2", rowsFrom(store.fields, 10, 14));
    expectMerged(await store.merge(["w2", "trunk"], { ref: "w0", buckets }));
    await store.append("trunk", rowsFrom(store.fields, 20, 22));
    await store.append("w1", rowsFrom(store.fields, 30, 32));
    return store;
  };
  const common = [...range(0, 8), ...range(10, 14), ...range(20, 22)];
  const rows = [
    [["w0", "w2"], common],
    [["w2", "w0"], common],
    [["w0", "w1", "w2"], [...common, ...range(30, 32)]],
    [["w2", "w1", "w0"], [...common, ...range(30, 32)]],
  ] as const;
  for (const buckets of ["fuse", "keep"] as const) {
    test.each(rows)(`%j, --buckets=${buckets}`, async (branches, records) => {
      const store = await joined(buckets);
      expectMerged(await store.merge(branches, { buckets }));
      await expectTrunk(store, records);
    });

    test(`bases that are both newer than the history they share, --buckets=${buckets}`, async () => {
      const store = await joined(buckets);
      expectMerged(await store.merge(["w2", "trunk"], { ref: "w1", buckets }));
      await store.append("w0", rowsFrom(store.fields, 40, 42));
      for (const order of [["w0", "w1"], ["w1", "w0"]]) {
        const tip = await store.tip("trunk");
        expectMerged(await store.merge(order, { buckets }));
        await expectTrunk(store, [...common, ...range(30, 32), ...range(40, 42)]);
        store.connector.refs.set("trunk", addressBytes(tip));
      }
    });
  }
});

describe("equal Items are taken once when that is allowed", () => {
  const cases: readonly {
    readonly name: string;
    readonly prepare: (store: StoreBuilder) => Promise<void>;
    readonly result: readonly number[];
  }[] = [
    {
      name: "one batch on two branches",
      async prepare(store) {
        await store.append("w0", rowsFrom(store.fields, 10, 16, 1));
        await store.append("w1", rowsFrom(store.fields, 10, 16, 1));
      },
      result: range(10, 16),
    },
    {
      name: "overlapping batches",
      async prepare(store) {
        await store.append("w0", rowsFrom(store.fields, 10, 16, 1));
        await store.append("w1", rowsFrom(store.fields, 13, 20, 1));
      },
      result: range(10, 20),
    },
    {
      name: "one slice in other batches",
      async prepare(store) {
        await store.append("w0", rowsFrom(store.fields, 10, 16, 1));
        await store.append("w1", rowsFrom(store.fields, 10, 12, 1));
        await store.append("w1", rowsFrom(store.fields, 12, 16, 1));
      },
      result: range(10, 16),
    },
    {
      name: "what the base has",
      async prepare(store) {
        await store.append("w0", rowsFrom(store.fields, 2, 8));
        await store.append("w1", rowsFrom(store.fields, 20, 24));
      },
      result: [...range(4, 8), ...range(20, 24)],
    },
    {
      name: "what the base has, record for record in a batch of its own",
      async prepare(store) {
        await store.append("w0", [rowAt(store.fields, 2)]);
        await store.append("w1", rowsFrom(store.fields, 20, 24));
      },
      result: range(20, 24),
    },
    {
      name: "what trunk gained",
      async prepare(store) {
        await store.append("trunk", rowsFrom(store.fields, 10, 16, 1));
        await store.append("w0", rowsFrom(store.fields, 12, 18, 1));
        await store.append("w1", rowsFrom(store.fields, 14, 19, 1));
      },
      result: range(10, 19),
    },
    {
      name: "beside a compaction",
      async prepare(store) {
        await store.append("w0", rowsFrom(store.fields, 10, 16, 1));
        await store.compact("w0");
        await store.append("w1", rowsFrom(store.fields, 12, 18, 1));
      },
      result: range(10, 18),
    },
  ];
  test.each(cases.map((one) => [one.name, one] as const))("%s", async (_, { prepare, result }) => {
    for (const order of [["w0", "w1"], ["w1", "w0"]]) {
      const store = await forked(2);
      await prepare(store);
      const report = expectMerged(await store.merge(order, { allowIdentical: true }));
      expect(report.warnings.map(({ code }) => code)).toContain("identical-items");
      await expectTrunk(store, [...range(0, 4), ...result]);
    }
  });

  test("a branch that is only ahead of trunk", async () => {
    const store = await forked(1);
    await store.append("w0", rowsFrom(store.fields, 2, 8));
    expectMerged(await store.merge(["w0"], { allowIdentical: true }));
    await expectTrunk(store, range(0, 8));
  });

  test("a Fragment that is packed on one branch and not on the other", async () => {
    const store = await forked(2, { image: FIELDS.image }, 0);
    const { fields } = store;
    await store.append("w0", rowsFrom(fields, 10, 13));
    fields.set("image", { kind: "image", mime: "jpeg", packed: true });
    await store.append("w1", rowsFrom(fields, 11, 15));
    expectMerged(await store.merge(["w0", "w1"], { allowIdentical: true }));
    await expectTrunk(store, range(10, 15));
  });

  test("but not when one of them differs", async () => {
    const store = await forked(2, { emb: FIELDS.emb });
    await store.append("w0", rowsFrom(store.fields, 10, 16, 1));
    await store.append("w1", [rowAt(store.fields, 12, 1), rowAt(store.fields, 13, 1, OTHER)]);
    const refusal = refusalOf(await store.merge(["w0", "w1"], { allowIdentical: true }), "emb");
    expect(refusal.anchors).toEqual([anchorAt(13)]);
  });

  test("not side by side, where they would count twice", async () => {
    const store = await forked(2, { emb: FIELDS.emb, cat: FIELDS.cat });
    await store.append("w0", rowsFrom(store.fields, 10, 16, 1));
    await store.append("w1", rowsFrom(store.fields, 13, 20, 1));
    const options = { allowIdentical: true, buckets: "keep" } as const;
    const report = await store.merge(["w0", "w1"], options);
    expect(refusalsOf(report)).toEqual([
      "duplicate-anchor cat w0+w1",
      "duplicate-anchor emb w0+w1",
    ]);
    expect(report.refusals.every(({ next }) => next.includes("--buckets=fuse"))).toBe(true);
  });

  test("side by side when whole batches are equal", async () => {
    const store = await forked(2);
    await store.append("w0", rowsFrom(store.fields, 10, 16));
    await store.append("w1", rowsFrom(store.fields, 10, 16));
    const options = { allowIdentical: true, buckets: "keep" } as const;
    expectMerged(await store.merge(["w0", "w1"], options));
    await expectTrunk(store, [...range(0, 4), ...range(10, 16)]);
  });
});
