/**
 * A position in runs of entries that come in order.
 *
 * @module
 */

import type { EntryRuns } from "./build.ts";

/** Reads runs entry by entry; only the change from one run to the next has to be awaited. */
export class RunCursor<Entry> {
  readonly #runs: AsyncIterator<readonly Entry[]> | Iterator<readonly Entry[]>;
  #run: readonly Entry[] = [];
  #index = 0;
  #ended = false;

  constructor(runs: EntryRuns<Entry>) {
    this.#runs = Symbol.asyncIterator in runs
      ? runs[Symbol.asyncIterator]()
      : runs[Symbol.iterator]();
  }

  /** Whether `peek` can answer without `refill`. */
  get ready(): boolean {
    return this.#index < this.#run.length || this.#ended;
  }

  /** The entry at the position; undefined at the end. */
  peek(): Entry | undefined {
    return this.#run[this.#index];
  }

  /** Gets runs until there is an entry or the end. */
  async refill(): Promise<void> {
    while (!this.ready) {
      const step = await this.#runs.next();
      if (step.done === true) this.#ended = true;
      else this.#run = step.value;
      this.#index = 0;
      if (this.#ended) this.#run = [];
    }
  }

  /**
   * Moves the entries for which `belongs` holds into `into`.
   * @returns false when the run ended first; then `refill` and call again
   */
  take(belongs: (entry: Entry) => boolean, into: Entry[]): boolean {
    for (let entry = this.peek(); entry !== undefined; entry = this.peek()) {
      if (!belongs(entry)) return true;
      into.push(entry);
      this.#index++;
    }
    return this.#ended;
  }

  /** Ends the runs, so that what they hold is let go. */
  async close(): Promise<void> {
    await this.#runs.return?.();
  }
}
