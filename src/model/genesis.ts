/**
 * Genesis: the object whose address is the name of a timeline.
 *
 * @module
 */

import { encodeCanonical } from "../encoding/cbor-encode.ts";
import { checkKeys } from "./malformed.ts";
import { asFixedBytes, decodeMap } from "./object-map.ts";

/** A Genesis object (FORMAT 3). */
export interface Genesis {
  /** 16 bytes, random since release 0.0.9 and derived from the first ref's name before (LEGACY 2). */
  readonly nonce: Uint8Array;
}

/**
 * Decodes a Genesis object (FORMAT 3).
 * @throws DreamDBError malformed-cbor, malformed-object
 */
export function decodeGenesis(bytes: Uint8Array, path?: string): Genesis {
  const subject = { kind: "Genesis", path };
  const map = decodeMap(subject, bytes);
  checkKeys(subject, "the object", map, ["nonce"]);
  return { nonce: asFixedBytes(subject, "'nonce'", map.get("nonce"), 16) };
}

/** Encodes a Genesis object; the inverse of `decodeGenesis`. */
export function encodeGenesis(genesis: Genesis): Uint8Array {
  return encodeCanonical(new Map([["nonce", genesis.nonce]]));
}
