/**
 * Fuses buckets of one cell: their records, in anchor order, in as few buckets as the capacity
 * allows. The reference's `compact()` writes the same bytes (LEGACY 6).
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import { addressBytes, addressOf } from "../encoding/address.ts";
import { DreamDBError } from "../errors.ts";
import { bytesKey } from "../encoding/bytes.ts";
import { encodeSpatialEntry, parseIndexEntry } from "../model/index-entry.ts";
import type { IndexEntry } from "../model/index-entry.ts";
import { encodeSpatialBucket, recordAnchor, recordBytes } from "../model/spatial-bucket.ts";
import type { SpatialBucket } from "../model/spatial-bucket.ts";
import { bucketCapacity } from "../model/track-kind.ts";
import { encodeVectorSidecar, sidecarVector } from "../model/vector-sidecar.ts";
import type { VectorSidecar } from "../model/vector-sidecar.ts";
import { cellPath, vectorsPath } from "../store/paths.ts";
import type { ReadObject } from "./object-reader.ts";
import { cellText, readBucket } from "./payload.ts";
import type { PayloadPlace } from "./payload.ts";

/** Entries of one cell that become new buckets. */
export interface FuseGroup {
  readonly entries: readonly IndexEntry[];
  /** Anchors to leave out of an entry, by the entry's bytes. */
  readonly dropped: ReadonlyMap<string, ReadonlySet<bigint>>;
  /** Whether equal records of several entries are meant to become one. */
  readonly joinsEqualRecords: boolean;
}

/** A payload object to write, with its outboard. */
export interface PayloadObject {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** What a group became. */
export interface FusedGroup {
  readonly entries: readonly IndexEntry[];
  readonly objects: readonly PayloadObject[];
}

interface Record {
  readonly anchor: bigint;
  readonly bytes: Uint8Array;
  readonly vector: Uint8Array | undefined;
}

/** Whether an added bucket is so large that fusing it would gain nothing (DESIGN 1). */
export function isLargeBucket(modality: string, entry: IndexEntry): boolean {
  return (entry.size ?? 0) > bucketCapacity(modality) / 2;
}

function disagree(found: string, expected: string): DreamDBError {
  return new DreamDBError({
    code: "malformed-object",
    kind: "SpatialBucket",
    found,
    expected,
    next: "Verify the branches; merging with --buckets=keep does not rewrite buckets.",
  });
}

/**
 * Fuses one group.
 *
 * @throws DreamDBError malformed-object when the buckets are not of one form
 */
export async function fuseGroup(
  read: ReadObject,
  place: PayloadPlace,
  group: FuseGroup,
): Promise<FusedGroup> {
  const loaded = await Promise.all(
    group.entries.map(async (entry) => ({ entry, ...await readBucket(read, place, entry) })),
  );
  const first = loaded[0];
  if (first === undefined) return { entries: [], objects: [] };
  const records: Record[] = [];
  for (const { entry, bucket, sidecar } of loaded) {
    checkAlike(first, bucket, sidecar);
    const dropped = group.dropped.get(bytesKey(entry.bytes));
    for (let index = 0; index < bucket.count; index++) {
      const anchor = recordAnchor(bucket, index);
      if (dropped?.has(anchor)) continue;
      records.push({
        anchor,
        bytes: recordBytes(bucket, index),
        vector: sidecar === undefined ? undefined : sidecarVector(sidecar, index),
      });
    }
  }
  records.sort((a, b) => (a.anchor < b.anchor ? -1 : a.anchor > b.anchor ? 1 : 0));
  const kept = group.joinsEqualRecords
    ? records.filter((record, index) => index === 0 || record.anchor !== records[index - 1]?.anchor)
    : records;
  return writeBuckets(place, first, kept);
}

function checkAlike(
  first: { readonly bucket: SpatialBucket; readonly sidecar: VectorSidecar | undefined },
  bucket: SpatialBucket,
  sidecar: VectorSidecar | undefined,
): void {
  const same = bucket.spatialIndex === first.bucket.spatialIndex &&
    bucket.modality === first.bucket.modality &&
    bucket.compressor === first.bucket.compressor &&
    bucket.recordSize === first.bucket.recordSize;
  if (!same) {
    throw disagree(
      `buckets of one cell with other headers (${bucket.spatialIndex}, records of ` +
        `${bucket.recordSize} bytes)`,
      `${first.bucket.spatialIndex} and records of ${first.bucket.recordSize} bytes`,
    );
  }
  const vectors = sidecar?.count ?? bucket.count;
  if ((sidecar === undefined) !== (first.sidecar === undefined) || vectors !== bucket.count) {
    throw disagree(
      `a bucket of ${bucket.count} records with ${sidecar?.count ?? "no"} exact vectors`,
      "one exact vector a record in all buckets of the cell, or none",
    );
  }
}

function writeBuckets(
  place: PayloadPlace,
  first: {
    readonly entry: IndexEntry;
    readonly bucket: SpatialBucket;
    readonly sidecar: VectorSidecar | undefined;
  },
  records: readonly Record[],
): FusedGroup {
  const { bucket, sidecar, entry } = first;
  const perBucket = Math.max(1, Math.floor(bucketCapacity(place.modality) / bucket.recordSize));
  const entries: IndexEntry[] = [];
  const objects: PayloadObject[] = [];
  for (let start = 0; start < records.length; start += perBucket) {
    const part = records.slice(start, start + perBucket);
    const bytes = encodeSpatialBucket({
      ...bucket,
      count: part.length,
      records: joinParts(part.map((record) => record.bytes), bucket.recordSize),
    });
    const address = addressOf(bytes);
    objects.push({
      path: cellPath(place.timeline, place.modality, cellText(entry), address),
      bytes,
    });
    let rerank: Address | undefined;
    if (sidecar !== undefined) {
      const beside = encodeVectorSidecar({
        ...sidecar,
        count: part.length,
        vectors: joinParts(
          part.map(({ vector }) => vector ?? new Uint8Array()),
          sidecar.recordSize,
        ),
      });
      rerank = addressOf(beside);
      objects.push({ path: vectorsPath(place.timeline, place.modality, rerank), bytes: beside });
    }
    entries.push(parseIndexEntry(
      { kind: "track" },
      "spatial-bucket",
      encodeSpatialEntry(
        entry.group,
        part[0]?.anchor ?? 0n,
        (part.at(-1)?.anchor ?? 0n) + 1n,
        bytes.length,
        addressBytes(address),
        entry.table,
        rerank === undefined ? undefined : addressBytes(rerank),
      ),
    ));
  }
  return { entries, objects };
}

function joinParts(parts: readonly Uint8Array[], size: number): Uint8Array {
  const joined = new Uint8Array(parts.length * size);
  parts.forEach((part, index) => joined.set(part, index * size));
  return joined;
}
