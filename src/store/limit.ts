/**
 * Bounds on how much happens at once.
 *
 * @module
 */

import type { Connector } from "./connector.ts";

/** Lets at most `size` tasks run at once; the others wait in the order in which they came. */
export class Semaphore {
  readonly #size: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(size: number) {
    if (!Number.isInteger(size) || size < 1) throw new RangeError(`a limit of ${size} tasks`);
    this.#size = size;
  }

  /** Runs `task` when there is room. A task whose signal is aborted while it waits never starts. */
  async run<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.#running >= this.#size) await waitIn(this.#waiting, signal);
    else this.#running++;
    try {
      signal?.throwIfAborted();
      return await task();
    } finally {
      const next = this.#waiting.shift();
      // The place is handed over, so that a newcomer cannot overtake.
      if (next === undefined) this.#running--;
      else next();
    }
  }
}

/**
 * Waits at the end of `queue` until called from there; leaves it when `signal` is aborted.
 * @throws the reason of `signal`
 */
export function waitIn(queue: (() => void)[], signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const start = () => {
      signal?.removeEventListener("abort", leave);
      resolve();
    };
    const leave = () => {
      queue.splice(queue.indexOf(start), 1);
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", leave, { once: true });
    queue.push(start);
  });
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
