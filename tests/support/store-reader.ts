/**
 * Reads a whole store through the object forms alone, without a line of the merge: what every
 * record of a ref is, and whether everything it refers to is there and in order.
 *
 * @module
 */

import type { Address } from "../../src/encoding/address.ts";
import { addressFromBytes, addressOf } from "../../src/encoding/address.ts";
import { bytesKey, toHex } from "../../src/encoding/bytes.ts";
import { treeOf } from "../../src/merge/tree/descriptor.ts";
import { walkLeaves } from "../../src/merge/tree/walk.ts";
import { treeFormat } from "../../src/merge/tree-content.ts";
import { compareEntries, parseIndexEntry, readIndexEntries } from "../../src/model/index-entry.ts";
import type { EntryKind, IndexEntry } from "../../src/model/index-entry.ts";
import { referenceKey, referenceTo } from "../../src/model/binding.ts";
import type { Binding } from "../../src/model/binding.ts";
import { joinCoverage } from "../../src/model/coverage.ts";
import { decodeManifest } from "../../src/model/manifest.ts";
import type { Manifest } from "../../src/model/manifest.ts";
import { decodeAnchorSet } from "../../src/model/scalar-bucket.ts";
import { decodeScalarKey } from "../../src/model/scalar-key.ts";
import { decodeSpatialBucket, recordAnchor, recordBytes } from "../../src/model/spatial-bucket.ts";
import { decodeTombstonePage } from "../../src/model/tombstone-page.ts";
import { decodeTombstoneHead } from "../../src/model/tombstones.ts";
import { decodeTrack } from "../../src/model/track.ts";
import type { Track } from "../../src/model/track.ts";
import { trackKindOf } from "../../src/model/track-kind.ts";
import { decodeVectorSidecar, sidecarVector } from "../../src/model/vector-sidecar.ts";
import type { Connector } from "../../src/store/connector.ts";
import {
  arrayItemPath,
  bucketPath,
  cellPath,
  constantPath,
  fragmentPath,
  indexPagePath,
  manifestPath,
  outboardPath,
  tombstonePath,
  trackPath,
  vectorsPath,
} from "../../src/store/paths.ts";

/** One record of one field. */
export interface ReadRecord {
  readonly anchor: bigint;
  /** Equal for equal Items of one field. */
  readonly value: string;
}

/** All that a ref holds. */
export interface ReadDataset {
  readonly manifest: Manifest;
  /** By field; sorted by anchor and value, each as often as it stands in an index. */
  readonly records: ReadonlyMap<string, readonly ReadRecord[]>;
  /** Entries of each field. */
  readonly entries: ReadonlyMap<string, readonly IndexEntry[]>;
  readonly deleted: ReadonlySet<bigint>;
}

/** Reads the object at `path`; a test store has it, with the bytes its name says. */
export async function readStored(
  connector: Connector,
  path: string,
  address: Address,
): Promise<Uint8Array> {
  const bytes = await connector.get(path);
  if (bytes === undefined) throw new Error(`the store lacks ${path}`);
  if (addressOf(bytes) !== address) throw new Error(`other bytes at ${path}`);
  return bytes;
}

export async function readManifest(connector: Connector, address: Address): Promise<Manifest> {
  return decodeManifest(await readStored(connector, manifestPath(address), address));
}

export async function readTrack(connector: Connector, binding: Binding): Promise<Track> {
  const { timeline, modality, address } = binding;
  return decodeTrack(await readStored(connector, trackPath(timeline, modality, address), address));
}

/** The entries of a Track in the order they stand. */
export async function readEntries(connector: Connector, track: Track): Promise<IndexEntry[]> {
  const kind = trackKindOf(track.modality) as EntryKind;
  const subject = { kind: "track" };
  const { index } = track;
  if (index.form === "inline") {
    return [...readIndexEntries(subject, kind, index.entries, track.coverage.start)];
  }
  const format = treeFormat(kind, track.modality);
  if (index.form === "hot-overlay-v1" || format === undefined) throw new Error("no tree");
  const entries: IndexEntry[] = [];
  const load = (address: Address) =>
    readStored(connector, indexPagePath(track.timeline, track.modality, address), address);
  for await (const leaf of walkLeaves(format, treeOf(index), load)) {
    for (const { bytes } of leaf) entries.push(parseIndexEntry(subject, kind, bytes));
  }
  return entries;
}

/** The records behind one entry. */
export async function readRecords(
  connector: Connector,
  track: Track,
  entry: IndexEntry,
): Promise<ReadRecord[]> {
  const { timeline, modality } = track;
  switch (trackKindOf(modality)) {
    case "spatial-bucket": {
      const cell = new TextDecoder().decode(entry.group);
      const path = cellPath(timeline, modality, cell, entry.address);
      const bucket = decodeSpatialBucket(await readStored(connector, path, entry.address));
      const sidecar = entry.rerank === undefined ? undefined : decodeVectorSidecar(
        await readStored(connector, vectorsPath(timeline, modality, entry.rerank), entry.rerank),
      );
      return Array.from({ length: bucket.count }, (_, index) => ({
        anchor: recordAnchor(bucket, index),
        value: `${cell} ${toHex(recordBytes(bucket, index).subarray(8))}` +
          (sidecar === undefined ? "" : ` ${toHex(sidecarVector(sidecar, index))}`),
      }));
    }
    case "scalar-bitmap":
    case "scalar-btree": {
      const whole = await readStored(
        connector,
        bucketPath(timeline, modality, entry.address),
        entry.address,
      );
      const bytes = entry.slice === undefined
        ? whole
        : whole.subarray(entry.slice.offset, entry.slice.offset + entry.slice.length);
      const value = decodeScalarKey(entry.group);
      return [...decodeAnchorSet(bytes)].map((anchor) => ({
        anchor,
        value: `${typeof value} ${value}`,
      }));
    }
    case "fragment": {
      const whole = await readStored(
        connector,
        fragmentPath(timeline, modality, entry.address),
        entry.address,
      );
      const bytes = entry.slice === undefined
        ? whole
        : whole.subarray(entry.slice.offset, entry.slice.offset + entry.slice.length);
      return [{ anchor: entry.start, value: toHex(bytes) }];
    }
    case "event-array": {
      const path = arrayItemPath(timeline, modality, entry.start, entry.address);
      const bytes = await readStored(connector, path, entry.address);
      return [{ anchor: entry.start, value: toHex(bytes) }];
    }
    case "constant": {
      const path = constantPath(timeline, modality, entry.address);
      const bytes = await readStored(connector, path, entry.address);
      return [{ anchor: 0n, value: new TextDecoder().decode(bytes) }];
    }
    default:
      throw new Error(`no test store has ${modality}`);
  }
}

async function readDeleted(connector: Connector, manifest: Manifest): Promise<Set<bigint>> {
  const deleted = new Set<bigint>();
  const entry = manifest.registry.get("dreamdb.tombstones");
  const head = entry instanceof Map ? entry.get("head") : undefined;
  const waiting = head instanceof Uint8Array ? [addressFromBytes(head)] : [];
  for (let address = waiting.pop(); address !== undefined; address = waiting.pop()) {
    const index = decodeTombstoneHead(
      await readStored(connector, tombstonePath(address), address),
    );
    waiting.push(...index.parents);
    if (index.form === "list") { for (const { anchor } of index.tombstones) deleted.add(anchor); }
    else if (index.root !== undefined) {
      const { page } = index.root;
      const own = decodeTombstonePage(await readStored(connector, tombstonePath(page), page));
      if (!("tombstones" in own)) throw new Error("test stores have one tombstone page");
      for (const { anchor } of own.tombstones) deleted.add(anchor);
    }
  }
  return deleted;
}

/** Reads all of a Manifest. */
export async function readDataset(connector: Connector, address: Address): Promise<ReadDataset> {
  const manifest = await readManifest(connector, address);
  const records = new Map<string, readonly ReadRecord[]>();
  const entries = new Map<string, readonly IndexEntry[]>();
  for (const binding of manifest.tracks.active) {
    const track = await readTrack(connector, binding);
    const found = await readEntries(connector, track);
    const all: ReadRecord[] = [];
    for (const entry of found) all.push(...await readRecords(connector, track, entry));
    const name = binding.field ?? binding.modality;
    entries.set(name, found);
    records.set(
      name,
      all.sort((a, b) =>
        a.anchor < b.anchor ? -1 : a.anchor > b.anchor ? 1 : a.value < b.value ? -1 : 1
      ),
    );
  }
  return { manifest, records, entries, deleted: await readDeleted(connector, manifest) };
}

/** The same by a ref's name. */
export async function readRefDataset(connector: Connector, ref: string): Promise<ReadDataset> {
  const tip = await connector.readRef(ref);
  if (tip === undefined) throw new Error(`no ref ${ref}`);
  return await readDataset(connector, tip);
}

/**
 * What is wrong with a Manifest and all it refers to; nothing, when it is right: every object is
 * there, every entry says what its payload holds, entries are in order, coverage is that of the
 * entries, and lineage and edges are exactly the closure of the active bindings.
 */
export async function findDefects(connector: Connector, address: Address): Promise<string[]> {
  const defects: string[] = [];
  const { manifest, entries } = await readDataset(connector, address);
  for (const parent of manifest.parents) {
    if (await connector.get(manifestPath(parent)) === undefined) defects.push(`parent ${parent}`);
  }
  for (const binding of manifest.tracks.active) {
    const name = binding.field ?? binding.modality;
    const track = await readTrack(connector, binding);
    const kind = trackKindOf(binding.modality) as EntryKind;
    const own = entries.get(name) ?? [];
    const { start, end } = joinCoverage(own);
    if (track.coverage.start !== binding.coverage.start) defects.push(`${name}: coverage differs`);
    if (track.coverage.end !== binding.coverage.end) defects.push(`${name}: coverage differs`);
    if (start !== binding.coverage.start || end !== binding.coverage.end) {
      defects.push(`${name}: coverage is not that of its entries`);
    }
    if (new Set(own.map(({ bytes }) => bytesKey(bytes))).size < own.length) {
      defects.push(`${name}: an entry stands twice`);
    }
    for (const [position, entry] of own.entries()) {
      const before = own[position - 1];
      // A B-tree is in the order of values, which `tests/merge/tree` looks after.
      if (
        kind !== "scalar-btree" && before !== undefined && compareEntries(kind, before, entry) > 0
      ) {
        defects.push(`${name}: entry ${position} is out of order`);
      }
      if (kind === "constant") continue;
      const anchors = (await readRecords(connector, track, entry)).map(({ anchor }) => anchor);
      const first = anchors.reduce((least, anchor) => anchor < least ? anchor : least, entry.end);
      const last = anchors.reduce((most, anchor) => anchor > most ? anchor : most, 0n);
      if (first !== entry.start || last + 1n !== entry.end) {
        defects.push(`${name}: entry ${position} has other anchors than it says`);
      }
      const outboards = [entry.address, ...entry.rerank === undefined ? [] : [entry.rerank]];
      for (const subject of outboards) {
        if (await connector.get(outboardPath(subject)) === undefined) {
          defects.push(`${name}: no outboard of ${subject}`);
        }
      }
    }
  }
  return [...defects, ...lineageDefects(manifest)];
}

function lineageDefects({ tracks }: Manifest): string[] {
  if (tracks.form === "legacy") return [];
  const { active, lineage, edges } = tracks;
  const parents = new Map(edges.map((edge) => [
    referenceKey(edge.child),
    referenceKey(edge.exactParent),
  ]));
  const reached = new Set<string>();
  for (const binding of active) {
    let at = parents.get(referenceKey(referenceTo(binding)));
    for (; at !== undefined && !reached.has(at); at = parents.get(at)) reached.add(at);
  }
  const listed = new Set(lineage.map((binding) => referenceKey(referenceTo(binding))));
  const activeKeys = new Set(active.map((binding) => referenceKey(referenceTo(binding))));
  const defects: string[] = [];
  for (const key of listed) if (!reached.has(key)) defects.push(`not reachable: ${key}`);
  for (const key of reached) {
    if (!listed.has(key) && !activeKeys.has(key)) defects.push(`not listed: ${key}`);
  }
  for (const binding of active) {
    if (binding.role === "base") continue;
    const parent = binding.role.slice("layer-of:".length);
    if (![...reached].some((key) => key.includes(parent))) {
      defects.push(`the Layer ${binding.field} has lost its parent`);
    }
  }
  return defects;
}
