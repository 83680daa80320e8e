import { describe, expect, test } from "bun:test";
import { AdaptiveLimit } from "../../src/store/s3-adaptive.ts";

/** Runs that many requests one after the other. */
async function run(limit: AdaptiveLimit, count: number, overloaded: boolean): Promise<void> {
  for (let request = 0; request < count; request++) {
    await limit.run(async () => overloaded, (result) => result);
  }
}

/** Requests that end when told to. */
function open(limit: AdaptiveLimit, count: number) {
  const ends: ((overloaded: boolean) => void)[] = [];
  const all = Array.from(
    { length: count },
    () =>
      limit.run(() => new Promise<boolean>((resolve) => ends.push(resolve)), (result) => result),
  );
  return { ends, all: Promise.all(all) };
}

describe("the limit of requests at once", () => {
  test("starts in the middle and does not pass its ceiling", async () => {
    const limit = new AdaptiveLimit(64, 66);
    expect(limit.limit).toBe(64);
    await run(limit, 64 + 65 + 66, false);
    expect(limit.limit).toBe(66);
    expect(new AdaptiveLimit(64, 16).limit).toBe(16);
  });

  test("grows by one when as many requests as it allows went well", async () => {
    const limit = new AdaptiveLimit(4, 100);
    await run(limit, 4, false);
    expect(limit.limit).toBe(4);
    await run(limit, 1, false);
    expect(limit.limit).toBe(5);
  });

  test("halves with every overload of a request that was started after the last", async () => {
    const limit = new AdaptiveLimit(64, 256);
    for (const expected of [32, 16, 8, 4, 2, 1, 1]) {
      await run(limit, 1, true);
      expect(limit.limit).toBe(expected);
    }
  });

  test("halves once for a burst of overloads", async () => {
    const limit = new AdaptiveLimit(64, 256);
    const { ends, all } = open(limit, 64);
    await new Promise((resolve) => setImmediate(resolve));
    for (const end of ends) end(true);
    await all;
    expect(limit.limit).toBe(32);
  });

  test("lets waiting requests in, in order, when there is room", async () => {
    const limit = new AdaptiveLimit(2, 2);
    const { ends, all } = open(limit, 5);
    for (let ended = 0; ended < 5; ended++) {
      await new Promise((resolve) => setImmediate(resolve));
      expect(ends.length).toBe(Math.min(5, ended + 2));
      ends[ended]?.(false);
    }
    await all;
  });

  test("survives requests that fail", async () => {
    const limit = new AdaptiveLimit(1, 1);
    const failing = limit.run(async () => {
      throw new Error("it failed");
    }, () => false);
    expect(await failing.catch((error) => String(error))).toContain("it failed");
    await run(limit, 1, false);
    expect(limit.limit).toBe(1);
  });

  test("forgets a waiting request whose signal is aborted", async () => {
    const limit = new AdaptiveLimit(1, 1);
    const { ends, all } = open(limit, 1);
    const stop = new AbortController();
    const waiting = limit.run(async () => "ran", () => false, stop.signal).catch((error) => error);
    stop.abort(new Error("stop"));
    expect(await waiting).toBe(stop.signal.reason);
    ends[0]?.(false);
    await all;
    await run(limit, 1, false);
  });
});
