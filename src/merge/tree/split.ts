/**
 * Cutting a run of items into pages.
 *
 * @module
 */

import type { PageMeter } from "./tree-format.ts";

/** How many of the items from `from` on fit into one page; at least one. */
function longestPrefix<Item>(
  items: readonly Item[],
  from: number,
  meter: PageMeter<Item>,
): number {
  meter.clear();
  let end = from;
  for (; end < items.length; end++) {
    const item = items[end];
    if (item === undefined || !meter.tryAdd(item)) break;
  }
  return Math.max(1, end - from);
}

/** Fills page after page; the last one may be nearly empty. */
export function cutGreedily<Item>(
  items: readonly Item[],
  meter: PageMeter<Item>,
): readonly (readonly Item[])[] {
  const pages: (readonly Item[])[] = [];
  for (let from = 0; from < items.length;) {
    const count = longestPrefix(items, from, meter);
    pages.push(items.slice(from, from + count));
    from += count;
  }
  return pages;
}

/**
 * The reference's split rule (PAGED 5): with n items left of which c fit into a page, take
 * ceil(n / ceil(n / c)) of them; so pages of one run are nearly equal.
 */
export function cutEvenly<Item>(
  items: readonly Item[],
  meter: PageMeter<Item>,
): readonly (readonly Item[])[] {
  const pages: (readonly Item[])[] = [];
  for (let from = 0; from < items.length;) {
    const left = items.length - from;
    const capacity = longestPrefix(items, from, meter);
    const count = Math.ceil(left / Math.ceil(left / capacity));
    pages.push(items.slice(from, from + count));
    from += count;
  }
  return pages;
}
