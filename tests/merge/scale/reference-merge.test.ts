import { describe, expect, test } from "bun:test";
import { describeWithReference } from "../../support/describe-reference.ts";
import { checkMerge, linkedStore, madeStore, roundTripPages } from "./check.ts";
import type { ScaleStore } from "./check.ts";

/** The first run on a machine makes the stores. */
const TIMEOUT = 300_000;

/** Larger ones are in `node scripts/bun.mjs tests/merge/scale/run.ts`. */
const stores: readonly ScaleStore[] = [
  { kind: "spatial", keys: "clustered", entries: 20_000 },
  { kind: "fragment", keys: "random", entries: 20_000 },
  { kind: "scalar", keys: "random", entries: 5_000 },
];

describeWithReference("large indexes appended in many batches", () => {
  describe.each(stores.map((store) => ({ ...store })))("$kind, $keys keys", (store) => {
    test("round-trip page by page", async () => {
      const { pages, differing } = roundTripPages(await madeStore(store));
      expect(pages).toBeGreaterThan(100);
      expect(differing).toEqual([]);
    }, TIMEOUT);

    test.each([3, 16])("merge with %d branches as the reference merges them", async (count) => {
      const folder = linkedStore(await madeStore(store));
      expect((await checkMerge(store, folder, count)).problems).toEqual([]);
    }, TIMEOUT);
  });
});
