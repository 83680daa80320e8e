import { describe, expect, test } from "bun:test";
import { RecentlyUsed } from "../../src/merge/recently-used.ts";

describe("what was asked for of late is kept", () => {
  test("until half of the weight was set since", () => {
    const cache = new RecentlyUsed<number>(10);
    for (let number = 0; number < 5; number++) cache.set(`${number}`, number);
    expect(cache.get("0")).toBe(0);
    for (let number = 5; number < 10; number++) cache.set(`${number}`, number);
    expect(cache.get("9")).toBe(9);
    for (let number = 10; number < 15; number++) cache.set(`${number}`, number);
    expect(cache.get("1")).toBeUndefined();
  });

  test("longer when it is asked for again", () => {
    const cache = new RecentlyUsed<number>(10);
    cache.set("mine", -1);
    for (let number = 0; number < 100; number++) {
      cache.set(`${number}`, number);
      expect([number, cache.get("mine")]).toEqual([number, -1]);
    }
  });

  test("by weight, not by number", () => {
    const cache = new RecentlyUsed<number>(10);
    for (const number of [1, 2, 3]) cache.set(`${number}`, number, 5);
    expect([1, 2, 3].map((number) => cache.get(`${number}`))).toEqual([undefined, 2, 3]);
  });

  test("even when one value is heavier than all may be", () => {
    const cache = new RecentlyUsed<number>(10);
    cache.set("light", 1);
    cache.set("heavy", 2, 100);
    expect([cache.get("light"), cache.get("heavy")]).toEqual([1, 2]);
    cache.set("next", 3);
    cache.set("last", 4, 5);
    expect([cache.get("light"), cache.get("heavy")]).toEqual([undefined, undefined]);
  });

  test("as what it was set to last", () => {
    const cache = new RecentlyUsed<string>(10);
    cache.set("key", "first", 2);
    cache.set("key", "second", 3);
    expect(cache.get("key")).toBe("second");
  });
});
