/**
 * Finds the path of an object by its address alone, by trying the places where it can lie.
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import { addressBytes } from "../encoding/address.ts";
import { createManifestReader } from "../history/manifest-reader.ts";
import { createObjectReader } from "../merge/object-reader.ts";
import { cellText } from "../merge/payload.ts";
import { createTrackLoader } from "../merge/track-loader.ts";
import type { TrackLoader } from "../merge/track-loader.ts";
import type { Binding } from "../model/binding.ts";
import type { EntryKind, IndexEntry } from "../model/index-entry.ts";
import { parseIndexEntry } from "../model/index-entry.ts";
import { trackKindOf } from "../model/track-kind.ts";
import type { CallOptions, Connector } from "../store/connector.ts";
import { mapConcurrent } from "../store/limit.ts";
import {
  arrayItemPath,
  bucketPath,
  cellPath,
  constantPath,
  entityKeyIndexPath,
  fragmentPath,
  genesisPath,
  geometryDataPath,
  geometryItemPath,
  graphIndexPath,
  graphPagePath,
  hotShardPath,
  indexPagePath,
  initSegmentPath,
  itemManifestPath,
  manifestPath,
  outboardPath,
  scalarIndexPath,
  spatialIndexPath,
  textIndexPath,
  tombstonePath,
  trackPath,
  vectorCompressorPath,
  vectorsPath,
  videoItemKeyIndexPath,
  videoItemPath,
} from "../store/paths.ts";

/** An object that was found. */
export interface FoundObject {
  readonly path: string;
  readonly bytes: Uint8Array;
}

const TRIES_AT_ONCE = 16;

const TOP_PLACES = [
  manifestPath,
  genesisPath,
  spatialIndexPath,
  scalarIndexPath,
  vectorCompressorPath,
  graphIndexPath,
  tombstonePath,
  entityKeyIndexPath,
  geometryItemPath,
  geometryDataPath,
];

const FIELD_PLACES = [
  trackPath,
  indexPagePath,
  bucketPath,
  vectorsPath,
  fragmentPath,
  itemManifestPath,
  videoItemPath,
  videoItemKeyIndexPath,
  initSegmentPath,
  hotShardPath,
  textIndexPath,
  graphPagePath,
  constantPath,
];

/**
 * The object at `address`: first the folders that need no more than the address, then those of the
 * fields that the Manifests at `tips` know, then the folders that only an index entry names, and
 * last the Bao outboards.
 */
export async function findObject(
  connector: Connector,
  address: Address,
  tips: readonly Address[],
  options: CallOptions,
): Promise<FoundObject | undefined> {
  const top = await firstFound(connector, TOP_PLACES.map((place) => place(address)), options);
  if (top !== undefined) return top;
  const bindings = await bindingsOf(connector, tips, options);
  const folders = new Map(
    bindings.map((binding) => [`${binding.timeline}/${binding.modality}`, binding]),
  );
  const below = [...folders.values()].flatMap(({ timeline, modality }) =>
    FIELD_PLACES.map((place) => place(timeline, modality, address))
  );
  return await firstFound(connector, below, options) ??
    await findByEntries(connector, address, bindings, options) ??
    await firstFound(connector, [outboardPath(address)], options);
}

async function firstFound(
  connector: Connector,
  paths: readonly string[],
  options: CallOptions,
): Promise<FoundObject | undefined> {
  const found = await mapConcurrent(paths, TRIES_AT_ONCE, async (path, _index, signal) => {
    const bytes = await connector.get(path, { signal });
    return bytes === undefined ? undefined : { path, bytes };
  }, options.signal);
  return found.find((object) => object !== undefined);
}

async function bindingsOf(
  connector: Connector,
  tips: readonly Address[],
  options: CallOptions,
): Promise<readonly Binding[]> {
  const reader = createManifestReader(connector, options);
  const manifests = await mapConcurrent(
    tips,
    TRIES_AT_ONCE,
    (tip) => reader.readIfPresent(tip),
    options.signal,
  );
  const bindings = manifests.flatMap((manifest) =>
    manifest === undefined
      ? []
      : manifest.tracks.form === "legacy"
      ? manifest.tracks.active
      : [...manifest.tracks.active, ...manifest.tracks.lineage]
  );
  return [...new Map(bindings.map((binding) => [binding.address, binding])).values()];
}

/** SpatialBuckets lie below their cell and array items below their time: an entry must say it. */
async function findByEntries(
  connector: Connector,
  address: Address,
  bindings: readonly Binding[],
  options: CallOptions,
): Promise<FoundObject | undefined> {
  const loader = createTrackLoader(createObjectReader(connector, options));
  for (const binding of bindings) {
    const kind = trackKindOf(binding.modality);
    if (kind !== "spatial-bucket" && kind !== "event-array" && kind !== "time-batch") continue;
    options.signal?.throwIfAborted();
    const path = await pathInTrack(loader, binding, kind, address);
    const found = path === undefined ? undefined : await firstFound(connector, [path], options);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function pathInTrack(
  loader: TrackLoader,
  binding: Binding,
  kind: EntryKind,
  address: Address,
): Promise<string | undefined> {
  const { index } = await loader.load(binding);
  if (index.form === "hot-overlay-v1") return undefined;
  const content = await loader.content(binding, kind);
  const wanted = Buffer.from(addressBytes(address));
  for await (const bytes of content.entries()) {
    // A look at the bytes is far cheaper than taking every entry apart.
    if (!Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(wanted)) continue;
    const entry = parseIndexEntry({ kind: "track" }, kind, bytes);
    if (entry.address === address) return entryPath(binding, kind, entry);
  }
  return undefined;
}

function entryPath(binding: Binding, kind: EntryKind, entry: IndexEntry): string {
  const { timeline, modality } = binding;
  return kind === "spatial-bucket"
    ? cellPath(timeline, modality, cellText(entry), entry.address)
    : arrayItemPath(timeline, modality, entry.start, entry.address);
}
