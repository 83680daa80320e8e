/**
 * ScalarIndex: how the values of a scalar field are indexed. Two sides of a merge must name the
 * same one.
 *
 * @module
 */

import { encodeCanonical } from "../encoding/cbor-encode.ts";
import type { CborValue } from "../encoding/cbor-value.ts";
import { asCount, asMap, asText, checkKeys, malformedObject } from "./malformed.ts";
import { decodeMap } from "./object-map.ts";

/** A ScalarIndex (FORMAT 7): one anchor set per value, or a B-tree over ordered values. */
export type ScalarIndex =
  | {
    readonly metric: "categorical";
    /** `dreamdb.bitmap-categorical`; `vortex.…` in stores of releases 0.0.1 to 0.0.3. */
    readonly algorithm: string;
    readonly fieldName: string;
    readonly version: number;
    /** Not enforced by the reference (PAGED 2). */
    readonly cardinalityLimit: number;
  }
  | {
    readonly metric: "ordinal";
    /** `dreamdb.btree-int64`, `-float64` or `-string`. */
    readonly algorithm: string;
    readonly fieldName: string;
    readonly version: number;
    /** Most entries of a B-tree leaf. */
    readonly leafFanout: number;
    /** Most children of an internal B-tree page. */
    readonly internalFanout: number;
  };

/**
 * Decodes a ScalarIndex (FORMAT 7, PAGED 7).
 * @throws DreamDBError malformed-cbor, malformed-object
 */
export function decodeScalarIndex(bytes: Uint8Array, path?: string): ScalarIndex {
  const subject = { kind: "ScalarIndex", path };
  const map = decodeMap(subject, bytes);
  checkKeys(subject, "the object", map, ["metric", "params", "algorithm", "field_name"]);
  const params = asMap(subject, "'params'", map.get("params"));
  const count = (key: string): number => asCount(subject, `'${key}'`, params.get(key));
  const algorithm = asText(subject, "'algorithm'", map.get("algorithm"));
  const fieldName = asText(subject, "'field_name'", map.get("field_name"));
  const metric = asText(subject, "'metric'", map.get("metric"));
  if (metric === "categorical") {
    checkKeys(subject, "params", params, ["version", "cardinality_limit"]);
    const cardinalityLimit = count("cardinality_limit");
    return { metric, algorithm, fieldName, version: count("version"), cardinalityLimit };
  }
  if (metric === "ordinal") {
    checkKeys(subject, "params", params, ["version", "leaf_fanout", "internal_fanout"]);
    return {
      metric,
      algorithm,
      fieldName,
      version: count("version"),
      leafFanout: count("leaf_fanout"),
      internalFanout: count("internal_fanout"),
    };
  }
  throw malformedObject(subject, `'metric' is "${metric}"`, `"categorical" or "ordinal"`);
}

/** Encodes a ScalarIndex; the inverse of `decodeScalarIndex`. */
export function encodeScalarIndex(index: ScalarIndex): Uint8Array {
  const params: [string, CborValue][] = index.metric === "categorical"
    ? [["cardinality_limit", BigInt(index.cardinalityLimit)]]
    : [
      ["leaf_fanout", BigInt(index.leafFanout)],
      ["internal_fanout", BigInt(index.internalFanout)],
    ];
  return encodeCanonical(
    new Map<string, CborValue>([
      ["metric", index.metric],
      ["params", new Map<string, CborValue>([["version", BigInt(index.version)], ...params])],
      ["algorithm", index.algorithm],
      ["field_name", index.fieldName],
    ]),
  );
}
