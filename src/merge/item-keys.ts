/**
 * VideoItem Tracks have a second index, by item key, which is a tree of its own once it is large
 * (PAGED 7b).
 *
 * @module
 */

import { bytesKey, compareBytes } from "../encoding/bytes.ts";
import { CborCursor } from "../encoding/cbor-cursor.ts";
import { CborWriter } from "../encoding/cbor-writer.ts";
import { parseIndexEntry } from "../model/index-entry.ts";
import type { IndexEntry } from "../model/index-entry.ts";
import { malformedObject } from "../model/malformed.ts";
import type { PageEntry } from "../model/page-entry.ts";
import type { Track } from "../model/track.ts";
import { videoItemKeyIndexPath } from "../store/paths.ts";
import type { ReadObject } from "./object-reader.ts";
import type { TrackContent } from "./track-content.ts";
import { treeOf } from "./tree/descriptor.ts";
import type { PageLoader, Tree, TreeChild } from "./tree/tree-format.ts";
import { videoKeyFormat } from "./tree/video-key-format.ts";
import { walkLeaves } from "./tree/walk.ts";

/** The tree of an index by key. */
export interface KeyTree {
  readonly tree: Tree;
  readonly load: PageLoader;
}

/** The tree behind a Track's index by key; undefined when that index stands inline. */
export function keyTreeOf(track: Track, read: ReadObject): KeyTree | undefined {
  const { itemKeyIndex, timeline, modality } = track;
  if (itemKeyIndex?.form !== "paged") return undefined;
  return {
    tree: treeOf(itemKeyIndex),
    load: (page) => read(videoItemKeyIndexPath(timeline, modality, page), page),
  };
}

/** The key of `[start, duration, key, item]`. */
export function itemKey({ bytes }: PageEntry): Uint8Array {
  const cursor = new CborCursor(bytes);
  cursor.readArrayLength();
  cursor.readUint();
  cursor.readUint();
  return cursor.readBytes();
}

/** `[key, start, duration, item]` for `[start, duration, key, item]`, both with absolute starts. */
export function byKey({ bytes, start, end }: PageEntry): PageEntry {
  const cursor = new CborCursor(bytes);
  cursor.readArrayLength();
  const timesAt = cursor.offset;
  cursor.readUint();
  cursor.readUint();
  const keyAt = cursor.offset;
  const group = cursor.readBytes();
  const writer = new CborWriter(bytes.length);
  writer.raw(bytes.subarray(0, timesAt));
  writer.raw(bytes.subarray(keyAt, cursor.offset));
  writer.raw(bytes.subarray(timesAt, keyAt));
  writer.raw(bytes.subarray(cursor.offset));
  return { bytes: writer.finish(), group, start, end };
}

/** The inverse of `byKey`. */
function byTime({ bytes }: PageEntry): IndexEntry {
  const cursor = new CborCursor(bytes);
  cursor.readArrayLength();
  const keyAt = cursor.offset;
  cursor.readBytes();
  const timesAt = cursor.offset;
  cursor.readUint();
  cursor.readUint();
  const writer = new CborWriter(bytes.length);
  writer.raw(bytes.subarray(0, keyAt));
  writer.raw(bytes.subarray(timesAt, cursor.offset));
  writer.raw(bytes.subarray(keyAt, timesAt));
  writer.raw(bytes.subarray(cursor.offset));
  return parseIndexEntry({ kind: "VideoItem entry" }, "video-item", writer.finish());
}

/** The entries of a VideoItem Track that have one of `keys`; of a tree only pages around them are read. */
export async function entriesWithKeys(
  content: TrackContent,
  keys: readonly Uint8Array[],
  read: ReadObject,
): Promise<readonly IndexEntry[]> {
  const { track } = content;
  if (track === undefined || keys.length === 0) return [];
  const wanted = new Set(keys.map(bytesKey));
  const found: IndexEntry[] = [];
  const keyTree = keyTreeOf(track, read);
  if (keyTree === undefined) {
    for await (const bytes of content.entries()) {
      const entry = parseIndexEntry({ kind: "track" }, "video-item", bytes);
      if (wanted.has(bytesKey(itemKey(entry)))) found.push(entry);
    }
    return found;
  }
  const sorted = [...keys].sort(compareBytes);
  const within = (child: TreeChild): boolean => {
    const { low, high } = child;
    if (low === undefined || high === undefined) return true;
    const first = sorted.find((key) => compareBytes(key, low) >= 0);
    return first !== undefined && compareBytes(first, high) <= 0;
  };
  for await (const leaf of walkLeaves(videoKeyFormat(), keyTree.tree, keyTree.load, { within })) {
    for (const entry of leaf) if (wanted.has(bytesKey(entry.group))) found.push(byTime(entry));
  }
  return found;
}

/** Checks that both indexes of a VideoItem Track have the same number of Items. */
export function checkKeyCount(track: Track, path: string | undefined): void {
  const { index, itemKeyIndex } = track;
  if (itemKeyIndex === undefined) return;
  const [items, keys] = [index, itemKeyIndex].map((each) =>
    each.form === "inline" ? each.count : each.form === "paged" ? each.totalItems : undefined
  );
  if (items === keys) return;
  throw malformedObject(
    { kind: "track", path },
    `${items} Items by time and ${keys} by key`,
    "each Item once in both indexes",
  );
}
