/**
 * Memory while a large tree is built as a whole.
 *
 * @module
 */

import process from "node:process";

/** Below this many bytes of resident memory nothing is collected: it takes time and gains nothing. */
const ENOUGH = 192 * 1024 * 1024;

/**
 * Counts the bytes of pages and has garbage collected now and then. Bun sizes its heap by the
 * machine's memory and lets buffers that nobody needs grow to hundreds of megabytes; other runtimes
 * offer no way to ask, and need none.
 */
export class GarbageCounter {
  readonly #every: number;
  #bytes = 0;

  /** @param every bytes of pages after which garbage is collected */
  constructor(every: number) {
    this.#every = every;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < this.#every) return;
    this.#bytes = 0;
    const { Bun: runtime } = globalThis as { readonly Bun?: { gc(sync: boolean): void } };
    if (runtime !== undefined && process.memoryUsage.rss() >= ENOUGH) runtime.gc(true);
  }
}
