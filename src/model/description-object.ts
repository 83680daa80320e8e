/**
 * Objects that describe an index or a codec and that a merge only compares by address:
 * SpatialIndex, VectorCompressor, GraphIndex, geometry items. Their parameters differ by algorithm, so the whole canonical map is kept
 * and only the fields that all algorithms share are named.
 *
 * @module
 */

import type { CborMap } from "../encoding/cbor-value.ts";
import { asCount, asMap, asText } from "./malformed.ts";
import type { Subject } from "./malformed.ts";
import { decodeMap } from "./object-map.ts";

/** The fields that every description of an embedding's index or codec has. */
export interface DescriptionObject {
  /** For example `dreamdb.lsh-cosine`; `vortex.…` in stores of releases 0.0.1 to 0.0.3. */
  readonly algorithm: string;
  readonly metric: string;
  /** Elements of a vector. */
  readonly dimension: number;
  /** The whole object, also what is not named here. */
  readonly fields: CborMap;
}

/**
 * Decodes a map with `algorithm`, `metric`, `dim` and `params` (FORMAT 7).
 * @throws DreamDBError malformed-cbor, malformed-object
 */
export function decodeDescription(subject: Subject, bytes: Uint8Array): DescriptionObject {
  const fields = decodeMap(subject, bytes);
  asMap(subject, "'params'", fields.get("params"));
  return {
    algorithm: asText(subject, "'algorithm'", fields.get("algorithm")),
    metric: asText(subject, "'metric'", fields.get("metric")),
    dimension: asCount(subject, "'dim'", fields.get("dim")),
    fields,
  };
}
