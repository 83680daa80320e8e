/**
 * Pages that two trees share and a comparison therefore skipped.
 *
 * Writers put the same entry into a tree twice when the same records are appended twice. Its
 * second copy can then stand in a shared page while the first one is in a page that only one tree
 * has. Before an entry is called added or removed, the shared pages that could hold it are asked.
 *
 * @module
 */

import { compareBytes, equalBytes } from "../../encoding/bytes.ts";
import { comparePageChildren } from "../../model/page-entry.ts";
import type { PageEntry } from "../../model/page-entry.ts";
import { loadPage } from "./tree-format.ts";
import type { PageLoader, TreeChild, TreeFormat } from "./tree-format.ts";

const NONE = new Uint8Array(0);

interface SkippedPage {
  readonly child: TreeChild;
  readonly height: number;
}

/** Shared pages of one level. */
interface SkippedLevel {
  readonly height: number;
  /** Pages whose first and last cell or sort key are known. */
  readonly byKey: TreeChild[];
  readonly byTime: TreeChild[];
  sorted: boolean;
}

/** Shared pages, by what they can hold. */
export class SkippedPages<Entry extends PageEntry> {
  readonly #format: TreeFormat<Entry>;
  readonly #load: PageLoader;
  readonly #levels: SkippedLevel[] = [];

  constructor(format: TreeFormat<Entry>, load: PageLoader) {
    this.#format = format;
    this.#load = load;
  }

  /** Notes the shared pages of a level. */
  add(children: readonly TreeChild[], height: number): void {
    if (children.length === 0) return;
    const level: SkippedLevel = { height, byKey: [], byTime: [], sorted: false };
    for (const child of children) {
      if (child.low === undefined || child.high === undefined) level.byTime.push(child);
      else level.byKey.push(child);
    }
    this.#levels.push(level);
  }

  /**
   * Whether a shared page holds `entry`; nearly always no page has to be read for the answer.
   * @param onlyTimed asks only pages whose times are known, where asking is cheap
   */
  holds(entry: Entry, onlyTimed: boolean): boolean | Promise<boolean> {
    const pages = this.#candidates(entry, onlyTimed);
    return pages.length > 0 && this.#anyHolds(pages, entry);
  }

  /** The shared pages that can hold `entry`, as far as the pages above them tell. */
  #candidates(entry: Entry, onlyTimed: boolean): readonly SkippedPage[] {
    const key = this.#format.key(entry);
    const found: SkippedPage[] = [];
    for (const level of this.#levels) {
      if (!level.sorted) {
        level.byKey.sort(comparePageChildren);
        level.byTime.sort(comparePageChildren);
        level.sorted = true;
      }
      const put = (child: TreeChild): void => {
        if (meets(child, entry)) found.push({ child, height: level.height });
      };
      if (key === undefined) eachAround(level.byTime, entry, put);
      else {
        eachWithEdge(level.byKey, key, (child) => {
          if (!onlyTimed || child.start !== undefined) put(child);
        });
        for (const child of level.byTime) put(child);
      }
    }
    return found;
  }

  async #anyHolds(pages: readonly SkippedPage[], entry: Entry): Promise<boolean> {
    for (const { child, height } of pages) {
      if (await this.#holdsBelow(child, height, entry)) return true;
    }
    return false;
  }

  async #holdsBelow(child: TreeChild, height: number, entry: Entry): Promise<boolean> {
    const page = await loadPage(this.#format, this.#load, child, height);
    if (page.leaf) return page.entries.some((other) => equalBytes(other.bytes, entry.bytes));
    for (const below of page.children) {
      if (this.#format.isBefore(below, entry) || this.#format.isAfter(below, entry)) continue;
      if (!meets(below, entry)) continue;
      if (await this.#holdsBelow(below, height - 1, entry)) return true;
    }
    return false;
  }
}

/** How many of the first pages, in order, are those for which `is` holds. */
function countFirst(
  pages: readonly TreeChild[],
  is: (page: TreeChild) => boolean,
): number {
  let low = 0;
  let high = pages.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const page = pages[middle];
    if (page !== undefined && is(page)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Calls `use` with the pages that begin or end with a key. No entry of another page stands strictly
 * inside of what a page spans, so others cannot hold it.
 */
function eachWithEdge(
  pages: readonly TreeChild[],
  key: Uint8Array,
  use: (page: TreeChild) => void,
): void {
  const first = countFirst(pages, ({ low = NONE }) => compareBytes(low, key) < 0);
  for (let index = first - 1; index >= 0; index--) {
    const page = pages[index];
    if (page?.high === undefined || compareBytes(page.high, key) < 0) break;
    use(page);
  }
  for (let index = first; index < pages.length; index++) {
    const page = pages[index];
    if (page?.low === undefined || compareBytes(page.low, key) > 0) break;
    use(page);
  }
}

/** Calls `use` with the pages of a tree ordered by time that can hold an entry with this start. */
function eachAround(
  pages: readonly TreeChild[],
  entry: PageEntry,
  use: (page: TreeChild) => void,
): void {
  const count = countFirst(pages, ({ start = 0n }) => start <= entry.start);
  for (let index = count - 1; index >= 0; index--) {
    const page = pages[index];
    if (page === undefined) return;
    use(page);
    // Starts ascend from leaf to leaf: an earlier page can hold the entry only if this one begins with it.
    if ((page.start ?? 0n) < entry.start) return;
  }
}

function meets(child: TreeChild, entry: PageEntry): boolean {
  return (child.start === undefined || child.start <= entry.start) &&
    (child.end === undefined || entry.start < child.end);
}
