import { expect, test } from "bun:test";
import { createManifestReader } from "../../src/history/manifest-reader.ts";
import { manifestPath } from "../../src/store/paths.ts";
import { withStatistics } from "../../src/store/statistics.ts";
import { StoreBuilder } from "../support/store-builder.ts";

async function readerOfStore() {
  const store = await StoreBuilder.inMemory({ num: { kind: "int" } });
  const { connector, statistics } = withStatistics(store.connector);
  return { store, statistics, reader: createManifestReader(connector, {}) };
}

test("a Manifest is read once, also when it is asked for twice at once", async () => {
  const { store, statistics, reader } = await readerOfStore();
  const tip = await store.tip("trunk");
  const both = await Promise.all([reader.read(tip), reader.readIfPresent(tip)]);
  expect(both[0].timelines).toEqual([store.timeline]);
  await reader.read(tip);
  expect(statistics.requests.manifest).toBe(1);
});

test("a missing Manifest is told apart from a damaged one", async () => {
  const { store, reader } = await readerOfStore();
  const gone = await store.tip("trunk");
  const next = await store.setRegistry("trunk", "dreamdb.title", "a");
  store.connector.objects.delete(manifestPath(gone));
  store.connector.objects.set(manifestPath(next), new Uint8Array([0xa0]));
  expect(await reader.readIfPresent(gone)).toBeUndefined();
  expect(reader.missing()).toEqual([gone]);
  await expect(reader.read(gone)).rejects.toMatchObject({ code: "object-missing" });
  await expect(reader.readIfPresent(next)).rejects.toMatchObject({ code: "hash-mismatch" });
});
