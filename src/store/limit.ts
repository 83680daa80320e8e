/**
 * Bounds on how much happens at once.
 *
 * @module
 */

import type { Connector } from "./connector.ts";

/** Lets at most `size` tasks run at once; the others wait in the order in which they came. */
export class Semaphore {
  readonly #size: number;
  readonly #waiting = new WaitingLine();
  #running = 0;

  constructor(size: number) {
    if (!Number.isInteger(size) || size < 1) throw new RangeError(`a limit of ${size} tasks`);
    this.#size = size;
  }

  /** Runs `task` when there is room. A task whose signal is aborted while it waits never starts. */
  async run<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.#running >= this.#size) await this.#waiting.wait(signal);
    else this.#running++;
    try {
      signal?.throwIfAborted();
      return await task();
    } finally {
      // The place is handed over, so that a newcomer cannot overtake.
      if (!this.#waiting.next()) this.#running--;
    }
  }
}

interface Waiter {
  readonly signal: AbortSignal | undefined;
  readonly start: () => void;
  readonly leave: (reason: unknown) => void;
}

interface Watch {
  /** How many wait with the signal. */
  count: number;
  readonly onAbort: () => void;
}

/** Those who wait for their turn, first come, first served. */
export class WaitingLine {
  #waiting: Waiter[] = [];
  /** One listener for each signal, however many wait with it. */
  readonly #watched = new Map<AbortSignal, Watch>();

  /** How many wait. */
  get length(): number {
    return this.#waiting.length;
  }

  /**
   * Waits for the turn.
   * @throws the reason of `signal`, when it is aborted before
   */
  wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((start, leave) => {
      this.#waiting.push({ signal, start, leave });
      if (signal === undefined) return;
      const watch = this.#watched.get(signal);
      if (watch !== undefined) watch.count++;
      else {
        const onAbort = () => this.#leave(signal);
        this.#watched.set(signal, { count: 1, onAbort });
        signal.addEventListener("abort", onAbort, { once: true });
      }
    });
  }

  /** Gives the first one the turn; false when nobody waits. */
  next(): boolean {
    const first = this.#waiting.shift();
    if (first === undefined) return false;
    const { signal, start } = first;
    const watch = signal === undefined ? undefined : this.#watched.get(signal);
    if (signal !== undefined && watch !== undefined && --watch.count === 0) {
      signal.removeEventListener("abort", watch.onAbort);
      this.#watched.delete(signal);
    }
    start();
    return true;
  }

  #leave(aborted: AbortSignal): void {
    const leaving = this.#waiting.filter(({ signal }) => signal === aborted);
    this.#waiting = this.#waiting.filter(({ signal }) => signal !== aborted);
    this.#watched.delete(aborted);
    for (const { leave } of leaving) leave(aborted.reason);
  }
}

/**
 * Applies `task` to every item, at most `limit` at once; the results are in the order of the items.
 *
 * After the first failure nothing more is started, the signal given to the running tasks is
 * aborted, and the failure is thrown once all of them have ended: no task outlives the call.
 * @throws what the first failing task threw, or the reason of `signal`
 */
export async function mapConcurrent<Item, Result>(
  items: Iterable<Item>,
  limit: number,
  task: (item: Item, index: number, signal: AbortSignal) => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result[]> {
  const stop = new AbortController();
  const inner = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
  const results: Result[] = [];
  const iterator = items[Symbol.iterator]();
  let index = 0;
  let failure: { readonly error: unknown } | undefined;

  async function work(): Promise<void> {
    while (failure === undefined) {
      try {
        const step = iterator.next();
        if (step.done === true) return;
        const place = index++;
        signal?.throwIfAborted();
        results[place] = await task(step.value, place, inner);
      } catch (error) {
        failure ??= { error };
        stop.abort(failure.error);
      }
    }
  }

  await Promise.all(Array.from({ length: Math.max(1, limit) }, work));
  if (failure !== undefined) throw failure.error;
  return results;
}

/** `holdRef` of a store that has it, for a wrapper around that store. */
export function holding(connector: Connector): Pick<Connector, "holdRef"> {
  if (connector.holdRef === undefined) return {};
  return {
    holdRef: (name, work, options) => connector.holdRef?.(name, work, options) ?? work(),
  };
}
