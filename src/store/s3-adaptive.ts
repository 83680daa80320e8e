/**
 * How many requests are open at once: more while all goes well, half when the store says that it is
 * too much (additive increase, multiplicative decrease; BACKEND 4.1).
 *
 * @module
 */

import { WaitingLine } from "./limit.ts";

/** A limit that follows what the store can take. */
export class AdaptiveLimit {
  readonly #ceiling: number;
  readonly #waiting = new WaitingLine();
  #limit: number;
  #running = 0;
  /** Number of the request that was started last, and of the one after which a decrease counts. */
  #started = 0;
  #decreasedAt = 0;

  constructor(start: number, ceiling: number) {
    this.#limit = Math.min(start, ceiling);
    this.#ceiling = ceiling;
  }

  /** The limit at this moment, a whole number of requests. */
  get limit(): number {
    return Math.floor(this.#limit);
  }

  /** Runs one request; `isOverload` tells from its result whether the store was overloaded. */
  async run<T>(
    request: () => Promise<T>,
    isOverload: (result: T) => boolean,
    signal?: AbortSignal,
  ): Promise<T> {
    await this.#enter(signal);
    const number = ++this.#started;
    try {
      const result = await request();
      if (isOverload(result)) this.#decrease(number);
      else this.#limit = Math.min(this.#ceiling, this.#limit + 1 / this.#limit);
      return result;
    } finally {
      this.#running--;
      this.#admit();
    }
  }

  // One burst of refusals answers requests of one and the same limit: it halves the limit once.
  #decrease(number: number): void {
    if (number <= this.#decreasedAt) return;
    this.#limit = Math.max(1, this.#limit / 2);
    this.#decreasedAt = this.#started;
  }

  async #enter(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.#running < this.limit && this.#waiting.length === 0) {
      this.#running++;
      return;
    }
    await this.#waiting.wait(signal);
  }

  #admit(): void {
    while (this.#running < this.limit && this.#waiting.next()) this.#running++;
  }
}
