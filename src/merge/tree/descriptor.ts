/**
 * Trees and the descriptors that Tracks have of them (PAGED 3 and 7).
 *
 * @module
 */

import type { BtreeIndex, PagedIndex } from "../../model/track.ts";
import type { Tree } from "./tree-format.ts";

/** The tree that a descriptor describes. */
export function treeOf(index: PagedIndex | BtreeIndex): Tree {
  const { root, treeHeight: height, pageCount } = index;
  return index.form === "paged"
    ? { root, height, pageCount, entryCount: index.totalItems, fanout: index.fanout }
    : { root, height, pageCount, entryCount: index.totalEntries, fanout: undefined };
}

/** The descriptor of a tree of Index Pages. */
export function pagedIndex(tree: Tree): PagedIndex {
  return {
    form: "paged",
    root: tree.root,
    fanout: tree.fanout ?? 0,
    pageCount: tree.pageCount,
    totalItems: tree.entryCount,
    treeHeight: tree.height,
  };
}

/** The descriptor of a scalar B-tree. */
export function btreeIndex(tree: Tree): BtreeIndex {
  return {
    form: "scalar-btree-v1",
    root: tree.root,
    pageCount: tree.pageCount,
    treeHeight: tree.height,
    totalEntries: tree.entryCount,
  };
}
