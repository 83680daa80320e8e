/**
 * Fuses the anchor sets of scalar values: one set a value, all of a field in one pack, in the
 * order of the keys' bytes (FORMAT 7).
 *
 * @module
 */

import { addressBytes, addressOf } from "../encoding/address.ts";
import { bytesKey, compareBytes, concatBytes } from "../encoding/bytes.ts";
import { unionAnchors } from "../encoding/treemap.ts";
import { encodeScalarEntry, parseIndexEntry } from "../model/index-entry.ts";
import type { IndexEntry } from "../model/index-entry.ts";
import { decodeAnchorSet, encodeAnchorArray, encodeAnchorSet } from "../model/scalar-bucket.ts";
import { mapConcurrent } from "../store/limit.ts";
import { bucketPath } from "../store/paths.ts";
import type { FusedGroup } from "./fuse-spatial.ts";
import type { ReadObject } from "./object-reader.ts";
import { readAnchorSetBytes } from "./payload.ts";
import type { PayloadPlace } from "./payload.ts";

/**
 * Joins the sets of each group of entries of one value.
 *
 * @param dropped anchors to leave out of an entry, by the entry's bytes
 */
export async function fuseScalars(
  read: ReadObject,
  place: PayloadPlace,
  groups: readonly (readonly IndexEntry[])[],
  dropped: ReadonlyMap<string, ReadonlySet<bigint>>,
  concurrency: number,
): Promise<FusedGroup> {
  const ordered = groups.filter((group) => group.length > 0)
    .sort((a, b) => compareBytes(a[0]?.group ?? new Uint8Array(), b[0]?.group ?? new Uint8Array()));
  if (ordered.length === 0) return { entries: [], objects: [] };
  const joined = await mapConcurrent(ordered, concurrency, async (group) => {
    const parts = await Promise.all(group.map((entry) => readAnchorSetBytes(read, place, entry)));
    const anchors = unionAnchors(parts.map((bytes, index) => {
      const leftOut = dropped.get(bytesKey(group[index]?.bytes ?? new Uint8Array()));
      const set = decodeAnchorSet(bytes);
      return leftOut === undefined ? set : set.filter((anchor) => !leftOut.has(anchor));
    }));
    // Releases 0.0.1 and 0.0.2 read only plain arrays (LEGACY 3.5): their form is kept.
    const plain = parts.every((bytes) => bytes[0] !== 0x01);
    const key = group[0]?.group ?? new Uint8Array();
    return { key, anchors, bytes: plain ? encodeAnchorArray(anchors) : encodeAnchorSet(anchors) };
  });
  const sets = joined.filter(({ anchors }) => anchors.length > 0);
  if (sets.length === 0) return { entries: [], objects: [] };
  const pack = concatBytes(sets.map(({ bytes }) => bytes));
  const address = addressOf(pack);
  let offset = 0;
  const entries = sets.map(({ key, anchors, bytes }) => {
    const entry = encodeScalarEntry(
      key,
      anchors[0] ?? 0n,
      (anchors.at(-1) ?? 0n) + 1n,
      addressBytes(address),
      offset,
      bytes.length,
    );
    offset += bytes.length;
    return parseIndexEntry({ kind: "track" }, place.kind, entry);
  });
  return {
    entries,
    objects: [{ path: bucketPath(place.timeline, place.modality, address), bytes: pack }],
  };
}
