import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { manifestPath } from "../../src/store/paths.ts";
import { rowAt } from "../support/rows.ts";
import { StoreBuilder } from "../support/store-builder.ts";
import { expectMerged, expectTrunk, FIELDS, forked, refusalsOf, snapshot } from "./merging.ts";

setDefaultTimeout(60_000);

const ONE_FIELD = { num: FIELDS.num } as const;

test("all missing refs are named at once", async () => {
  const store = await forked(1, ONE_FIELD);
  await expect(store.merge(["w0", "nowhere", "w7"])).rejects.toMatchObject({
    code: "ref-missing",
    fault: { names: ["nowhere", "w7"] },
  });
});

test("trunk among the branches, and no branch at all, are usage faults", async () => {
  const store = await forked(1, ONE_FIELD);
  for (const branches of [["w0", "trunk"], []]) {
    await expect(store.merge(branches)).rejects.toMatchObject({ code: "usage" });
  }
});

test("an illegal name is refused before any ref is read", async () => {
  const store = await forked(1, ONE_FIELD);
  store.connector.readRef = () => Promise.reject(new Error("a ref was read"));
  await expect(store.merge(["w0", "W1"])).rejects.toMatchObject({ code: "invalid-ref-name" });
});

describe("merge bases", () => {
  /** w0 has merged trunk, and trunk w0, each from where the other had been. */
  const crossed = async () => {
    const store = await forked(1, ONE_FIELD);
    await store.append("trunk", [rowAt(store.fields, 10)]);
    await store.append("w0", [rowAt(store.fields, 20)]);
    await store.branch("old-trunk");
    await store.branch("old-w0", "w0");
    expectMerged(await store.merge(["old-w0"]));
    expectMerged(await store.merge(["old-trunk"], { ref: "w0" }));
    return store;
  };

  test("two of them are refused, both named", async () => {
    const store = await crossed();
    const before = snapshot(store);
    const report = await store.merge(["w0"]);
    expect(refusalsOf(report)).toEqual(["ambiguous-merge-base trunk+w0"]);
    expect(report.refusals[0]?.addresses?.toSorted()).toEqual(
      [await store.tip("old-trunk"), await store.tip("old-w0")].toSorted(),
    );
    expect(snapshot(store)).toBe(before);
  });

  test("one behind the other is one", async () => {
    const store = await forked(2, ONE_FIELD);
    await store.append("trunk", [rowAt(store.fields, 10)]);
    await store.branch("middle");
    await store.append("w0", [rowAt(store.fields, 20)]);
    await store.append("w1", [rowAt(store.fields, 30)]);
    expectMerged(await store.merge(["w1"]));
    expectMerged(await store.merge(["middle"], { ref: "w0" }));
    const report = expectMerged(await store.merge(["w0"]));
    expect(report.mergeBase).toEqual([await store.tip("middle")]);
    await expectTrunk(store, [0, 1, 2, 3, 10, 20, 30]);
  });

  test("none are refused, and among related branches too", async () => {
    const store = await forked(1, ONE_FIELD);
    const other = await StoreBuilder.inMemory(ONE_FIELD);
    await other.append("trunk", [rowAt(store.fields, 50)]);
    for (const [path, bytes] of other.connector.objects) {
      await store.connector.putIfAbsent(path, bytes);
    }
    await store.append("trunk", [rowAt(store.fields, 10)]);
    await store.append("w0", [rowAt(store.fields, 20)]);
    await store.branch("alone");
    await store.move("alone", await other.tip("trunk"));
    const manifest = await store.manifest("alone");
    await store.move("alone", await store.putManifest({ ...manifest, parents: [] }));
    expect(refusalsOf(await store.merge(["w0", "alone"])))
      .toEqual(["no-common-ancestor trunk+alone"]);
  });

  test("too far away are refused, with the bound and the side", async () => {
    const store = await forked(1, ONE_FIELD);
    for (let step = 0; step < 4; step++) await store.setRegistry("w0", "dreamdb.title", `${step}`);
    await store.append("trunk", [rowAt(store.fields, 10)]);
    expect(refusalsOf(await store.merge(["w0"], { maxDepth: 3 }))).toEqual(["depth-bound w0"]);
    expectMerged(await store.merge(["w0"], { maxDepth: 4 }));
  });
});

describe("history that was collected", () => {
  test("behind the base is no matter", async () => {
    const store = await forked(1, ONE_FIELD);
    const [first] = (await store.manifest("trunk")).parents;
    await store.append("trunk", [rowAt(store.fields, 10)]);
    await store.append("w0", [rowAt(store.fields, 20)]);
    if (first !== undefined) store.connector.objects.delete(manifestPath(first));
    expect(expectMerged(await store.merge(["w0"])).warnings).toEqual([]);
  });

  test("between a tip and the base is damage, and nothing is written", async () => {
    const store = await forked(1, ONE_FIELD);
    const base = await store.tip("trunk");
    await store.append("trunk", [rowAt(store.fields, 10)]);
    await store.append("w0", [rowAt(store.fields, 20)]);
    store.connector.objects.delete(manifestPath(base));
    const before = snapshot(store);
    await expect(store.merge(["w0"])).rejects.toMatchObject({ code: "object-missing" });
    expect(snapshot(store)).toBe(before);
  });
});
