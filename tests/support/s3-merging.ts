/**
 * What the tests that merge over the fault server share.
 */

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Address } from "../../src/encoding/address.ts";
import { addressFromBytes } from "../../src/encoding/address.ts";
import { createManifestReader } from "../../src/history/manifest-reader.ts";
import { mergeMany } from "../../src/merge/merge-many.ts";
import type { MergeReport } from "../../src/merge/report.ts";
import { DEFAULTS } from "../../src/merge/request.ts";
import type { Connector } from "../../src/store/connector.ts";
import type { FaultServer } from "./fault-server.ts";
import { unpackFixture } from "./fixtures.ts";
import type { Setting } from "./s3-setting.ts";
import { start } from "./s3-setting.ts";

/** The key of the ref that is merged into. */
export const TRUNK = "refs/trunk";

const demo = unpackFixture("demo-store");
/** Path and bytes of every object of the store. */
export const demoObjects: readonly (readonly [string, Uint8Array])[] = readdirSync(demo, {
  recursive: true,
  encoding: "utf8",
})
  .filter((path) => statSync(join(demo, path)).isFile() && !path.startsWith("."))
  .map((path) => [path, new Uint8Array(readFileSync(join(demo, path)))] as const);

/** A server that holds a store with the branches w0, w1 and w2. */
export async function startMerging(): Promise<Setting> {
  const setting = await start({ unsafeSkipProbe: false });
  for (const [path, bytes] of demoObjects) setting.server.objects.set(path, bytes);
  return setting;
}

/** Merges into trunk, without pauses between tries. */
export async function merge(
  connector: Connector,
  ...branches: readonly string[]
): Promise<MergeReport> {
  return await mergeMany(
    { ...DEFAULTS, ref: "trunk", branches, picks: new Map() },
    {
      connector,
      concurrency: 8,
      now: () => 1_900_000_000_000_000_000n,
      random: () => 0,
      pause: async (_milliseconds, signal) => signal?.throwIfAborted(),
      version: "test",
    },
  );
}

/** What trunk holds. */
export function trunkOf(server: FaultServer): Address {
  return addressFromBytes(server.objects.get(TRUNK) ?? new Uint8Array());
}

/** The Manifests that a tip reaches. */
export async function historyOf(connector: Connector, tip: Address): Promise<ReadonlySet<Address>> {
  const reader = createManifestReader(connector, {});
  const seen = new Set<Address>([tip]);
  for (const address of seen) {
    for (const parent of (await reader.readIfPresent(address))?.parents ?? []) seen.add(parent);
  }
  return seen;
}
