/**
 * ItemManifest: the list of chunks of one media item that was written with a chunk size.
 *
 * @module
 */

import { addressBytes } from "../encoding/address.ts";
import type { Address } from "../encoding/address.ts";
import { encodeCanonical } from "../encoding/cbor-encode.ts";
import type { CborValue } from "../encoding/cbor-value.ts";
import { asAddress, asArray, asMap, asUint, checkKeys, malformedObject } from "./malformed.ts";
import { decodeMap } from "./object-map.ts";

/** One chunk: its address and its size in bytes. */
export interface ItemChunk {
  readonly address: Address;
  readonly size: bigint;
}

/** An ItemManifest (PAGED 7a); the item is the concatenation of its chunks. */
export interface ItemManifest {
  readonly chunks: readonly ItemChunk[];
  /** The item's size in bytes, always the sum of the chunks' sizes. */
  readonly totalSize: bigint;
}

/**
 * Decodes an ItemManifest and checks that its sizes add up (PAGED 7a).
 * @throws DreamDBError malformed-cbor, malformed-object
 */
export function decodeItemManifest(bytes: Uint8Array, path?: string): ItemManifest {
  const subject = { kind: "ItemManifest", path };
  const map = decodeMap(subject, bytes);
  checkKeys(subject, "the object", map, ["chunks", "total_size"]);
  const chunks = asArray(subject, "'chunks'", map.get("chunks")).map((value, index) => {
    const chunk = asMap(subject, `chunk ${index}`, value);
    checkKeys(subject, `chunk ${index}`, chunk, ["hash", "size"]);
    return {
      address: asAddress(subject, `'hash' of chunk ${index}`, chunk.get("hash")),
      size: asUint(subject, `'size' of chunk ${index}`, chunk.get("size")),
    };
  });
  const totalSize = asUint(subject, "'total_size'", map.get("total_size"));
  const sum = chunks.reduce((total, chunk) => total + chunk.size, 0n);
  if (sum !== totalSize) {
    throw malformedObject(subject, `'total_size' is ${totalSize}`, `${sum}, the sum of the chunks`);
  }
  return { chunks, totalSize };
}

/** Encodes an ItemManifest; the inverse of `decodeItemManifest`. */
export function encodeItemManifest(item: ItemManifest): Uint8Array {
  return encodeCanonical(
    new Map<string, CborValue>([
      [
        "chunks",
        item.chunks.map((chunk) =>
          new Map<string, CborValue>([["hash", addressBytes(chunk.address)], ["size", chunk.size]])
        ),
      ],
      ["total_size", item.totalSize],
    ]),
  );
}
