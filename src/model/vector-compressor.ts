/**
 * VectorCompressor: how vectors are turned into the codes of a compressed SpatialBucket.
 *
 * @module
 */

import { encodeCanonical } from "../encoding/cbor-encode.ts";
import { decodeDescription } from "./description-object.ts";
import type { DescriptionObject } from "./description-object.ts";
import { asCount } from "./malformed.ts";

/** A VectorCompressor (FORMAT 6). */
export interface VectorCompressor extends DescriptionObject {
  /** Bytes of one code; a record of a compressed bucket is 8 bytes longer. */
  readonly codeBytes: number;
}

/**
 * Decodes a VectorCompressor (FORMAT 6).
 * @throws DreamDBError malformed-cbor, malformed-object
 */
export function decodeVectorCompressor(bytes: Uint8Array, path?: string): VectorCompressor {
  const subject = { kind: "VectorCompressor", path };
  const description = decodeDescription(subject, bytes);
  const codeBytes = asCount(subject, "'code_bytes'", description.fields.get("code_bytes"));
  return { ...description, codeBytes };
}

/** Encodes a VectorCompressor; the inverse of `decodeVectorCompressor`. */
export function encodeVectorCompressor(compressor: VectorCompressor): Uint8Array {
  return encodeCanonical(compressor.fields);
}
