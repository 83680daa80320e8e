/**
 * Objects as JSON: CBOR as it is, buckets as a summary of their header and anchors, payload as its
 * size.
 *
 * @module
 */

import { isAddress } from "../encoding/address.ts";
import { decodeCanonical } from "../encoding/cbor-decode.ts";
import { isDreamDBError } from "../errors.ts";
import { decodeAnchorSet } from "../model/scalar-bucket.ts";
import { bucketAnchors, decodeSpatialBucket } from "../model/spatial-bucket.ts";
import { decodeVectorSidecar } from "../model/vector-sidecar.ts";
import { cborJson } from "./cbor-json.ts";
import type { JsonValue } from "./json.ts";

/** How many anchors a summary lists; their count is always exact. */
const LISTED_ANCHORS = 100;

/** What an object is, and what is in it. */
export interface DescribedObject {
  readonly kind: string;
  /** `cbor`: `value` is all of it; `summary`: a part; `opaque`: nothing of it can be read. */
  readonly form: "cbor" | "summary" | "opaque";
  readonly value: JsonValue;
}

const TOP_FOLDERS: Readonly<Record<string, string>> = {
  manifests: "Manifest",
  genesis: "Genesis",
  "spatial-index": "SpatialIndex",
  "scalar-index": "ScalarIndex",
  "vector-compressor": "VectorCompressor",
  "graph-index": "GraphIndex",
  tombstones: "tombstones",
  "entity-key-index": "entity key index",
  "geometry-item": "geometry item",
  "geometry-data": "geometry data",
  "bao-outboard": "Bao outboard",
};

const FOLDERS: Readonly<Record<string, string>> = {
  track: "Track",
  index: "index page",
  "video-item-key-index": "VideoItem key page",
  bucket: "ScalarBucket",
  vectors: "vector sidecar",
  items: "ItemManifest",
  init: "init segment",
  "video-item": "VideoItem",
  "hot-shard": "HotShard",
  "text-index": "text index",
  "graph-page": "graph page",
};

/** The kind of the object at `path` (FORMAT 1.2). */
function objectKind(path: string): string {
  const [first = "", modality = "", folder = "", address] = path.split("/");
  if (!isAddress(first)) return TOP_FOLDERS[first] ?? "unknown";
  if (address === undefined) return "Constant";
  const named = FOLDERS[folder];
  if (named !== undefined) return named;
  if (modality.startsWith("embedding.")) return "SpatialBucket";
  return modality.startsWith("array.") ? "array item" : "Fragment";
}

/** Describes an object. Bytes that are not what the path says are described as opaque. */
export function describeObject(path: string, bytes: Uint8Array): DescribedObject {
  const kind = objectKind(path);
  try {
    switch (kind) {
      case "SpatialBucket": {
        const bucket = decodeSpatialBucket(bytes, path);
        const { spatialIndex, modality, compressor, recordSize, count } = bucket;
        return {
          kind,
          form: "summary",
          value: {
            header: { spatialIndex, modality, compressor: compressor ?? null, recordSize, count },
            ...anchorsJson(bucketAnchors(bucket)),
          },
        };
      }
      case "vector sidecar": {
        const { modality, recordSize, count } = decodeVectorSidecar(bytes, path);
        return { kind, form: "summary", value: { header: { modality, recordSize, count } } };
      }
      case "ScalarBucket":
        return { kind, form: "summary", value: anchorsJson(decodeAnchorSet(bytes, path)) };
      case "Fragment":
      case "array item":
      case "Constant":
      case "geometry data":
      case "Bao outboard":
      case "init segment":
        return { kind, form: "opaque", value: null };
      default:
        return { kind, form: "cbor", value: cborJson(decodeCanonical(bytes, { floats: true })) };
    }
  } catch (error) {
    // A pack of anchor sets, or an object whose keys are in insertion order (FORMAT 2).
    if (isDreamDBError(error, "malformed-object") || isDreamDBError(error, "malformed-cbor")) {
      return { kind, form: "opaque", value: null };
    }
    throw error;
  }
}

function anchorsJson(anchors: BigUint64Array): { readonly [key: string]: JsonValue } {
  return {
    anchorCount: anchors.length,
    anchors: [...anchors.subarray(0, LISTED_ANCHORS)],
  };
}
