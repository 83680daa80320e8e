/**
 * What index entries refer to: buckets, media, arrays, geometry. Structural objects below an entry
 * are always read; payload only where the scope asks for it.
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import { baoOutboard } from "../encoding/bao.ts";
import { equalBytes } from "../encoding/bytes.ts";
import { CborCursor } from "../encoding/cbor-cursor.ts";
import { decodeGeometryItem, encodeGeometryItem } from "../model/geometry-item.ts";
import type { IndexEntry } from "../model/index-entry.ts";
import { decodeItemManifest, encodeItemManifest } from "../model/item-manifest.ts";
import { decodeAnchorSet } from "../model/scalar-bucket.ts";
import { bucketAnchors, decodeSpatialBucket } from "../model/spatial-bucket.ts";
import type { SpatialBucket } from "../model/spatial-bucket.ts";
import { decodeVectorSidecar } from "../model/vector-sidecar.ts";
import { decodeVideoItem, encodeVideoItem } from "../model/video-item.ts";
import {
  arrayItemPath,
  bucketPath,
  cellPath,
  constantPath,
  fragmentPath,
  geometryDataPath,
  geometryItemPath,
  initSegmentPath,
  itemManifestPath,
  outboardPath,
  vectorsPath,
  videoItemPath,
} from "../store/paths.ts";
import type { Field } from "./field.ts";
import type { Place, Verification } from "./verification.ts";

/** Checks what `entry` refers to. */
export async function checkEntry(
  run: Verification,
  field: Field,
  entry: IndexEntry,
): Promise<void> {
  const { timeline, modality } = field;
  const { address } = entry;
  const place = (path: string, kind: string): Place => ({ path, address, kind, field: field.name });
  switch (field.kind) {
    case "spatial-bucket":
      return await checkSpatialBucket(run, field, entry);
    case "scalar-bitmap":
    case "scalar-btree":
      return await checkAnchorSet(
        run,
        place(bucketPath(timeline, modality, address), "ScalarBucket"),
        entry,
      );
    case "fragment":
      if (entry.chunked) return await checkChunkedItem(run, field, entry);
      return await checkBytes(
        run,
        place(mediaPath(field, entry), "Fragment"),
        entry,
        true,
      );
    case "event-array":
      return await checkBytes(
        run,
        place(arrayItemPath(timeline, modality, entry.start, address), "array item"),
        entry,
        true,
      );
    case "time-batch": {
      const path = arrayItemPath(timeline, modality, timeBucketOf(entry), address);
      return await checkBytes(run, place(path, "array item"), entry, true);
    }
    case "constant":
      return await checkBytes(
        run,
        place(constantPath(timeline, modality, address), "Constant"),
        entry,
        false,
      );
    case "video-item":
      return await checkVideoItem(run, field, address);
    case "geometry":
      return await checkGeometry(run, field, address);
    default:
      return;
  }
}

/** Nanoseconds of the folders of segmented media, as the reference writes them. */
const SEGMENT_FOLDER = 60_000_000_000n;

function mediaPath(field: Field, entry: IndexEntry): string {
  const { timeline, modality } = field;
  return field.segmented
    ? arrayItemPath(timeline, modality, entry.start / SEGMENT_FOLDER, entry.address)
    : fragmentPath(timeline, modality, entry.address);
}

/** The third element of `[start, end, time bucket, address]`. */
function timeBucketOf(entry: IndexEntry): bigint {
  const cursor = new CborCursor(entry.bytes);
  cursor.readArrayLength();
  cursor.skip();
  cursor.skip();
  return cursor.readUint();
}

async function checkSpatialBucket(
  run: Verification,
  field: Field,
  entry: IndexEntry,
): Promise<void> {
  const { timeline, modality } = field;
  const cell = new TextDecoder().decode(entry.group);
  const place: Place = {
    path: cellPath(timeline, modality, cell, entry.address),
    address: entry.address,
    kind: "SpatialBucket",
    field: field.name,
  };
  if (!run.wants(place)) return;
  const bucket = await run.once(`bucket ${place.path}`, async () => {
    const bytes = await payload(run, place, true);
    if (bytes === undefined) return undefined;
    const decoded = run.guard(place, () => decodeSpatialBucket(bytes, place.path));
    return decoded === undefined ? undefined : summarise(decoded, bytes.length);
  });
  if (bucket === undefined) return;
  if (entry.size !== bucket.size) {
    run.report("index", place, `the index says ${entry.size} bytes; it has ${bucket.size}`);
  }
  compareExtent(run, place, entry, bucket.first, bucket.last);
  const known = field.spatialIndexes;
  if (known.length > 0 && !known.includes(bucket.spatialIndex)) {
    run.report(
      "disagreement",
      place,
      `the bucket is of the SpatialIndex ${bucket.spatialIndex}; the registry names ` +
        known.join(", "),
    );
  }
  const { compressor } = bucket;
  if (known.length > 0 && compressor !== undefined && !field.compressors.includes(compressor)) {
    run.report(
      "disagreement",
      place,
      `the bucket is of the compressor ${compressor}; the registry names ` +
        (field.compressors.join(", ") || "none"),
    );
  }
  if (entry.rerank !== undefined) await checkSidecar(run, field, entry.rerank, bucket.count);
}

interface BucketSummary {
  readonly size: number;
  readonly count: number;
  readonly first: bigint | undefined;
  readonly last: bigint | undefined;
  readonly spatialIndex: Address;
  readonly compressor: Address | undefined;
}

/** What is kept of a bucket: many entries of old Tracks may name it again. */
function summarise(bucket: SpatialBucket, size: number): BucketSummary {
  const anchors = bucketAnchors(bucket).sort();
  const { count, spatialIndex, compressor } = bucket;
  return { size, count, first: anchors[0], last: anchors.at(-1), spatialIndex, compressor };
}

async function checkSidecar(
  run: Verification,
  field: Field,
  address: Address,
  records: number,
): Promise<void> {
  const path = vectorsPath(field.timeline, field.modality, address);
  const place: Place = { path, address, kind: "vector sidecar", field: field.name };
  const count = await run.once(`sidecar ${path}`, async () => {
    const bytes = await payload(run, place, true);
    if (bytes === undefined) return undefined;
    return run.guard(place, () => decodeVectorSidecar(bytes, path).count);
  });
  if (count === undefined || count === records) return;
  run.report("disagreement", place, `${count} vectors beside a bucket of ${records} records`);
}

async function checkAnchorSet(run: Verification, place: Place, entry: IndexEntry): Promise<void> {
  if (!run.wants(place)) return;
  const bytes = await run.once(`payload ${place.path}`, () => payload(run, place, true));
  if (bytes === undefined) return;
  const { slice } = entry;
  if (slice !== undefined && slice.offset + slice.length > bytes.length) {
    run.report(
      "index",
      place,
      `an entry names bytes ${slice.offset} to ${slice.offset + slice.length} of ${bytes.length}`,
    );
    return;
  }
  const set = slice === undefined
    ? bytes
    : bytes.subarray(slice.offset, slice.offset + slice.length);
  const anchors = run.guard(place, () => decodeAnchorSet(set, place.path));
  if (anchors !== undefined) compareExtent(run, place, entry, anchors[0], anchors.at(-1));
}

/** `first` and `last` anchor of a payload against what the index says. */
function compareExtent(
  run: Verification,
  place: Place,
  entry: IndexEntry,
  first: bigint | undefined,
  last: bigint | undefined,
): void {
  if (first === entry.start && last !== undefined && last + 1n === entry.end) return;
  run.report(
    "index",
    place,
    first === undefined
      ? `no anchors; the index says from ${entry.start} to before ${entry.end}`
      : `anchors from ${first} to ${last}; the index says from ${entry.start} to before ` +
        `${entry.end}`,
  );
}

/** Payload without a form of its own: its hash, and its length where an entry tells it. */
async function checkBytes(
  run: Verification,
  place: Place,
  entry: Pick<IndexEntry, "size" | "slice">,
  outboard: boolean,
): Promise<void> {
  if (!run.wants(place)) return;
  const length = await run.once(
    `length ${place.path}`,
    async () => (await payload(run, place, outboard))?.length,
  );
  if (length === undefined) return;
  const { size, slice } = entry;
  if (slice !== undefined ? slice.offset + slice.length > length : (size ?? length) !== length) {
    const wanted = slice === undefined ? size : `${slice.offset} to ${slice.offset + slice.length}`;
    run.report("index", place, `${length} bytes where the index says ${wanted}`);
  }
}

async function checkChunkedItem(
  run: Verification,
  field: Field,
  entry: IndexEntry,
): Promise<void> {
  const { timeline, modality, name } = field;
  const { address } = entry;
  const path = itemManifestPath(timeline, modality, address);
  const place: Place = { path, address, kind: "ItemManifest", field: name };
  const item = await run.structural(place, decodeItemManifest, encodeItemManifest);
  if (item === undefined) return;
  if (entry.size !== undefined && BigInt(entry.size) !== item.totalSize) {
    run.report("index", place, `${item.totalSize} bytes where the index says ${entry.size}`);
  }
  for (const chunk of item.chunks) {
    await checkBytes(
      run,
      {
        path: fragmentPath(timeline, modality, chunk.address),
        address: chunk.address,
        kind: "Fragment",
        field: name,
      },
      { size: Number(chunk.size), slice: undefined },
      false,
    );
  }
}

async function checkVideoItem(run: Verification, field: Field, address: Address): Promise<void> {
  const { timeline, modality, name } = field;
  const path = videoItemPath(timeline, modality, address);
  const item = await run.structural(
    { path, address, kind: "VideoItem", field: name },
    decodeVideoItem,
    encodeVideoItem,
  );
  if (item === undefined) return;
  const nothing = { size: undefined, slice: undefined };
  const init: Place = {
    path: initSegmentPath(timeline, modality, item.init),
    address: item.init,
    kind: "init segment",
    field: name,
  };
  await checkBytes(run, init, nothing, false);
  for (const fragment of item.fragments) {
    const size = Number(fragment.size);
    const slice = fragment.offset === undefined
      ? undefined
      : { offset: Number(fragment.offset), length: size };
    const place: Place = {
      path: fragmentPath(timeline, modality, fragment.address),
      address: fragment.address,
      kind: "Fragment",
      field: name,
    };
    await checkBytes(run, place, { size, slice }, true);
  }
}

async function checkGeometry(run: Verification, field: Field, address: Address): Promise<void> {
  const item = await run.structural(
    { path: geometryItemPath(address), address, kind: "geometry item", field: field.name },
    decodeGeometryItem,
    encodeGeometryItem,
  );
  for (const data of item?.data ?? []) {
    const place: Place = {
      path: geometryDataPath(data),
      address: data,
      kind: "geometry data",
      field: field.name,
    };
    await checkBytes(run, place, { size: undefined, slice: undefined }, false);
  }
}

/** Reads payload, and the Bao outboard beside it: there may be none, but a wrong one breaks reads. */
async function payload(
  run: Verification,
  place: Place,
  outboard: boolean,
): Promise<Uint8Array | undefined> {
  const bytes = await run.bytesAt(place);
  if (bytes === undefined || !outboard) return bytes;
  const path = outboardPath(place.address);
  const { signal } = run.scope;
  const found = await run.connector.get(path, { signal });
  if (found !== undefined && !equalBytes(found, baoOutboard(bytes))) {
    run.report("outboard", { ...place, path }, "the outboard is not that of its object");
  }
  return bytes;
}
