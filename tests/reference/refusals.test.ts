import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { mergeMany } from "../support/dreamdb.ts";
import { backendUrl, copyStore, treeDigest, unpackFixture } from "../support/fixtures.ts";

/** The anchor that two sides of a store in `fixtures/refusals` both added. */
const twice = ["1800000500000000000"];

const refused: readonly {
  readonly store: string;
  readonly branches: readonly string[];
  readonly refusals: readonly object[];
}[] = [
  {
    store: "duplicate-same-cell",
    branches: ["w0", "w1"],
    refusals: [{ code: "duplicate-anchor", field: "embedding", anchors: twice, anchorCount: 1 }],
  },
  {
    store: "duplicate-other-cell",
    branches: ["w0", "w1"],
    refusals: [{ code: "duplicate-anchor", field: "embedding", anchors: twice, anchorCount: 1 }],
  },
  {
    store: "duplicate-identical",
    branches: ["w0", "w1"],
    refusals: [{ code: "duplicate-anchor", field: "embedding", anchors: twice, anchorCount: 1 }],
  },
  {
    store: "duplicate-of-trunk",
    branches: ["w0", "w1"],
    refusals: [{
      code: "duplicate-anchor",
      field: "embedding",
      anchors: twice,
      sides: ["trunk", "w0"],
    }],
  },
  {
    store: "duplicate-other-values",
    branches: ["w0", "w1"],
    refusals: ["image", "label", "number", "text"].map((field) => ({
      code: "duplicate-anchor",
      field,
      anchors: twice,
      sides: ["w0", "w1"],
    })),
  },
  {
    store: "field-on-one-branch",
    branches: ["w0", "w1"],
    refusals: [{ code: "field-missing", field: "thumbnail" }],
  },
  {
    store: "field-on-trunk",
    branches: ["w0", "w1"],
    refusals: [{ code: "field-missing", field: "thumbnail" }],
  },
  {
    store: "other-spatial-index",
    branches: ["w0", "w1"],
    refusals: [{ code: "spatial-index-differs", field: "clip" }],
  },
  {
    store: "unrelated",
    branches: ["w0", "stranger"],
    refusals: [{ code: "no-common-ancestor" }],
  },
  {
    store: "several",
    branches: ["w0", "w1", "w2"],
    refusals: [
      ...["image", "label", "number", "text"].map((field) => ({
        code: "duplicate-anchor",
        field,
        anchors: twice,
      })),
      { code: "constant-differs", field: "title" },
      { code: "field-missing", field: "thumbnail" },
    ],
  },
];

describe("a merge is refused, every reason in one report, and the store left as it was", () => {
  for (const { store, branches, refusals } of refused) {
    test(`for ${store}`, async () => {
      await expectRefusal(join(unpackFixture("refusals"), store), branches, refusals);
    });
  }

  for (const release of ["0.0.8", "0.0.9", "0.0.11", "0.0.13", "0.0.15", "0.0.16"]) {
    test(`for a Constant that differs in a store of ${release}`, async () => {
      await expectRefusal(
        join(unpackFixture("legacy-stores"), release, "constant-differs-unmerged"),
        ["w0"],
        [{ code: "constant-differs" }],
      );
    });
  }

  test("also in a dry run", async () => {
    const store = copyStore(join(unpackFixture("refusals"), "several"));
    const real = await mergeMany(backendUrl(store), ["w0", "w1", "w2"]);
    const dry = await mergeMany(backendUrl(store), ["w0", "w1", "w2"], { args: ["--dry-run"] });
    expect(dry.exitCode).toBe(3);
    expect(dry.document.refusals).toEqual(real.document.refusals);
  });
});

async function expectRefusal(
  original: string,
  branches: readonly string[],
  expected: readonly object[],
): Promise<void> {
  const store = copyStore(original);
  const before = treeDigest(store);
  const { exitCode, document, stderr } = await mergeMany(backendUrl(store), branches);
  expect({ exitCode, status: document.status, stderr }).toMatchObject({
    exitCode: 3,
    status: "refused",
  });
  const refusals = document.refusals ?? [];
  for (const refusal of expected) expect(refusals).toContainEqual(expect.objectContaining(refusal));
  for (const { message, next } of refusals) {
    expect(message).not.toBeEmpty();
    expect(next).not.toBeEmpty();
  }
  expect(treeDigest(store)).toBe(before);
}
