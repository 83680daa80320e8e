/**
 * Pages that were decoded and checked, kept for the next version that shares them.
 *
 * @module
 */

import type { Address } from "../../encoding/address.ts";
import type { ChildRecords } from "../../model/child-records.ts";
import type { PageEntry } from "../../model/page-entry.ts";
import { RecentlyUsed } from "../recently-used.ts";
import type { TreeChild, TreePage } from "./tree-format.ts";

/** How many children the internal pages that are kept may have in all, and entries the leaves. */
const KEPT_CHILDREN = 32_768;
const KEPT_ENTRIES = 16_384;

/** Keeps pages by address and height: a page has one meaning at each level. */
export class KeptPages<Entry extends PageEntry> {
  readonly #internals = new RecentlyUsed<TreePage<Entry>>(KEPT_CHILDREN);
  readonly #leaves = new RecentlyUsed<TreePage<Entry>>(KEPT_ENTRIES);

  /** @param height levels from the page down */
  get(address: Address, height: number): TreePage<Entry> | undefined {
    return height === 1 ? this.#leaves.get(address) : this.#internals.get(`${height} ${address}`);
  }

  keep(address: Address, height: number, page: TreePage<Entry>): void {
    if (page.leaf) this.#leaves.set(address, page, page.entries.length);
    else this.#internals.set(`${height} ${address}`, page, page.children.length);
  }
}

/**
 * The records of internal pages, for the decoder that made them.
 * @param pages pages of one format, whose children are of the type `Child`
 */
export function recordsOf<Child extends TreeChild>(
  pages: readonly TreePage<PageEntry>[],
): readonly ChildRecords<Child>[] {
  return pages.flatMap((page) =>
    page.leaf || page.records === undefined ? [] : [page.records as ChildRecords<Child>]
  );
}
