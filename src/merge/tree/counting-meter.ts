/**
 * The meter of pages whose items take the same bytes in every page.
 *
 * @module
 */

import { uintLength } from "../../model/page-entry.ts";
import type { PageMeter } from "./tree-format.ts";

/** Limits a page by its bytes and by the number of its items. */
export class CountingMeter<Item> implements PageMeter<Item> {
  readonly #room: number;
  readonly #most: number;
  readonly #lengthOf: (item: Item) => number;
  #count = 0;
  #length = 0;

  /**
   * @param room bytes for the items and the head of their array
   * @param most items of a page
   * @param lengthOf bytes of an item
   */
  constructor(room: number, most: number, lengthOf: (item: Item) => number) {
    this.#room = room;
    this.#most = most;
    this.#lengthOf = lengthOf;
  }

  tryAdd(item: Item): boolean {
    const count = this.#count + 1;
    const length = this.#length + this.#lengthOf(item);
    const full = count > this.#most || uintLength(count) + length > this.#room;
    if (full && this.#count > 0) return false;
    this.#count = count;
    this.#length = length;
    return true;
  }

  clear(): void {
    this.#count = 0;
    this.#length = 0;
  }
}
