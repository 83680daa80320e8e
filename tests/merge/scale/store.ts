import type { Address } from "../../../src/encoding/address.ts";
import { bytesKey } from "../../../src/encoding/bytes.ts";
import { mergeMany } from "../../../src/merge/merge-many.ts";
import { createObjectReader } from "../../../src/merge/object-reader.ts";
import type { MergeReport } from "../../../src/merge/report.ts";
import { DEFAULTS } from "../../../src/merge/request.ts";
import { createTrackLoader } from "../../../src/merge/track-loader.ts";
import type { EntryKind } from "../../../src/model/index-entry.ts";
import type { Binding } from "../../../src/model/binding.ts";
import type { Manifest } from "../../../src/model/manifest.ts";
import { trackKindOf } from "../../../src/model/track-kind.ts";
import type { Track } from "../../../src/model/track.ts";
import type { Connector } from "../../../src/store/connector.ts";
import { readManifest, readTrack } from "../../support/store-reader.ts";

/** What a ref holds; fails when there is none. */
export async function tipOf(connector: Connector, ref: string): Promise<Address> {
  const tip = await connector.readRef(ref);
  if (tip === undefined) throw new Error(`no ref ${ref}`);
  return tip;
}

export async function manifestOf(connector: Connector, ref: string): Promise<Manifest> {
  return await readManifest(connector, await tipOf(connector, ref));
}

export async function bindingOf(
  connector: Connector,
  ref: string,
  field: string,
): Promise<Binding> {
  const { tracks } = await manifestOf(connector, ref);
  const binding = tracks.active.find((one) => one.field === field);
  if (binding === undefined) throw new Error(`${ref} has no field ${field}`);
  return binding;
}

export async function trackOf(connector: Connector, ref: string, field: string): Promise<Track> {
  return await readTrack(connector, await bindingOf(connector, ref, field));
}

/** All entries of a field in absolute form as sorted keys; a tree is walked with all its checks. */
export async function entryKeys(
  connector: Connector,
  ref: string,
  field: string,
): Promise<readonly string[]> {
  const binding = await bindingOf(connector, ref, field);
  const loader = createTrackLoader(createObjectReader(connector, {}, 1 << 20));
  const content = await loader.content(binding, trackKindOf(binding.modality) as EntryKind);
  const keys: string[] = [];
  for await (const bytes of content.entries()) keys.push(bytesKey(bytes));
  return keys.sort();
}

/** Merges, side by side with `keep` unless told otherwise. */
export async function merge(
  connector: Connector,
  ref: string,
  branches: readonly string[],
  options: { readonly allowIdentical?: boolean; readonly dryRun?: boolean } = {},
): Promise<MergeReport> {
  return await mergeMany(
    { ...DEFAULTS, ref, branches, buckets: "keep", picks: new Map(), ...options },
    {
      connector,
      concurrency: DEFAULTS.concurrency,
      now: () => BigInt(Date.now()) * 1_000_000n,
      random: Math.random,
      pause: () => Promise.resolve(),
      version: "0.0.0",
    },
  );
}

/** Names of the first `count` branches of a store of fixtures/trees/scale.py. */
export function branchNames(count: number): readonly string[] {
  return Array.from({ length: count }, (_, number) => `w${number}`);
}
