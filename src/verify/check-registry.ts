/**
 * The objects that a Manifest's registry names (FORMAT 4.4): index descriptions, compressors,
 * tombstones, entity keys.
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import { ADDRESS_BYTES, addressFromBytes } from "../encoding/address.ts";
import type { CborMap, CborValue } from "../encoding/cbor-value.ts";
import { decodeEntityKeyIndex, encodeEntityKeyIndex } from "../model/entity-key-index.ts";
import { decodeGenesis, encodeGenesis } from "../model/genesis.ts";
import { decodeGraphIndex, encodeGraphIndex } from "../model/graph-index.ts";
import { decodeHotShard, encodeHotShard, isOpaqueHotShard } from "../model/hot-shard.ts";
import type { Manifest } from "../model/manifest.ts";
import { decodeScalarIndex, encodeScalarIndex } from "../model/scalar-index.ts";
import { decodeSpatialIndex, encodeSpatialIndex } from "../model/spatial-index.ts";
import {
  checkTombstonePage,
  decodeTombstonePage,
  encodeTombstonePage,
} from "../model/tombstone-page.ts";
import type { TombstonePageReference } from "../model/tombstone-page.ts";
import { decodeTombstoneHead, encodeTombstoneHead } from "../model/tombstones.ts";
import { decodeVectorCompressor, encodeVectorCompressor } from "../model/vector-compressor.ts";
import {
  entityKeyIndexPath,
  genesisPath,
  graphIndexPath,
  hotShardPath,
  scalarIndexPath,
  spatialIndexPath,
  textIndexPath,
  tombstonePath,
  vectorCompressorPath,
} from "../store/paths.ts";
import type { Verification } from "./verification.ts";

/** Checks every object that the registry and `timelines` name. */
export async function checkRegistry(run: Verification, manifest: Manifest): Promise<void> {
  const { registry, timelines } = manifest;
  await Promise.all([
    ...timelines.map((address) =>
      run.structural(
        { path: genesisPath(address), address, kind: "Genesis" },
        decodeGenesis,
        encodeGenesis,
      )
    ),
    ...[...registry].map(async ([key, value]) => {
      if (key.endsWith(".tombstones")) await checkTombstones(run, value);
      else if (key.endsWith(".entity_keys")) await checkEntityKeys(run, value);
      else if (value instanceof Map) await checkField(run, manifest, key, value);
    }),
  ]);
}

/** The addresses of `value`: one, or a list of them. */
export function addressesIn(value: CborValue | undefined): readonly Address[] {
  if (Array.isArray(value)) return value.flatMap(addressesIn);
  if (!(value instanceof Uint8Array) || value.length !== ADDRESS_BYTES || value[0] !== 0x1e) {
    return [];
  }
  return [addressFromBytes(value)];
}

async function checkField(
  run: Verification,
  manifest: Manifest,
  modality: string,
  entry: CborMap,
): Promise<void> {
  const field = modality;
  const checks: Promise<unknown>[] = [];
  for (const address of addressesIn(entry.get("spatial_index"))) {
    const place = { path: spatialIndexPath(address), address, kind: "SpatialIndex", field };
    checks.push(run.structural(place, decodeSpatialIndex, encodeSpatialIndex));
  }
  for (const address of addressesIn(entry.get("scalar_index_hash"))) {
    const place = { path: scalarIndexPath(address), address, kind: "ScalarIndex", field };
    checks.push(run.structural(place, decodeScalarIndex, encodeScalarIndex));
  }
  for (const address of addressesIn(entry.get("vector_compressor"))) {
    const path = vectorCompressorPath(address);
    checks.push(
      run.structural(
        { path, address, kind: "VectorCompressor", field },
        decodeVectorCompressor,
        encodeVectorCompressor,
      ),
    );
  }
  for (const address of addressesIn(entry.get("graph_index"))) {
    const place = { path: graphIndexPath(address), address, kind: "GraphIndex", field };
    checks.push(run.structural(place, decodeGraphIndex, encodeGraphIndex));
  }
  const [timeline] = manifest.timelines;
  if (timeline !== undefined) {
    for (const address of addressesIn(entry.get("hot_shard"))) {
      checks.push(checkHotShard(run, timeline, modality, address));
    }
    for (const address of addressesIn(entry.get("text_index"))) {
      const path = textIndexPath(timeline, modality, address);
      // Its keys are in insertion order, so it is not decoded (FORMAT 2).
      checks.push(run.structural({ path, address, kind: "text index", field }, () => true));
    }
  }
  await Promise.all(checks);
}

/** Checks a HotShard; those of version 1 are only hashed (FORMAT 2). */
export async function checkHotShard(
  run: Verification,
  timeline: Address,
  modality: string,
  address: Address,
): Promise<void> {
  const path = hotShardPath(timeline, modality, address);
  await run.structural(
    { path, address, kind: "HotShard", field: modality },
    (bytes) => isOpaqueHotShard(bytes) ? undefined : decodeHotShard(bytes, path),
    (shard, bytes) => shard === undefined ? bytes : encodeHotShard(shard),
  );
}

async function checkEntityKeys(run: Verification, value: CborValue): Promise<void> {
  for (const address of addressesIn(value)) {
    await run.structural(
      { path: entityKeyIndexPath(address), address, kind: "entity key index" },
      decodeEntityKeyIndex,
      encodeEntityKeyIndex,
    );
  }
}

async function checkTombstones(run: Verification, value: CborValue): Promise<void> {
  const head = value instanceof Map ? value.get("head") : undefined;
  let level = addressesIn(head);
  const seen = new Set<Address>();
  while (level.length > 0) {
    const fresh = level.filter((address) => !seen.has(address));
    for (const address of fresh) seen.add(address);
    const parents = await Promise.all(fresh.map((address) => checkTombstoneHead(run, address)));
    level = parents.flat();
  }
}

async function checkTombstoneHead(
  run: Verification,
  address: Address,
): Promise<readonly Address[]> {
  const place = { path: tombstonePath(address), address, kind: "tombstones" };
  const head = await run.structural(place, decodeTombstoneHead, encodeTombstoneHead);
  if (head === undefined) return [];
  if (head.form === "index" && head.root !== undefined) await checkTombstoneTree(run, head.root);
  return head.parents;
}

async function checkTombstoneTree(
  run: Verification,
  reference: TombstonePageReference,
): Promise<void> {
  const address = reference.page;
  const place = { path: tombstonePath(address), address, kind: "tombstone page" };
  const page = await run.structural(place, decodeTombstonePage, encodeTombstonePage);
  if (page === undefined) return;
  run.guard(place, () => checkTombstonePage(reference, page, place.path));
  if (!("children" in page)) return;
  await Promise.all(page.children.map((child) => checkTombstoneTree(run, child)));
}
