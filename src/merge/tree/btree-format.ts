/**
 * The format of scalar B-trees: integer, float, text and timestamp fields (PAGED 7).
 *
 * @module
 */

import { compareBytes } from "../../encoding/bytes.ts";
import {
  BTREE_LIMITS,
  btreeChild,
  btreeChildLength,
  btreeEntry,
  compareBtreeEntries,
  decodeBtreePage,
  encodeBtreeInternal,
  encodeBtreeLeaf,
} from "../../model/btree-page.ts";
import type { BtreeChild, BtreeEntry, BtreeLimits } from "../../model/btree-page.ts";
import { malformedObject } from "../../model/malformed.ts";
import { uintLength } from "../../model/page-entry.ts";
import type { OrderedAlgorithm } from "../../model/scalar-key.ts";
import { CountingMeter } from "./counting-meter.ts";
import { KeptPages, recordsOf } from "./kept-pages.ts";
import type { TreeFormat, TreePage } from "./tree-format.ts";

const EMPTY = new Uint8Array(0);

/** Map head, keys and type of a leaf; an internal page's type is four bytes longer. */
const LEAF_FRAME = 1 + 5 + 5 + 6 + 8 + 10;
const INTERNAL_FRAME = LEAF_FRAME + 4;

/** The format of one field's B-tree, with the reference's limits unless others are given. */
export function btreeFormat(
  algorithm: OrderedAlgorithm,
  limits: BtreeLimits = BTREE_LIMITS,
): TreeFormat<BtreeEntry> {
  // The level of every page a tree can have takes one byte.
  const tail = 1 + uintLength(algorithm.length) + algorithm.length;
  return {
    name: "B-tree page",
    internalRule: "greedy",
    canonical: true,
    key: (entry) => entry.sort,
    entry: (entry) => btreeEntry(algorithm, entry),
    kept: new KeptPages(),
    decode(bytes, height, address, like = []): TreePage<BtreeEntry> {
      const page = decodeBtreePage(bytes, {
        algorithm,
        limits,
        path: address,
        like: recordsOf<BtreeChild>(like),
      });
      const level = page.type === "leaf" ? 0 : page.level;
      if (level !== height - 1) {
        throw malformedObject(
          { kind: "B-tree page", path: address },
          `level ${level}`,
          `level ${height - 1}, as tree_height says`,
        );
      }
      return page.type === "leaf"
        ? { leaf: true, entries: page.entries }
        : { leaf: false, children: page.children, records: page.records };
    },
    encodeLeaf: (entries) => encodeBtreeLeaf(algorithm, entries),
    encodeInternal: (children, height) => encodeBtreeInternal(algorithm, height - 1, children),
    childOf(page, address) {
      const [low, high] = page.leaf
        ? [page.entries[0]?.sort.slice(), page.entries.at(-1)?.sort.slice()]
        : [page.children[0]?.low, page.children.at(-1)?.high];
      return btreeChild(address, low ?? EMPTY, high ?? EMPTY);
    },
    leafMeter: () =>
      new CountingMeter(
        limits.pageBytes - LEAF_FRAME - tail,
        limits.leafFanout,
        (entry) => entry.bytes.length,
      ),
    internalMeter: () =>
      new CountingMeter(
        limits.pageBytes - INTERNAL_FRAME - tail,
        limits.internalFanout,
        btreeChildLength,
      ),
    compare: compareBtreeEntries,
    // Writers route by the sort key alone, so entries of one value are in order only inside a leaf.
    compareRegion: (a, b) => compareBytes(a.sort, b.sort),
    canRoute: () => true,
    reaches: (child, entry) => compareBytes(child.low ?? EMPTY, entry.sort) <= 0,
    isBefore: (child, entry) => compareBytes(entry.sort, child.low ?? EMPTY) < 0,
    isAfter: (child, entry) => compareBytes(entry.sort, child.high ?? EMPTY) > 0,
  };
}
