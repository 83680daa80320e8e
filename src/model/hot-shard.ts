/**
 * HotShard: records appended but not yet indexed. A merge refuses a side that has one.
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
  asBytes,
  asText,
  asUint,
  checkKeys,
  malformedObject,
} from "./malformed.ts";
import { decodeMap, requireValue } from "./object-map.ts";

/** A HotShard of a scalar field (version 2, FORMAT 2). */
export interface ScalarHotShard {
  /** For example `categorical`. */
  readonly fieldKind: string;
  readonly parentTrack: Address;
  /** Nanoseconds since 1970. */
  readonly publishedAt: bigint;
  /** Items at which the writer flushes. */
  readonly flushThreshold: bigint;
  readonly ttlSeconds: bigint;
  /** Anchor (ns) and value bytes. */
  readonly items: readonly { readonly anchor: bigint; readonly value: Uint8Array }[];
}

/**
 * Whether the bytes are a HotShard of version 1 (embeddings). Its keys are in insertion order, so
 * it is not canonical CBOR and only ever copied whole (FORMAT 2).
 */
export function isOpaqueHotShard(bytes: Uint8Array): boolean {
  const head = [0xa6, 0x67, 0x76, 0x65, 0x72, 0x73, 0x69, 0x6f, 0x6e, 0x01];
  return head.every((byte, index) => bytes[index] === byte);
}

/**
 * Decodes a HotShard of version 2.
 * @throws DreamDBError malformed-cbor (also for version 1), malformed-object
 */
export function decodeHotShard(bytes: Uint8Array, path?: string): ScalarHotShard {
  const subject = { kind: "HotShard", path };
  const map = decodeMap(subject, bytes);
  checkKeys(subject, "the object", map, [
    "items",
    "version",
    "field_kind",
    "ttl_seconds",
    "parent_track",
    "published_at",
    "flush_threshold",
  ]);
  requireValue(subject, "'version'", map.get("version"), 2n);
  const items = asArray(subject, "'items'", map.get("items")).map((value, index) => {
    const [anchor, key, ...rest] = asArray(subject, `item ${index}`, value);
    if (rest.length > 0) {
      throw malformedObject(subject, `item ${index} has ${2 + rest.length} elements`, "2 elements");
    }
    return {
      anchor: asUint(subject, `anchor of item ${index}`, anchor),
      value: asBytes(subject, `value of item ${index}`, key),
    };
  });
  return {
    fieldKind: asText(subject, "'field_kind'", map.get("field_kind")),
    parentTrack: asAddress(subject, "'parent_track'", map.get("parent_track")),
    publishedAt: asUint(subject, "'published_at'", map.get("published_at")),
    flushThreshold: asUint(subject, "'flush_threshold'", map.get("flush_threshold")),
    ttlSeconds: asUint(subject, "'ttl_seconds'", map.get("ttl_seconds")),
    items,
  };
}

/** Encodes a HotShard of version 2; the inverse of `decodeHotShard`. */
export function encodeHotShard(shard: ScalarHotShard): Uint8Array {
  return encodeCanonical(
    new Map<string, CborValue>([
      ["items", shard.items.map((item) => [item.anchor, item.value])],
      ["version", 2n],
      ["field_kind", shard.fieldKind],
      ["ttl_seconds", shard.ttlSeconds],
      ["parent_track", addressBytes(shard.parentTrack)],
      ["published_at", shard.publishedAt],
      ["flush_threshold", shard.flushThreshold],
    ]),
  );
}
