/**
 * What an index entry's payload holds: its anchors, and an identity of the Item behind each, so
 * that two Items can be told equal or different (DESIGN 1, "duplicates").
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import { addressOf } from "../encoding/address.ts";
import { bytesKey, toHex } from "../encoding/bytes.ts";
import type { EntryKind, IndexEntry } from "../model/index-entry.ts";
import { malformedObject } from "../model/malformed.ts";
import { decodeAnchorSet } from "../model/scalar-bucket.ts";
import { decodeScalarKey } from "../model/scalar-key.ts";
import { bucketAnchors, decodeSpatialBucket, recordBytes } from "../model/spatial-bucket.ts";
import type { SpatialBucket } from "../model/spatial-bucket.ts";
import { decodeVectorSidecar, sidecarVector } from "../model/vector-sidecar.ts";
import type { VectorSidecar } from "../model/vector-sidecar.ts";
import { bucketPath, cellPath, fragmentPath, vectorsPath } from "../store/paths.ts";
import type { ReadObject } from "./object-reader.ts";

/** Which Track the entries are of. */
export interface PayloadPlace {
  readonly kind: EntryKind;
  readonly timeline: Address;
  readonly modality: string;
}

/** A SpatialBucket with its sidecar of exact vectors, if it has one. */
export interface LoadedBucket {
  readonly bucket: SpatialBucket;
  readonly sidecar: VectorSidecar | undefined;
}

/** The cell of a spatial entry as text. */
export function cellText(entry: IndexEntry): string {
  return new TextDecoder().decode(entry.group);
}

/** The value of a scalar entry as text for a person. */
export function valueText(entry: IndexEntry): string {
  const value = decodeScalarKey(entry.group);
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

/** Whether the anchors of a kind stand in the index itself. */
export function anchorsInIndex(kind: EntryKind): boolean {
  return kind !== "spatial-bucket" && kind !== "scalar-bitmap" && kind !== "scalar-btree";
}

/** Reads the bucket of a spatial entry, and its sidecar where the entry names one. */
export async function readBucket(
  read: ReadObject,
  place: PayloadPlace,
  entry: IndexEntry,
): Promise<LoadedBucket> {
  const path = cellPath(place.timeline, place.modality, cellText(entry), entry.address);
  const bucket = decodeSpatialBucket(await read(path, entry.address), path);
  if (entry.rerank === undefined) return { bucket, sidecar: undefined };
  const beside = vectorsPath(place.timeline, place.modality, entry.rerank);
  return { bucket, sidecar: decodeVectorSidecar(await read(beside, entry.rerank), beside) };
}

/** The encoded anchor set of a scalar entry. */
export async function readAnchorSetBytes(
  read: ReadObject,
  place: PayloadPlace,
  entry: IndexEntry,
): Promise<Uint8Array> {
  const path = bucketPath(place.timeline, place.modality, entry.address);
  const bytes = await read(path, entry.address);
  if (entry.slice === undefined) return bytes;
  const end = entry.slice.offset + entry.slice.length;
  if (end > bytes.length) {
    throw malformedObject(
      { kind: "scalar bucket", path },
      `${bytes.length} bytes where an entry names ${entry.slice.offset} to ${end}`,
      "a bucket that holds the slice",
    );
  }
  return bytes.subarray(entry.slice.offset, end);
}

function checkExtent(place: PayloadPlace, entry: IndexEntry, sorted: BigUint64Array): void {
  const first = sorted[0];
  const last = sorted.at(-1);
  if (first === undefined || last === undefined || first < entry.start || last >= entry.end) {
    throw malformedObject(
      { kind: place.kind, path: `${place.modality}/${entry.address}` },
      `anchors from ${first ?? "nowhere"} to ${last ?? "nowhere"}`,
      `anchors from ${entry.start} to before ${entry.end}, as the index says`,
    );
  }
}

/** The anchors of an entry in nanoseconds, ascending; each as often as a record has it. */
export async function readAnchors(
  read: ReadObject,
  place: PayloadPlace,
  entry: IndexEntry,
): Promise<BigUint64Array> {
  if (anchorsInIndex(place.kind)) return BigUint64Array.of(entry.start);
  let sorted: BigUint64Array;
  if (place.kind === "spatial-bucket") {
    const path = cellPath(place.timeline, place.modality, cellText(entry), entry.address);
    sorted = bucketAnchors(decodeSpatialBucket(await read(path, entry.address), path)).sort();
  } else {
    sorted = decodeAnchorSet(await readAnchorSetBytes(read, place, entry));
  }
  checkExtent(place, entry, sorted);
  return sorted;
}

/** A name for the payload of an entry whose Item is the whole payload. */
async function payloadIdentity(
  read: ReadObject,
  place: PayloadPlace,
  entry: IndexEntry,
): Promise<string> {
  const extent = `${entry.end - entry.start}`;
  if (entry.slice === undefined) return `${extent} ${entry.chunked} ${entry.address}`;
  const path = fragmentPath(place.timeline, place.modality, entry.address);
  const pack = await read(path, entry.address);
  const { offset, length } = entry.slice;
  // The same bytes packed otherwise, or not packed at all, are the same Item.
  return `${extent} false ${addressOf(pack.subarray(offset, offset + length))}`;
}

/**
 * The Items of an entry: anchor to identity. Two Items of one anchor are equal exactly when their
 * identities are. An anchor that stands twice in one entry keeps both identities, joined.
 */
export async function readItems(
  read: ReadObject,
  place: PayloadPlace,
  entry: IndexEntry,
): Promise<ReadonlyMap<bigint, string>> {
  const items = new Map<bigint, string>();
  const add = (anchor: bigint, identity: string): void => {
    const before = items.get(anchor);
    items.set(
      anchor,
      before === undefined || before === identity ? identity : `${before}|${identity}`,
    );
  };
  switch (place.kind) {
    case "spatial-bucket": {
      const { bucket, sidecar } = await readBucket(read, place, entry);
      bucketAnchors(bucket).forEach((anchor, index) => {
        const vector = sidecar === undefined ? "" : bytesKey(sidecarVector(sidecar, index));
        add(anchor, `${bytesKey(recordBytes(bucket, index))} ${vector}`);
      });
      return items;
    }
    case "scalar-bitmap":
    case "scalar-btree": {
      const value = toHex(entry.group);
      for (const anchor of decodeAnchorSet(await readAnchorSetBytes(read, place, entry))) {
        add(anchor, value);
      }
      return items;
    }
    case "video-item":
      add(entry.start, `${toHex(entry.group)} ${entry.address}`);
      return items;
    default:
      add(entry.start, await payloadIdentity(read, place, entry));
      return items;
  }
}
