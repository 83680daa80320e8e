/**
 * GraphIndex: the parameters of a nearest-neighbour graph over an embedding field.
 *
 * @module
 */

import { encodeCanonical } from "../encoding/cbor-encode.ts";
import { decodeDescription } from "./description-object.ts";
import type { DescriptionObject } from "./description-object.ts";

/** A GraphIndex (FORMAT 4.4); a merge carries it and never looks inside. */
export type GraphIndex = DescriptionObject;

/**
 * Decodes a GraphIndex (FORMAT 4.4).
 * @throws DreamDBError malformed-cbor, malformed-object
 */
export function decodeGraphIndex(bytes: Uint8Array, path?: string): GraphIndex {
  return decodeDescription({ kind: "GraphIndex", path }, bytes);
}

/** Encodes a GraphIndex; the inverse of `decodeGraphIndex`. */
export function encodeGraphIndex(index: GraphIndex): Uint8Array {
  return encodeCanonical(index.fields);
}
