/**
 * Vector sidecar: the exact vectors of a bucket, for re-ranking. It has no anchors: its records
 * are in the order of its bucket, so the two are only ever read and written together.
 *
 * @module
 */

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

const MAGIC = "VSTU";
const MODALITY_AT = 16;
const HEADER = 0x80;

/** A vector sidecar (FORMAT 6). */
export interface VectorSidecar {
  /** The modality tag, ASCII, cut to 32 bytes. */
  readonly modality: string;
  /** Bytes of one vector: 4 per dimension, f32 little-endian. */
  readonly recordSize: number;
  readonly count: number;
  /** `count` vectors in the order of the bucket's records: a view, not a copy. */
  readonly vectors: Uint8Array;
}

/**
 * Reads a vector sidecar as views on `bytes` (FORMAT 6).
 * @throws DreamDBError malformed-object
 */
export function decodeVectorSidecar(bytes: Uint8Array, path?: string): VectorSidecar {
  const subject = { kind: "vector sidecar", path };
  const { recordSize, count } = readRecords(subject, bytes, MAGIC, HEADER);
  if (recordSize === 0 || recordSize % 4 !== 0) {
    throw malformedObject(subject, `vectors of ${recordSize} bytes`, "4 bytes per dimension");
  }
  requireLength(subject, bytes, HEADER, { recordSize, count }, "vectors");
  requireZeros(subject, bytes, MODALITY_AT + MODALITY_LENGTH, HEADER);
  return {
    modality: readAscii(subject, bytes, MODALITY_AT, MODALITY_LENGTH, "the modality"),
    recordSize,
    count,
    vectors: bytes.subarray(HEADER),
  };
}

/**
 * Encodes a vector sidecar; the inverse of `decodeVectorSidecar`.
 * @throws DreamDBError internal when `vectors` is not `count` vectors
 */
export function encodeVectorSidecar(sidecar: VectorSidecar): Uint8Array {
  const { recordSize, count, vectors } = sidecar;
  if (vectors.length !== count * recordSize) {
    throw new DreamDBError({
      code: "internal",
      found: `${vectors.length} bytes of vectors of ${recordSize} bytes`,
      expected: `${count} whole vectors`,
      next: "Report this as a bug of this program.",
    });
  }
  const bytes = new Uint8Array(HEADER + vectors.length);
  writeRecords(bytes, MAGIC, sidecar);
  writeAscii(bytes, MODALITY_AT, sidecar.modality, MODALITY_LENGTH);
  bytes.set(vectors, HEADER);
  return bytes;
}

/** Vector `index`, as a view of `recordSize` bytes. */
export function sidecarVector(sidecar: VectorSidecar, index: number): Uint8Array {
  const start = index * sidecar.recordSize;
  return sidecar.vectors.subarray(start, start + sidecar.recordSize);
}
