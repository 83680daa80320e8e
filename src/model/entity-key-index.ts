/**
 * Entity key index: which anchor the newest revision of each keyed entity has.
 *
 * @module
 */

import { addressBytes } from "../encoding/address.ts";
import type { Address } from "../encoding/address.ts";
import { encodeCanonical } from "../encoding/cbor-encode.ts";
import type { CborValue } from "../encoding/cbor-value.ts";
import {
  asAddress,
  asArray,
  asText,
  asUint,
  checkKeys,
  describeValue,
  malformedObject,
} from "./malformed.ts";
import { asBoolean, asFixedBytes, decodeMap, requireValue } from "./object-map.ts";

const ID_BYTES = 16;

/** One entity. */
export interface EntityKey {
  /** A text or an integer, as the index's `keyKind` says. */
  readonly key: string | bigint | Uint8Array;
  /** 16 bytes. */
  readonly id: Uint8Array;
  /** 16 bytes. */
  readonly revision: Uint8Array;
  /** Nanoseconds. */
  readonly anchor: bigint;
  readonly deleted: boolean;
}

/** An entity key index (FORMAT 7); named by the registry of `lineage-v4` Manifests. */
export interface EntityKeyIndex {
  /** For example `string`. */
  readonly keyKind: string;
  readonly timeline: Address;
  readonly entries: readonly EntityKey[];
}

/**
 * Decodes an entity key index.
 * @throws DreamDBError malformed-cbor, malformed-object
 */
export function decodeEntityKeyIndex(bytes: Uint8Array, path?: string): EntityKeyIndex {
  const subject = { kind: "entity key index", path };
  const map = decodeMap(subject, bytes);
  checkKeys(subject, "the object", map, ["entries", "version", "key_kind", "timeline"]);
  requireValue(subject, "'version'", map.get("version"), 1n);
  const entries = asArray(subject, "'entries'", map.get("entries")).map((value, index) => {
    const name = `entry ${index}`;
    const [key, id, revision, anchor, deleted, ...rest] = asArray(subject, name, value);
    if (rest.length > 0) {
      throw malformedObject(subject, `${name} has ${5 + rest.length} elements`, "5 elements");
    }
    const simple = typeof key === "string" || typeof key === "bigint" || key instanceof Uint8Array;
    if (!simple) {
      throw malformedObject(subject, `key of ${name} is ${describeValue(key)}`, "a simple key");
    }
    return {
      key,
      id: asFixedBytes(subject, `id of ${name}`, id, ID_BYTES),
      revision: asFixedBytes(subject, `revision of ${name}`, revision, ID_BYTES),
      anchor: asUint(subject, `anchor of ${name}`, anchor),
      deleted: asBoolean(subject, `last element of ${name}`, deleted),
    };
  });
  return {
    keyKind: asText(subject, "'key_kind'", map.get("key_kind")),
    timeline: asAddress(subject, "'timeline'", map.get("timeline")),
    entries,
  };
}

/** Encodes an entity key index; the inverse of `decodeEntityKeyIndex`. */
export function encodeEntityKeyIndex(index: EntityKeyIndex): Uint8Array {
  return encodeCanonical(
    new Map<string, CborValue>([
      ["entries", index.entries.map((e) => [e.key, e.id, e.revision, e.anchor, e.deleted])],
      ["version", 1n],
      ["key_kind", index.keyKind],
      ["timeline", addressBytes(index.timeline)],
    ]),
  );
}
