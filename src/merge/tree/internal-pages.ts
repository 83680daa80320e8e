/**
 * Internal pages that were decoded and checked, kept for the next version that shares them.
 *
 * @module
 */

import type { Address } from "../../encoding/address.ts";
import type { ChildRecords } from "../../model/child-records.ts";
import type { PageEntry } from "../../model/page-entry.ts";
import type { TreeChild, TreePage } from "./tree-format.ts";

/** An internal page of a tree. */
export type InternalPage = Extract<TreePage<PageEntry>, { readonly leaf: false }>;

/** How many children the pages that are kept may have in all. */
const KEPT_CHILDREN = 32_768;

/** Keeps internal pages; what was asked for longest ago goes first. */
export class InternalPages {
  readonly #pages = new Map<string, InternalPage>();
  #children = 0;

  /** The page at `address`, read as one with so many levels from it down. */
  get(address: Address, height: number): InternalPage | undefined {
    const key = `${height} ${address}`;
    const page = this.#pages.get(key);
    if (page === undefined) return undefined;
    this.#pages.delete(key);
    this.#pages.set(key, page);
    return page;
  }

  keep(address: Address, height: number, page: InternalPage): void {
    const key = `${height} ${address}`;
    if (this.#pages.has(key)) return;
    this.#pages.set(key, page);
    this.#children += page.children.length;
    for (const [oldest, { children }] of this.#pages) {
      if (this.#children <= KEPT_CHILDREN) break;
      this.#pages.delete(oldest);
      this.#children -= children.length;
    }
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
