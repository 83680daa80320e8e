/**
 * The format of the trees behind a VideoItem Track's index by key (PAGED 7b). An entry is
 * `[key, start, duration, item]` with an absolute start; its `group` is the key itself.
 *
 * @module
 */

import { addressBytes } from "../../encoding/address.ts";
import { compareBytes } from "../../encoding/bytes.ts";
import { CborCursor } from "../../encoding/cbor-cursor.ts";
import { CborWriter } from "../../encoding/cbor-writer.ts";
import { malformedObject } from "../../model/malformed.ts";
import { readAddress, uintLength } from "../../model/page-entry.ts";
import type { PageEntry } from "../../model/page-entry.ts";
import { decodeVideoKeyPage, encodeVideoKeyPage } from "../../model/video-key-page.ts";
import type { VideoKeyChild, VideoKeyEntry } from "../../model/video-key-page.ts";
import { CountingMeter } from "./counting-meter.ts";
import { INDEX_PAGE_TARGET } from "./index-format.ts";
import type { TreeChild, TreeFormat, TreePage } from "./tree-format.ts";

const EMPTY = new Uint8Array(0);

/** Map head, keys, version and type of a leaf; the keys of an internal page are five bytes longer. */
const LEAF_FRAME = 1 + 2 + 1 + 5 + 5 + 8;
const INTERNAL_FRAME = LEAF_FRAME + 5;

/** The format of key pages, which are under `video-item-key-index` (PAGED 1). */
export function videoKeyFormat(pageTarget = INDEX_PAGE_TARGET): TreeFormat<PageEntry> {
  const subject = { kind: "VideoItem key page" };
  return {
    name: subject.kind,
    internalRule: "even",
    canonical: false,
    key: (entry) => entry.group,
    entry: (entry) => entry,
    decode(bytes, height, address): TreePage<PageEntry> {
      const page = decodeVideoKeyPage(bytes, address);
      if ((page.type === "leaf") !== (height === 1)) {
        throw malformedObject(
          { ...subject, path: address },
          `a page of type "${page.type}" with ${height} levels to go`,
          "leaves in the last level only, as tree_height says",
        );
      }
      return page.type === "leaf"
        ? { leaf: true, entries: page.entries.map(videoKeyEntry) }
        : { leaf: false, children: page.children };
    },
    encodeLeaf: (entries) =>
      encodeVideoKeyPage({ type: "leaf", entries: entries.map(({ bytes }) => keyEntry(bytes)) }),
    encodeInternal: (children) =>
      encodeVideoKeyPage({ type: "internal", children: children.map(keyChild) }),
    childOf(page, address) {
      const [low, high, entryCount] = page.leaf
        ? [
          page.entries[0]?.group.slice(),
          page.entries.at(-1)?.group.slice(),
          page.entries.length,
        ]
        : [
          page.children[0]?.low,
          page.children.at(-1)?.high,
          page.children.reduce((total, child) => total + (child.entryCount ?? 0), 0),
        ];
      return keyChild({ page: address, low, high, start: undefined, end: undefined, entryCount });
    },
    leafMeter: () => new CountingMeter(pageTarget - LEAF_FRAME, Infinity, (e) => e.bytes.length),
    internalMeter: () => new CountingMeter(pageTarget - INTERNAL_FRAME, Infinity, childLength),
    compare: (a, b) => compareBytes(a.group, b.group),
    compareRegion: (a, b) => compareBytes(a.group, b.group),
    canRoute: () => true,
    reaches: (child, entry) => compareBytes(child.low ?? EMPTY, entry.group) <= 0,
    isBefore: (child, entry) => compareBytes(entry.group, child.low ?? EMPTY) < 0,
    isAfter: (child, entry) => compareBytes(entry.group, child.high ?? EMPTY) > 0,
  };

  function keyEntry(bytes: Uint8Array): VideoKeyEntry {
    const cursor = new CborCursor(bytes);
    cursor.readArrayLength();
    const key = cursor.readBytes();
    const start = cursor.readUint();
    const duration = cursor.readUint();
    return { key, start, duration, item: readAddress(subject, cursor) };
  }
}

/** Makes the tree's entry of a key; the inverse of what its pages hold. */
function videoKeyEntry({ key, start, duration, item }: VideoKeyEntry): PageEntry {
  const writer = new CborWriter(80 + key.length);
  writer.arrayHead(4);
  writer.bytes(key);
  writer.uint(start);
  writer.uint(duration);
  writer.bytes(addressBytes(item));
  return { bytes: writer.finish(), group: key, start, end: start + duration };
}

function keyChild(child: TreeChild): VideoKeyChild {
  const { low = EMPTY, high = EMPTY, entryCount = 0 } = child;
  return { ...child, low, high, entryCount };
}

function childLength({ low = EMPTY, high = EMPTY, entryCount = 0 }: TreeChild): number {
  return 1 + uintLength(low.length) + low.length + uintLength(high.length) + high.length + 35 +
    uintLength(entryCount);
}
