import { describe, expect, setDefaultTimeout, test } from "bun:test";
import type { CborValue } from "../../src/encoding/cbor-value.ts";
import { rowAt } from "../support/rows.ts";
import type { StoreBuilder } from "../support/store-builder.ts";
import { readRefDataset } from "../support/store-reader.ts";
import { expectMerged, expectTrunk, FIELDS, forked, refusalsOf } from "./merging.ts";

setDefaultTimeout(60_000);

const KEY = "dreamdb.description";
const TITLED = { emb: FIELDS.emb, title: { kind: "constant", value: "old" } } as const;

async function set(store: StoreBuilder, ref: string, value: CborValue | null | undefined) {
  // Null leaves the key as it was at the fork, undefined takes it out.
  if (value === null) {
    await store.append(ref, [rowAt(store.fields, ref === "trunk" ? 50 : ref === "w0" ? 60 : 70)]);
  } else await store.setRegistry(ref, KEY, value);
}

describe("a registry key, three-way", () => {
  const REFUSED = Symbol("refused");
  const cases: readonly {
    readonly name: string;
    readonly base: CborValue | undefined;
    readonly trunk: CborValue | null | undefined;
    readonly w0: CborValue | null | undefined;
    readonly w1: CborValue | null | undefined;
    readonly result: CborValue | undefined | typeof REFUSED;
  }[] = [
    { name: "unchanged", base: "a", trunk: null, w0: null, w1: null, result: "a" },
    { name: "set on trunk", base: undefined, trunk: "b", w0: null, w1: null, result: "b" },
    { name: "set on one branch", base: undefined, trunk: null, w0: "b", w1: null, result: "b" },
    { name: "changed on one branch", base: "a", trunk: null, w0: null, w1: "b", result: "b" },
    { name: "changed alike", base: "a", trunk: null, w0: "b", w1: "b", result: "b" },
    { name: "changed alike on all", base: "a", trunk: "b", w0: "b", w1: "b", result: "b" },
    { name: "changed differently", base: "a", trunk: null, w0: "b", w1: "c", result: REFUSED },
    {
      name: "trunk and a branch differ",
      base: "a",
      trunk: "b",
      w0: "c",
      w1: null,
      result: REFUSED,
    },
    {
      name: "removed on a branch",
      base: "a",
      trunk: null,
      w0: undefined,
      w1: null,
      result: undefined,
    },
    {
      name: "removed and changed",
      base: "a",
      trunk: null,
      w0: undefined,
      w1: "b",
      result: REFUSED,
    },
    { name: "changed and back", base: "a", trunk: "b", w0: "a", w1: null, result: "b" },
    {
      name: "a number beyond 2^53",
      base: 1n,
      trunk: null,
      w0: 2n ** 60n,
      w1: null,
      result: 2n ** 60n,
    },
  ];
  test.each(cases.map((one) => [one.name, one] as const))("%s", async (_, one) => {
    const store = await forked(0, { emb: FIELDS.emb });
    if (one.base !== undefined) await store.setRegistry("trunk", KEY, one.base);
    await store.branch("w0");
    await store.branch("w1");
    await set(store, "trunk", one.trunk);
    await set(store, "w0", one.w0);
    await set(store, "w1", one.w1);
    for (const order of [["w0", "w1"], ["w1", "w0"]]) {
      const report = await store.merge(order, { dryRun: true });
      expect(report.refusals.map(({ code, key }) => `${code} ${key}`))
        .toEqual(one.result === REFUSED ? [`registry-differs ${KEY}`] : []);
    }
    if (one.result === REFUSED) return;
    expectMerged(await store.merge(["w0", "w1"]));
    expect((await store.manifest("trunk")).registry.get(KEY)).toEqual(one.result);
  });

  test("a refusal shows the values of all sides", async () => {
    const store = await forked(2, { emb: FIELDS.emb });
    await store.setRegistry("w0", KEY, "one");
    await store.setRegistry("w1", KEY, "two");
    const [refusal] = (await store.merge(["w0", "w1"])).refusals;
    expect(refusal?.message).toContain("one");
    expect(refusal?.message).toContain("two");
  });

  test("an index of a field that was exchanged on a branch is refused although nobody else did", async () => {
    const store = await forked(1);
    await store.append("trunk", [rowAt(store.fields, 50)]);
    const { registry } = await store.manifest("w0");
    const other = await forked(0, { emb: { kind: "embedding", seed: 2 } });
    const value = (await other.manifest("trunk")).registry.get(other.modality("emb"));
    expect(registry.get(store.modality("emb"))).not.toEqual(value);
    await store.setRegistry("w0", store.modality("emb"), value);
    expect(refusalsOf(await store.merge(["w0"]))).toEqual(["spatial-index-differs emb trunk+w0"]);
  });
});

describe("schema", () => {
  test("a field that all branches added alike is taken when trunk stood still", async () => {
    const store = await forked(2);
    await store.addField("w0", "text", { kind: "string" }, [rowAt(store.fields, 10, 1, {
      text: "a",
    })]);
    await store.addField("w1", "text", { kind: "string" });
    await store.append("w1", [rowAt(store.fields, 20)]);
    expectMerged(await store.merge(["w0", "w1"]));
    const { manifest } = await readRefDataset(store.connector, "trunk");
    expect(manifest.tracks.active.map(({ field }) => field)).toContain("text");
    expect(manifest.registry.get("dreamdb.schema"))
      .toEqual((await store.manifest("w0")).registry.get("dreamdb.schema"));
  });

  test.each(
    [
      ["on one of two branches", ["w0"], []],
      ["on all branches while trunk moved", ["w0", "w1"], ["trunk"]],
      ["on trunk only", ["trunk"], []],
    ] as const,
  )("a field %s is refused", async (_, having, moving) => {
    const store = await forked(2);
    for (const ref of having) await store.addField(ref, "text", { kind: "string" });
    store.fields.delete("text");
    for (const ref of moving) await store.append(ref, [rowAt(store.fields, 50)]);
    for (const ref of ["w0", "w1"]) {
      await store.append(ref, [rowAt(store.fields, ref === "w0" ? 60 : 70)]);
    }
    const report = await store.merge(["w0", "w1"]);
    expect(report.refusals.map(({ code, field }) => `${code} ${field}`))
      .toEqual(["field-missing text"]);
  });

  test("a removed field is refused", async () => {
    const store = await forked(2);
    await store.removeField("w0", "num");
    await store.append("w1", [rowAt(store.fields, 20)]);
    const report = await store.merge(["w0", "w1"]);
    expect(report.refusals.map(({ code, field }) => `${code} ${field}`))
      .toEqual(["field-missing num"]);
  });
});

describe("Constants", () => {
  const valueOf = async (store: StoreBuilder) =>
    (await readRefDataset(store.connector, "trunk")).records.get("title")?.[0]?.value;

  test.each(
    [
      ["nobody", {}, "old"],
      ["one branch", { w0: "new" }, "new"],
      ["trunk", { trunk: "new" }, "new"],
      ["two branches alike", { w0: "new", w1: "new" }, "new"],
      ["trunk and a branch alike", { trunk: "new", w1: "new" }, "new"],
    ] as const,
  )("changed by %s", async (_, values, result) => {
    const store = await forked(2, TITLED);
    for (const [ref, value] of Object.entries(values)) {
      await store.setConstant(ref, "title", value);
    }
    await store.append("w0", [rowAt(store.fields, 10)]);
    await store.append("w1", [rowAt(store.fields, 20)]);
    expectMerged(await store.merge(["w0", "w1"]));
    expect(await valueOf(store)).toBe(result);
  });

  test("changed differently is refused, with all values, unless one is picked", async () => {
    for (
      const [pick, result] of [
        [undefined, undefined],
        ["w0", "zero"],
        ["w1", "one"],
        ["trunk", "old"],
        ["w7", undefined],
      ] as const
    ) {
      const store = await forked(2, TITLED);
      await store.setConstant("w0", "title", "zero");
      await store.setConstant("w1", "title", "one");
      const picks = new Map(pick === undefined ? [] : [["title.text", pick]]);
      const report = await store.merge(["w0", "w1"], { picks });
      if (result === undefined) {
        expect(refusalsOf(report)).toEqual(["constant-differs title w0+w1"]);
        expect(report.refusals[0]?.addresses).toHaveLength(2);
        expect(report.refusals[0]?.next).toContain("--pick title.text=");
      } else {
        expectMerged(report);
        expect(await valueOf(store)).toBe(result);
      }
    }
  });

  test("a side that has no value cannot be picked", async () => {
    const store = await forked(2, { emb: FIELDS.emb });
    await store.addField("w0", "title", { kind: "constant", value: "zero" });
    await store.addField("w1", "title", { kind: "constant", value: "one" });
    const picks = new Map([["title.text", "trunk"]]);
    expect(refusalsOf(await store.merge(["w0", "w1"], { picks })))
      .toEqual(["constant-differs title w0+w1"]);
    expectMerged(await store.merge(["w0", "w1"], { picks: new Map([["title.text", "w1"]]) }));
    expect(await valueOf(store)).toBe("one");
    await expectTrunk(store, [0, 1, 2, 3]);
  });
});

test("every refusal of a run is told at once", async () => {
  const store = await forked(2, { ...FIELDS, ...TITLED });
  await store.append("w0", [rowAt(store.fields, 10)]);
  await store.append("w1", [rowAt(store.fields, 10)]);
  await store.setConstant("w0", "title", "zero");
  await store.setConstant("w1", "title", "one");
  await store.setRegistry("w0", KEY, "zero");
  await store.setRegistry("w1", KEY, "one");
  expect(refusalsOf(await store.merge(["w0", "w1"]))).toEqual([
    "constant-differs title w0+w1",
    ...["cat", "emb", "image", "matrix", "num"].map((field) => `duplicate-anchor ${field} w0+w1`),
    "registry-differs trunk+w0+w1",
  ]);
});
