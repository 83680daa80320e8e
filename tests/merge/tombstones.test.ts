import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { addressFromBytes } from "../../src/encoding/address.ts";
import { decodeTombstoneHead } from "../../src/model/tombstones.ts";
import { tombstonePath } from "../../src/store/paths.ts";
import { anchorAt, indexOfAnchor, rowAt, rowsFrom } from "../support/rows.ts";
import type { StoreBuilder } from "../support/store-builder.ts";
import { readRefDataset, readStored } from "../support/store-reader.ts";
import { expectMerged, FIELDS, forked, snapshot } from "./merging.ts";

setDefaultTimeout(60_000);

const ONE_FIELD = { num: FIELDS.num } as const;

async function deletedOn(store: StoreBuilder, ref = "trunk") {
  return [...(await readRefDataset(store.connector, ref)).deleted].map(indexOfAnchor)
    .sort((a, b) => a - b);
}

async function headOf(store: StoreBuilder, ref: string) {
  const entry = (await store.manifest(ref)).registry.get("dreamdb.tombstones");
  const head = entry instanceof Map ? entry.get("head") : undefined;
  return head instanceof Uint8Array ? addressFromBytes(head) : undefined;
}

describe("deletions of all sides count", () => {
  const deletionsOf: readonly [string, Readonly<Record<string, readonly number[]>>, number[]][] = [
    ["nobody's", {}, []],
    ["trunk's", { trunk: [1] }, [1]],
    ["one branch's", { w0: [1] }, [1]],
    ["two branches'", { w0: [1], w1: [2] }, [1, 2]],
    ["of one record, twice", { w0: [1], w1: [1] }, [1]],
    ["everybody's", { trunk: [0], w0: [1], w1: [2] }, [0, 1, 2]],
    ["of a record that nobody has", { w0: [500] }, [500]],
  ];
  test.each(deletionsOf)("%s", async (_, deletions, expected) => {
    const store = await forked(2, ONE_FIELD);
    for (const [ref, indexes] of Object.entries(deletions)) {
      await store.delete(ref, indexes.map(anchorAt));
    }
    await store.append("w0", [rowAt(store.fields, 10)]);
    await store.append("w1", [rowAt(store.fields, 20)]);
    expectMerged(await store.merge(["w0", "w1"]));
    expect(await deletedOn(store)).toEqual(expected);
  });

  test("deletions before the fork are not lost", async () => {
    const store = await forked(0, ONE_FIELD);
    await store.delete("trunk", [anchorAt(0)]);
    await store.branch("w0");
    await store.branch("w1");
    await store.delete("w0", [anchorAt(1)]);
    await store.append("w1", [rowAt(store.fields, 20)]);
    expectMerged(await store.merge(["w0", "w1"]));
    expect(await deletedOn(store)).toEqual([0, 1]);
    await store.delete("w1", [anchorAt(2)]);
    expectMerged(await store.merge(["w1"]));
    expect(await deletedOn(store)).toEqual([0, 1, 2]);
  });
});

describe("the joined head", () => {
  test("is one index with all heads as sorted parents and no tree of its own", async () => {
    const store = await forked(3, ONE_FIELD);
    for (const [index, ref] of ["w0", "w1", "w2"].entries()) {
      await store.delete(ref, [anchorAt(index)]);
    }
    const heads = await Promise.all(["w0", "w1", "w2"].map((ref) => headOf(store, ref)));
    expectMerged(await store.merge(["w0", "w1", "w2"]));
    const address = await headOf(store, "trunk");
    if (address === undefined) throw new Error("no head");
    const head = decodeTombstoneHead(
      await readStored(store.connector, tombstonePath(address), address),
    );
    expect(head).toMatchObject({ form: "index", root: undefined, timeline: store.timeline });
    expect(head.parents.toSorted()).toEqual(heads.flatMap((one) => one ?? []).toSorted());
  });

  test("is a side's own when no other side changed its head", async () => {
    const store = await forked(2, ONE_FIELD);
    await store.delete("w0", [anchorAt(1)]);
    await store.append("w1", [rowAt(store.fields, 20)]);
    expectMerged(await store.merge(["w0", "w1"]));
    expect(await headOf(store, "trunk")).toBe(await headOf(store, "w0"));
  });
});

describe("a deletion beside an addition", () => {
  test("hides it, and is reported with the sides that deleted", async () => {
    const store = await forked(2, ONE_FIELD);
    await store.append("w0", rowsFrom(store.fields, 10, 14));
    await store.delete("w1", [anchorAt(12), anchorAt(50)]);
    const report = expectMerged(await store.merge(["w0", "w1"]));
    expect(report.warnings).toMatchObject([{
      code: "deleted-on-one-side",
      field: "num",
      sides: ["w1"],
      anchors: [anchorAt(12)],
      anchorCount: 1,
    }]);
    expect(await deletedOn(store)).toEqual([12, 50]);
  });

  test("on the same branch is nothing to report", async () => {
    const store = await forked(2, ONE_FIELD);
    await store.append("w0", rowsFrom(store.fields, 10, 14));
    await store.delete("w0", [anchorAt(12)]);
    await store.append("w1", rowsFrom(store.fields, 20, 24));
    expect(expectMerged(await store.merge(["w0", "w1"])).warnings).toEqual([]);
  });
});

describe("a head that cannot be read", () => {
  const spoil: readonly [string, string, (store: StoreBuilder, path: string) => void][] = [
    ["missing", "object-missing", (store, path) => store.connector.objects.delete(path)],
    ["damaged", "hash-mismatch", (store, path) => {
      const bytes = store.connector.objects.get(path);
      if (bytes !== undefined) bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    }],
  ];
  for (const side of ["trunk", "w0"]) {
    test.each(spoil)(
      `%s on ${side} is a fault before anything is written`,
      async (_, code, act) => {
        const store = await forked(1, ONE_FIELD);
        await store.delete(side, [anchorAt(1)]);
        await store.append("trunk", [rowAt(store.fields, 10)]);
        await store.append("w0", [rowAt(store.fields, 20)]);
        const head = await headOf(store, side);
        if (head === undefined) throw new Error("no head");
        act(store, tombstonePath(head));
        const before = snapshot(store);
        await expect(store.merge(["w0"])).rejects.toMatchObject({ code });
        expect(snapshot(store)).toBe(before);
      },
    );
  }

  test("a registry entry that is not a map with a head is a fault, not an empty list", async () => {
    const store = await forked(1, ONE_FIELD);
    await store.append("w0", [rowAt(store.fields, 20)]);
    await store.setRegistry("w0", "dreamdb.tombstones", "none");
    await expect(store.merge(["w0"])).rejects.toMatchObject({ code: "malformed-object" });
  });
});
