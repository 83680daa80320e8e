/**
 * Merges into a folder beside writers that never pause.
 */

import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { rmSync } from "node:fs";
import { isDreamDBError } from "../../src/errors.ts";
import { createManifestReader } from "../../src/history/manifest-reader.ts";
import { mergeMany } from "../../src/merge/merge-many.ts";
import { DEFAULTS } from "../../src/merge/request.ts";
import type { CallOptions } from "../../src/store/connector.ts";
import { FileConnector } from "../../src/store/file.ts";
import { backendUrl, copyStore, unpackFixture } from "../support/fixtures.ts";

// Whole merges, on machines that have other work too.
setDefaultTimeout(60_000);

const stores: string[] = [];
afterEach(() => {
  for (const store of stores.splice(0)) rmSync(store, { recursive: true, force: true });
});

function copyOfDemo(): string {
  const store = copyStore(unpackFixture("demo-store"));
  stores.push(store);
  return backendUrl(store);
}

/** A store on which somebody else moves trunk, back and forth, whenever we are about to. */
class ContestedStore extends FileConnector {
  /** What came of the other writer's moves. */
  readonly moves: string[] = [];
  readonly puts: string[] = [];

  override async flush(options?: CallOptions): Promise<void> {
    await super.flush(options);
    const other = new FileConnector(this.url, { lockTimeout: 200 });
    const tip = await other.readRef("trunk");
    const manifest = tip === undefined
      ? undefined
      : await createManifestReader(other, {}).read(tip);
    const parent = manifest?.parents[0];
    if (tip === undefined || parent === undefined) throw new Error("trunk has no history");
    const moved = await other.compareAndSetRef("trunk", tip, parent)
      .catch((error: unknown) => error);
    this.moves.push(isDreamDBError(moved) ? moved.code : "moved");
  }

  override putIfAbsent(
    path: string,
    bytes: Uint8Array,
    options?: CallOptions,
  ): Promise<"written" | "present"> {
    this.puts.push(path);
    return super.putIfAbsent(path, bytes, options);
  }
}

async function merge(connector: FileConnector, attempts: number) {
  return await mergeMany(
    { ...DEFAULTS, attempts, ref: "trunk", branches: ["w0", "w1"], picks: new Map() },
    {
      connector,
      concurrency: 8,
      now: () => 1_900_000_000_000_000_000n,
      random: () => 0,
      pause: () => Promise.resolve(),
      version: "test",
    },
  );
}

test("the last of several tries keeps the other writer waiting, and wins", async () => {
  const store = new ContestedStore(copyOfDemo());
  const report = await merge(store, 2);
  expect(report).toMatchObject({ status: "merged", attempts: 2 });
  expect(store.moves).toEqual(["moved", "lock-timeout"]);
  expect(await store.readRef("trunk")).toBe(report.manifest ?? undefined);
});

test("a single try keeps nobody waiting", async () => {
  const store = new ContestedStore(copyOfDemo());
  const error = await merge(store, 1).catch((thrown: unknown) => thrown);
  expect(isDreamDBError(error, "publish-conflict")).toBe(true);
  expect(store.moves).toEqual(["moved"]);
});

test("no try writes an object again that an earlier one has written", async () => {
  const store = new ContestedStore(copyOfDemo());
  await merge(store, 2);
  expect(new Set(store.puts).size).toBe(store.puts.length);
});
