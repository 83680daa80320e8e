/**
 * SpatialBucket: the records of one cell. A binary object with a fixed header and records of one
 * size; it is read as views on its bytes.
 *
 * @module
 */

import { ADDRESS_BYTES, addressBytes, addressFromBytes } from "../encoding/address.ts";
import type { Address } from "../encoding/address.ts";
import { DreamDBError } from "../errors.ts";
import {
  MODALITY_LENGTH,
  readAscii,
  readRecords,
  requireLength,
  requireZeros,
  writeAscii,
  writeRecords,
} from "./binary-header.ts";
import { malformedObject } from "./malformed.ts";

const MAGIC = "VBUU";
const HEADER_SIZE_AT = 0x10;
const SPATIAL_INDEX_AT = 0x14;
const MODALITY_AT = 0x35;
const MODE_AT = 0x55;
const COMPRESSOR_AT = 0x56;
const PLAIN_HEADER = 160;
const COMPRESSED_HEADER = 200;

/** Bytes of the anchor at the start of every record. */
export const ANCHOR_LENGTH = 8;

/** A SpatialBucket (FORMAT 6). */
export interface SpatialBucket {
  readonly spatialIndex: Address;
  /** The modality tag, ASCII, cut to 32 bytes. */
  readonly modality: string;
  /** Present when the records hold codes instead of vectors. */
  readonly compressor: Address | undefined;
  /** Bytes of one record: 8 of anchor and the vector (f32 little-endian) or its code. */
  readonly recordSize: number;
  readonly count: number;
  /** `count` records of `recordSize` bytes, in the writer's order: a view, not a copy. */
  readonly records: Uint8Array;
}

/**
 * Reads a SpatialBucket as views on `bytes` (FORMAT 6).
 *
 * Unlike the reference it refuses reserved bytes that are not zero, because a bucket we write
 * from this one would lose them.
 * @throws DreamDBError malformed-object
 */
export function decodeSpatialBucket(bytes: Uint8Array, path?: string): SpatialBucket {
  const subject = { kind: "SpatialBucket", path };
  const { recordSize, count } = readRecords(subject, bytes, MAGIC, PLAIN_HEADER);
  if (recordSize <= ANCHOR_LENGTH) {
    throw malformedObject(subject, `records of ${recordSize} bytes`, `more than ${ANCHOR_LENGTH}`);
  }
  const headerSize = new DataView(bytes.buffer, bytes.byteOffset).getUint32(HEADER_SIZE_AT);
  if (headerSize !== PLAIN_HEADER && headerSize !== COMPRESSED_HEADER) {
    throw malformedObject(
      subject,
      `a header of ${headerSize} bytes`,
      `${PLAIN_HEADER} or, with a compressor, ${COMPRESSED_HEADER}`,
    );
  }
  requireLength(subject, bytes, headerSize, { recordSize, count }, "records");
  if (bytes[MODE_AT] !== 0) {
    throw malformedObject(subject, `mode ${bytes[MODE_AT]}`, "0, vectors inside the bucket");
  }
  const compressed = headerSize === COMPRESSED_HEADER;
  requireZeros(
    subject,
    bytes,
    compressed ? COMPRESSOR_AT + ADDRESS_BYTES : COMPRESSOR_AT,
    headerSize,
  );
  return {
    spatialIndex: addressAt(bytes, SPATIAL_INDEX_AT),
    modality: readAscii(subject, bytes, MODALITY_AT, MODALITY_LENGTH, "the modality"),
    compressor: compressed ? addressAt(bytes, COMPRESSOR_AT) : undefined,
    recordSize,
    count,
    records: bytes.subarray(headerSize),
  };
}

/**
 * Encodes a SpatialBucket; the inverse of `decodeSpatialBucket`.
 * @throws DreamDBError internal when `records` is not `count` records
 */
export function encodeSpatialBucket(bucket: SpatialBucket): Uint8Array {
  const { recordSize, count, records } = bucket;
  if (records.length !== count * recordSize || recordSize <= ANCHOR_LENGTH) {
    throw new DreamDBError({
      code: "internal",
      found: `${records.length} bytes of records of ${recordSize} bytes`,
      expected: `${count} whole records`,
      next: "Report this as a bug of this program.",
    });
  }
  const headerSize = bucket.compressor === undefined ? PLAIN_HEADER : COMPRESSED_HEADER;
  const bytes = new Uint8Array(headerSize + records.length);
  writeRecords(bytes, MAGIC, bucket);
  new DataView(bytes.buffer).setUint32(HEADER_SIZE_AT, headerSize);
  bytes.set(addressBytes(bucket.spatialIndex), SPATIAL_INDEX_AT);
  writeAscii(bytes, MODALITY_AT, bucket.modality, MODALITY_LENGTH);
  if (bucket.compressor !== undefined) bytes.set(addressBytes(bucket.compressor), COMPRESSOR_AT);
  bytes.set(records, headerSize);
  return bytes;
}

/** Record `index` with its anchor, as a view of `recordSize` bytes. */
export function recordBytes(bucket: SpatialBucket, index: number): Uint8Array {
  const start = index * bucket.recordSize;
  return bucket.records.subarray(start, start + bucket.recordSize);
}

/** The anchor (ns) of record `index`. */
export function recordAnchor(bucket: SpatialBucket, index: number): bigint {
  const { buffer, byteOffset, byteLength } = bucket.records;
  return new DataView(buffer, byteOffset, byteLength).getBigUint64(index * bucket.recordSize);
}

/** The anchors (ns) of all records, in record order, which need not be ascending. */
export function bucketAnchors(bucket: SpatialBucket): BigUint64Array {
  const { buffer, byteOffset, byteLength } = bucket.records;
  const view = new DataView(buffer, byteOffset, byteLength);
  const anchors = new BigUint64Array(bucket.count);
  for (let index = 0; index < bucket.count; index++) {
    anchors[index] = view.getBigUint64(index * bucket.recordSize);
  }
  return anchors;
}

function addressAt(bytes: Uint8Array, offset: number): Address {
  return addressFromBytes(bytes.subarray(offset, offset + ADDRESS_BYTES));
}
