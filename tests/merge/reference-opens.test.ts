import { expect, test } from "bun:test";
import { FileConnector } from "../../src/store/file.ts";
import { describeWithReference } from "../support/describe-reference.ts";
import { backendUrl, scratchFolder } from "../support/fixtures.ts";
import { oracle } from "../support/reference.ts";
import { anchorAt, rowAt, rowsFrom } from "../support/rows.ts";
import { StoreBuilder } from "../support/store-builder.ts";
import type { FieldSpec } from "../support/store-fields.ts";
import { findDefects } from "../support/store-reader.ts";

const FIELDS: Readonly<Record<string, FieldSpec>> = {
  emb: { kind: "embedding" },
  exact: { kind: "embedding", rerank: true },
  layer: { kind: "embedding", layerOver: "emb" },
  image: { kind: "image", mime: "jpeg" },
  packed: { kind: "image", mime: "png", packed: true },
  cat: { kind: "categorical" },
  flag: { kind: "bool", unpacked: true },
  num: { kind: "int" },
  score: { kind: "float" },
  text: { kind: "string" },
  seen: { kind: "timestamp" },
  title: { kind: "constant", value: "a test" },
};

/** A store with all fields, two branches, a deletion and a compaction. */
async function sampleStore(folder: string) {
  const store = await StoreBuilder.create({
    connector: new FileConnector(backendUrl(folder)),
    fields: FIELDS,
  });
  const { fields } = store;
  await store.append("trunk", rowsFrom(fields, 0, 6));
  await store.append("trunk", rowsFrom(fields, 6, 10));
  await store.branch("w0");
  await store.branch("w1");
  await store.append("w0", rowsFrom(fields, 100, 108));
  await store.append("w1", rowsFrom(fields, 200, 205));
  await store.delete("w1", [anchorAt(3), anchorAt(201)], "blurred");
  // A Layer that grows twice on one side names another exact parent, and is refused.
  await store.compact("w0", ["emb", "exact"]);
  await store.append("w0", [rowAt(fields, 110, 1, { layer: undefined })]);
  return store;
}

describeWithReference("the reference and the stores of these tests", () => {
  test("the reference reads from a built store what was written", async () => {
    const folder = scratchFolder();
    const store = await sampleStore(folder);
    const backend = backendUrl(folder);
    for (
      const [ref, indexes] of [
        ["trunk", range(0, 10)],
        ["w0", [...range(0, 10), ...range(100, 108), 110]],
      ] as const
    ) {
      expect(await findDefects(store.connector, await store.tip(ref))).toEqual([]);
      const dump = await oracle("dump", backend, ref);
      expect(dump.doubled).toEqual([]);
      expect(dump.anchors).toEqual(indexes.map((index) => String(anchorAt(index))));
      const records = Object.entries(dump.records);
      expect(records).toHaveLength(indexes.length);
      for (const [anchor, record] of records) {
        const index = Number((BigInt(anchor) - anchorAt(0)) / 33_333_333n);
        expect(record["cat"]).toBe(["red", "green", "blue"][index % 3] ?? "");
        expect(record["num"]).toBe(index % 7 - 3);
        expect(record["emb"]).toEqual([Math.fround(1 + index / 7), index % 5, -1, 0.25]);
      }
    }
    const seen = await oracle("dump", backend, "w1");
    expect(seen.anchors).toEqual(
      [...range(0, 10), ...range(200, 205)].filter((index) => index !== 3 && index !== 201)
        .map((index) => String(anchorAt(index))),
    );
    expect(await oracle("constant", backend, "trunk", "title")).toBe("a test");
  }, 60_000);

  test(
    "the reference reads, grows, compacts and merges on top of a merge of such a store",
    async () => {
      const folder = scratchFolder();
      const store = await sampleStore(folder);
      const backend = backendUrl(folder);
      const expected = await oracle("union", backend, "w0", "w1");
      const report = await store.merge(["w0", "w1"]);
      expect(report.refusals).toEqual([]);
      expect(report.status).toBe("merged");
      expect(await findDefects(store.connector, await store.tip("trunk"))).toEqual([]);
      expect((await oracle("dump", backend, "trunk")).doubled).toEqual([]);
      const hidden = [anchorAt(3), anchorAt(201)].map(String);
      expect((await oracle("summary", backend, "trunk")).anchors)
        .toEqual(expected.anchors.filter((anchor) => !hidden.includes(anchor)));
      await oracle("compact", backend, "trunk");
      expect((await oracle("dump", backend, "trunk")).anchors)
        .toEqual(expected.anchors.filter((anchor) => !hidden.includes(anchor)));
    },
    60_000,
  );
});

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, step) => from + step);
}
