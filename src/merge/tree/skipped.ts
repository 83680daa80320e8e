/**
 * Pages that two trees share and a comparison therefore skipped.
 *
 * Writers put the same entry into a tree twice when the same records are appended twice. Its
 * second copy can then stand in a shared page while the first one is in a page that only one tree
 * has. Before an entry is called added or removed, the shared pages that could hold it are asked.
 *
 * @module
 */

import { bytesKey, equalBytes } from "../../encoding/bytes.ts";
import type { PageEntry } from "../../model/page-entry.ts";
import { loadPage } from "./tree-format.ts";
import type { PageLoader, TreeChild, TreeFormat } from "./tree-format.ts";

interface SkippedPage {
  readonly child: TreeChild;
  readonly height: number;
}

/** Shared pages, by what they can hold. */
export class SkippedPages<Entry extends PageEntry> {
  readonly #format: TreeFormat<Entry>;
  readonly #load: PageLoader;
  /** By first and last cell or sort key: inside these no entry of another page can stand. */
  readonly #byKey = new Map<string, SkippedPage[]>();
  readonly #byTime: SkippedPage[] = [];
  #sorted = true;

  constructor(format: TreeFormat<Entry>, load: PageLoader) {
    this.#format = format;
    this.#load = load;
  }

  /** Notes a shared page. */
  add(child: TreeChild, height: number): void {
    const page = { child, height };
    const { low, high } = child;
    if (low === undefined || high === undefined) {
      this.#byTime.push(page);
      this.#sorted = false;
      return;
    }
    const keys = equalBytes(low, high) ? [low] : [low, high];
    for (const key of keys) {
      const text = bytesKey(key);
      const pages = this.#byKey.get(text);
      if (pages === undefined) this.#byKey.set(text, [page]);
      else pages.push(page);
    }
  }

  /**
   * Whether a shared page holds `entry`.
   * @param onlyTimed asks only pages whose times are known, where asking is cheap
   */
  async holds(entry: Entry, onlyTimed: boolean): Promise<boolean> {
    const key = this.#format.key(entry);
    for (const page of key === undefined ? [] : this.#byKey.get(bytesKey(key)) ?? []) {
      if (onlyTimed && page.child.start === undefined) continue;
      if (meets(page.child, entry) && await this.#holdsBelow(page, entry)) return true;
    }
    for (const page of key === undefined ? this.#around(entry) : this.#byTime) {
      if (meets(page.child, entry) && await this.#holdsBelow(page, entry)) return true;
    }
    return false;
  }

  /** The pages of a tree ordered by time that can hold an entry with this start. */
  *#around(entry: Entry): Generator<SkippedPage> {
    if (!this.#sorted) {
      this.#byTime.sort((a, b) => startOf(a) < startOf(b) ? -1 : startOf(a) > startOf(b) ? 1 : 0);
      this.#sorted = true;
    }
    let low = 0;
    let high = this.#byTime.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const page = this.#byTime[middle];
      if (page !== undefined && startOf(page) <= entry.start) low = middle + 1;
      else high = middle;
    }
    for (let index = low - 1; index >= 0; index--) {
      const page = this.#byTime[index];
      if (page === undefined) return;
      yield page;
      // Starts ascend from leaf to leaf: an earlier page can hold the entry only if this one begins with it.
      if (startOf(page) < entry.start) return;
    }
  }

  async #holdsBelow({ child, height }: SkippedPage, entry: Entry): Promise<boolean> {
    const page = await loadPage(this.#format, this.#load, child, height);
    if (page.leaf) return page.entries.some((other) => equalBytes(other.bytes, entry.bytes));
    for (const below of page.children) {
      if (this.#format.isBefore(below, entry) || this.#format.isAfter(below, entry)) continue;
      if (!meets(below, entry)) continue;
      if (await this.#holdsBelow({ child: below, height: height - 1 }, entry)) return true;
    }
    return false;
  }
}

function startOf(page: SkippedPage): bigint {
  return page.child.start ?? 0n;
}

function meets(child: TreeChild, entry: PageEntry): boolean {
  return (child.start === undefined || child.start <= entry.start) &&
    (child.end === undefined || entry.start < child.end);
}
