/**
 * SpatialIndex: how vectors are mapped to cells. Two sides of a merge must name the same one,
 * because every SpatialBucket carries its address.
 *
 * @module
 */

import { encodeCanonical } from "../encoding/cbor-encode.ts";
import { decodeDescription } from "./description-object.ts";
import type { DescriptionObject } from "./description-object.ts";
import { asCount } from "./malformed.ts";

/** A SpatialIndex (FORMAT 7): LSH by random planes or IVF by centroids. */
export interface SpatialIndex extends DescriptionObject {
  /** Letters of a cell; absent where the algorithm derives it. */
  readonly bits: number | undefined;
}

/**
 * Decodes a SpatialIndex (FORMAT 7).
 * @throws DreamDBError malformed-cbor, malformed-object
 */
export function decodeSpatialIndex(bytes: Uint8Array, path?: string): SpatialIndex {
  const subject = { kind: "SpatialIndex", path };
  const description = decodeDescription(subject, bytes);
  const bits = description.fields.get("bits");
  return {
    ...description,
    bits: bits === undefined ? undefined : asCount(subject, "'bits'", bits),
  };
}

/** Encodes a SpatialIndex; the inverse of `decodeSpatialIndex`. */
export function encodeSpatialIndex(index: SpatialIndex): Uint8Array {
  return encodeCanonical(index.fields);
}
