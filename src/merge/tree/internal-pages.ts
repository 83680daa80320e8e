/**
 * Internal pages that were decoded and checked, kept for the next version that shares them.
 *
 * @module
 */

import type { Address } from "../../encoding/address.ts";
import type { ChildRecords } from "../../model/child-records.ts";
import type { PageEntry } from "../../model/page-entry.ts";
import { RecentlyUsed } from "../recently-used.ts";
import type { TreeChild, TreePage } from "./tree-format.ts";

/** An internal page of a tree. */
export type InternalPage = Extract<TreePage<PageEntry>, { readonly leaf: false }>;

/** How many children the pages that are kept may have in all. */
const KEPT_CHILDREN = 32_768;

/** Keeps internal pages by address and height: a page has one meaning at each level. */
export class InternalPages {
  readonly #pages = new RecentlyUsed<InternalPage>(KEPT_CHILDREN);

  get(address: Address, height: number): InternalPage | undefined {
    return this.#pages.get(`${height} ${address}`);
  }

  keep(address: Address, height: number, page: InternalPage): void {
    this.#pages.set(`${height} ${address}`, page, page.children.length);
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
