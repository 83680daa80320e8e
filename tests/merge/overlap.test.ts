import { describe, expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import { meetsAny, mergeIntervals, overlappingIntervals } from "../../src/merge/overlap.ts";
import type { OwnedInterval } from "../../src/merge/overlap.ts";
import { anchorAt } from "../support/rows.ts";

setDefaultTimeout(60_000);

const interval = (largest: number) =>
  fc.tuple(fc.nat(largest), fc.nat(6)).map(([start, length]) => ({
    start: anchorAt(start),
    end: anchorAt(start + length) + 1n,
  }));

const owned = fc.array(
  fc.tuple(interval(30), fc.nat(3)).map(([one, owner]): OwnedInterval => ({ ...one, owner })),
  { maxLength: 25 },
);

/** Every pair looked at. */
function overlappingSlowly(intervals: readonly OwnedInterval[]): number[] {
  return intervals.flatMap((a, index) =>
    intervals.some((b) => a.owner !== b.owner && a.start < b.end && b.start < a.end) ? [index] : []
  );
}

describe("overlappingIntervals", () => {
  test("marks what a look at every pair marks", () => {
    fc.assert(
      fc.property(owned, (intervals) => {
        expect(overlappingIntervals(intervals)).toEqual(overlappingSlowly(intervals));
      }),
      { numRuns: 500 },
    );
  });

  test("intervals that only touch do not overlap", () => {
    const [a, b, c] = [anchorAt(0), anchorAt(1), anchorAt(2)];
    expect(overlappingIntervals([
      { start: a, end: b, owner: 0 },
      { start: b, end: c, owner: 1 },
    ])).toEqual([]);
  });

  test("an interval around many of another owner marks all of them", () => {
    const inner = Array.from({ length: 5 }, (_, index) => ({
      start: anchorAt(10 * index),
      end: anchorAt(10 * index) + 1n,
      owner: 1,
    }));
    expect(overlappingIntervals([...inner, { start: 0n, end: anchorAt(100), owner: 2 }]))
      .toEqual([0, 1, 2, 3, 4, 5]);
  });

  test("one owner does not overlap with itself", () => {
    const all = { start: 0n, end: anchorAt(9), owner: 3 };
    expect(overlappingIntervals([all, all, all])).toEqual([]);
  });
});

test("mergeIntervals and meetsAny cover the same points as the intervals", () => {
  fc.assert(
    fc.property(fc.array(interval(40), { maxLength: 12 }), interval(45), (intervals, probe) => {
      const merged = mergeIntervals(intervals);
      merged.forEach((one, index) => {
        const before = merged[index - 1];
        if (before !== undefined) expect(before.end).toBeLessThan(one.start);
      });
      expect(meetsAny(merged, probe.start, probe.end)).toBe(
        intervals.some(({ start, end }) => start < probe.end && probe.start < end),
      );
    }),
    { numRuns: 300 },
  );
});
