import { describe, expect, test } from "bun:test";
import { mapConcurrent, Semaphore } from "../../src/store/limit.ts";

/** Tasks that end when told to, and the number of those that run. */
function gate() {
  const waiting: (() => void)[] = [];
  const seen = { running: 0, most: 0 };
  return {
    seen,
    async pass<T>(value: T): Promise<T> {
      seen.running++;
      seen.most = Math.max(seen.most, seen.running);
      await new Promise<void>((resolve) => waiting.push(resolve));
      seen.running--;
      return value;
    },
    async openAll(): Promise<void> {
      while (waiting.length > 0) {
        waiting.shift()?.();
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

describe("mapConcurrent", () => {
  for (const limit of [1, 3, 100]) {
    test(`keeps to a limit of ${limit} and to the order of the items`, async () => {
      const { seen, pass, openAll } = gate();
      const items = Array.from({ length: 20 }, (_, index) => index);
      const done = mapConcurrent(items, limit, (item) => pass(item * 2));
      await openAll();
      expect(await done).toEqual(items.map((item) => item * 2));
      expect(seen.most).toBe(Math.min(limit, 20));
    });
  }

  test("takes items from a generator only when there is room", async () => {
    let taken = 0;
    function* items() {
      for (; taken < 1000;) yield taken++;
    }
    const { pass, openAll } = gate();
    const done = mapConcurrent(items(), 4, pass);
    expect(taken).toBe(4);
    await openAll();
    expect(await done).toHaveLength(1000);
  });

  test("throws the first failure after all running tasks have ended, and starts no more", async () => {
    const started: number[] = [];
    let ended = false;
    const failure = new Error("first");
    const outcome = await mapConcurrent([0, 1, 2, 3], 2, async (item, _index, signal) => {
      started.push(item);
      if (item === 0) {
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
        await new Promise((resolve) => setImmediate(resolve));
        ended = true;
        throw new Error("second");
      }
      throw failure;
    }).catch((error) => error);
    expect(outcome).toBe(failure);
    expect(ended).toBe(true);
    expect(started).toEqual([0, 1]);
  });

  test("stops when the signal is aborted", async () => {
    const stop = new AbortController();
    const reason = new Error("stop");
    let started = 0;
    const outcome = await mapConcurrent(Array(100).keys(), 2, async () => {
      if (++started === 5) stop.abort(reason);
    }, stop.signal).catch((error) => error);
    expect(outcome).toBe(reason);
    expect(started).toBeLessThan(8);
  });
});

describe("Semaphore", () => {
  test("hands places over in order and takes them back after a failure", async () => {
    const semaphore = new Semaphore(1);
    const order: number[] = [];
    const outcomes = await Promise.allSettled([0, 1, 2, 3].map((item) =>
      semaphore.run(async () => {
        order.push(item);
        if (item === 1) throw new Error("one fails");
      })
    ));
    expect(outcomes.map((outcome) => outcome.status)).toEqual([
      "fulfilled",
      "rejected",
      "fulfilled",
      "fulfilled",
    ]);
    expect(order).toEqual([0, 1, 2, 3]);
    expect(await semaphore.run(async () => "free")).toBe("free");
  });

  test("forgets a waiting task whose signal is aborted", async () => {
    const semaphore = new Semaphore(1);
    const { pass, openAll } = gate();
    const stop = new AbortController();
    const first = semaphore.run(() => pass(1));
    const second = semaphore.run(async () => "ran", stop.signal).catch((error) => error);
    const third = semaphore.run(async () => "third");
    stop.abort(new Error("stop"));
    expect(await second).toBe(stop.signal.reason);
    await openAll();
    expect(await first).toBe(1);
    expect(await third).toBe("third");
  });

  test("listens to a signal once, however many wait with it", async () => {
    const semaphore = new Semaphore(1);
    const { pass, openAll } = gate();
    const stops = [new AbortController(), new AbortController()] as const;
    let listening = 0;
    for (const { signal } of stops) {
      const { addEventListener, removeEventListener } = signal;
      signal.addEventListener = (...given: Parameters<typeof addEventListener>) => {
        listening++;
        addEventListener.apply(signal, given);
      };
      signal.removeEventListener = (...given: Parameters<typeof removeEventListener>) => {
        listening--;
        removeEventListener.apply(signal, given);
      };
    }
    const ran: number[] = [];
    const run = (item: number, signal: AbortSignal) =>
      semaphore.run(async () => void ran.push(item), signal).catch((error) => error);
    const first = semaphore.run(() => pass(0));
    const waiting = [1, 2, 3, 4, 5, 6].map((item) => run(item, stops[item % 2 ? 0 : 1].signal));
    expect(listening).toBe(2);
    stops[0].abort("odd");
    expect(await Promise.all([waiting[0], waiting[2], waiting[4]])).toEqual(["odd", "odd", "odd"]);
    await openAll();
    await Promise.all([first, ...waiting]);
    // That of the aborted signal went by itself.
    expect([ran, listening]).toEqual([[2, 4, 6], 1]);
  });

  test("refuses a limit below one", () => {
    expect(() => new Semaphore(0)).toThrow(RangeError);
  });
});
