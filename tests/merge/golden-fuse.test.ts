import { expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { mergeMany } from "../../src/merge/merge-many.ts";
import { DEFAULTS } from "../../src/merge/request.ts";
import { FileConnector } from "../../src/store/file.ts";
import { describeWithReference } from "../support/describe-reference.ts";
import {
  backendUrl,
  copyStore,
  projectRoot,
  scratchFolder,
  unpackFixture,
} from "../support/fixtures.ts";
import { oracle } from "../support/reference.ts";
import { rowAt } from "../support/rows.ts";
import { StoreBuilder } from "../support/store-builder.ts";
import type { FieldSpec, Row } from "../support/store-fields.ts";
import { readManifest, readRefDataset } from "../support/store-reader.ts";
import { range } from "./merging.ts";

setDefaultTimeout(300_000);

interface Expected {
  readonly name: string;
  readonly store: string;
  readonly trunk: string;
  readonly branches: readonly string[];
  readonly golden?: { readonly fuse?: Readonly<Record<string, string>> };
}

const withGolden = (JSON.parse(
  readFileSync(join(projectRoot, "fixtures/golden/expected.json"), "utf8"),
) as readonly Expected[]).filter(({ golden }) => golden?.fuse !== undefined);

async function embeddings(folder: string, ref: string): Promise<Record<string, string>> {
  const connector = new FileConnector(backendUrl(folder));
  const tip = await connector.readRef(ref);
  if (tip === undefined) throw new Error(`no ref ${ref}`);
  const { tracks } = await readManifest(connector, tip);
  return Object.fromEntries(
    tracks.active.flatMap(({ field, modality, address }) =>
      field !== undefined && modality.startsWith("embedding.") ? [[field, address]] : []
    ),
  );
}

test("the golden stores have such scenarios", () => {
  expect(withGolden.map(({ name }) => name)).toContain("empty-base-same-cell");
});

test.each(withGolden.map((one) => [one.name, one] as const))(
  "fused as the reference compacts: %s",
  async (_, { store, trunk, branches, golden }) => {
    const folder = copyStore(join(unpackFixture("golden/stores"), store, "store"));
    const report = await mergeMany(
      { ref: trunk, picks: new Map(), ...DEFAULTS, branches },
      {
        connector: new FileConnector(backendUrl(folder)),
        concurrency: 8,
        now: () => BigInt(Date.now()) * 1_000_000n,
        random: () => 0,
        pause: () => Promise.resolve(),
        version: "0.0.0-test",
      },
    );
    expect(report.refusals).toEqual([]);
    expect(await embeddings(folder, trunk)).toEqual({ ...golden?.fuse });
  },
);

describeWithReference("what is fused of branches from an empty trunk", () => {
  const fields = {
    plain: { kind: "embedding" },
    exact: { kind: "embedding", rerank: true },
    coded: { kind: "embedding", compressorSeed: 5 },
    both: { kind: "embedding", compressorSeed: 5, rerank: true },
    capped: { kind: "embedding", bucketMaxBytes: 1_048_576 },
    cat: { kind: "categorical" },
  } as const satisfies Readonly<Record<string, FieldSpec>>;

  const slices: readonly [string, (branch: number, known: StoreBuilder<FileConnector>) => Row[]][] =
    [
      [
        "slices one after another",
        (branch, { fields: known }) =>
          range(0, 12).map((step) => rowAt(known, 100 * branch + step, step % 3)),
      ],
      [
        "slices that interleave, each batch backwards",
        (branch, { fields: known }) =>
          range(0, 12).map((step) => rowAt(known, 3 * (12 - step) + branch, step % 4)),
      ],
      [
        "cells that only some branches have",
        (branch, { fields: known }) =>
          range(0, 8).map((step) => rowAt(known, 100 * branch + step, step < 4 ? 1 : 5 + branch)),
      ],
    ];

  test.each(slices)("is what the reference compacts its own merge to: %s", async (_, rowsOf) => {
    const ours = scratchFolder();
    const store = await StoreBuilder.create({
      connector: new FileConnector(backendUrl(ours)),
      fields,
    });
    const branches = ["w0", "w1", "w2"];
    for (const [index, branch] of branches.entries()) {
      await store.branch(branch);
      await store.append(branch, rowsOf(index, store));
    }
    const theirs = join(scratchFolder(), "store");
    cpSync(ours, theirs, { recursive: true });
    await oracle("merge", backendUrl(theirs), "trunk", ...branches);
    await oracle("compact", backendUrl(theirs), "trunk");

    const report = await store.merge(branches);
    expect(report.refusals).toEqual([]);
    expect(await embeddings(ours, "trunk")).toEqual(await embeddings(theirs, "trunk"));
    const reference = new FileConnector(backendUrl(theirs));
    const records = (connector: FileConnector) =>
      readRefDataset(connector, "trunk").then((dataset) => [...dataset.records]);
    expect(await records(store.connector)).toEqual(await records(reference));
  });
});
