import { describe, expect, test } from "bun:test";
import fc from "fast-check";

import { fromHex, toHex } from "../../src/encoding/bytes.ts";
import { decodeTreemap, encodeTreemap, unionAnchors } from "../../src/encoding/treemap.ts";
import { refusalOf } from "./refusal.ts";
import { array, bitmap, roaring, runs, treemap } from "./treemap-bytes.ts";

const anchorsOf = (...anchors: (bigint | number)[]) => BigUint64Array.from(anchors, BigInt);
const range = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

describe("a set and its bytes", () => {
  const rows: readonly (readonly [string, BigUint64Array, string])[] = [
    ["nothing", anchorsOf(), "0000000000000000"],
    [
      "the example of FORMAT 7",
      anchorsOf(1000, 1003),
      "0100000000000000000000003a300000010000000000010010000000e803eb03",
    ],
    [
      "one anchor of a real clock",
      anchorsOf(1800000000000000001n),
      "010000000000000076e2fa183a30000001000000b4930000100000000100",
    ],
    [
      "both ends of 64 bits",
      anchorsOf(0, 2n ** 64n - 1n),
      "0200000000000000000000003a3000000100000000000000100000000000ffffffff3a30000001000000ffff000010000000ffff",
    ],
    [
      "two containers of one group",
      anchorsOf(65535, 65536),
      "0100000000000000000000003a300000020000000000000001000000180000001a000000ffff0000",
    ],
  ];
  for (const [what, anchors, hex] of rows) {
    test(what, () => {
      expect(toHex(encodeTreemap(anchors))).toBe(hex);
      expect(decodeTreemap(fromHex(hex))).toEqual(anchors);
    });
  }

  const containers: readonly (readonly [string, readonly number[], Uint8Array])[] = [
    ["4,096 values in an array", range(0, 4095), roaring([array(0, range(0, 4095))])],
    ["4,097 values in a bitmap", range(0, 4096), roaring([bitmap(0, range(0, 4096))])],
    ["65,536 values in a bitmap", range(0, 65535), roaring([bitmap(0, range(0, 65535))])],
    [
      "an array between bitmaps",
      [...range(0, 5000), ...range(65536, 65540), ...range(131072, 136072)],
      roaring([bitmap(0, range(0, 5000)), array(1, range(0, 4)), bitmap(2, range(0, 5000))]),
    ],
    [
      "the last value of the last container",
      [2 ** 32 - 1],
      roaring([array(65535, [65535])]),
    ],
  ];
  for (const [what, values, bytes] of containers) {
    test(what, () => {
      const anchors = anchorsOf(...values);
      expect(toHex(encodeTreemap(anchors))).toBe(toHex(treemap([0, bytes])));
      expect(decodeTreemap(treemap([0, bytes]))).toEqual(anchors);
      const high = anchors.map((anchor) => anchor | (0xfffffffen << 32n));
      expect(decodeTreemap(treemap([0xfffffffe, bytes]))).toEqual(high);
    });
  }
});

describe("run containers, which the reference never writes, are read", () => {
  const rows: readonly (readonly [string, Uint8Array, readonly number[]])[] = [
    ["one run", roaring([runs(0, [[10, 19]])]), range(10, 19)],
    ["a run of one value", roaring([runs(0, [[7, 7]])]), [7]],
    ["a full container", roaring([runs(3, [[0, 65535]])]), range(3 * 65536, 4 * 65536 - 1)],
    [
      "runs up to the end",
      roaring([runs(0, [[0, 1], [5, 5], [65534, 65535]])]),
      [0, 1, 5, 65534, 65535],
    ],
    [
      "beside arrays, without an offset table",
      roaring([array(0, [1]), runs(1, [[2, 3]]), array(2, [4])]),
      [1, 65538, 65539, 131076],
    ],
    [
      "beside arrays, with an offset table",
      roaring([array(0, [1]), runs(1, [[2, 3]]), array(2, [4]), array(65535, [5])]),
      [1, 65538, 65539, 131076, 65535 * 65536 + 5],
    ],
    [
      "nine containers, two bytes of flags",
      roaring([...range(0, 7).map((key) => array(key, [key])), runs(8, [[0, 1]])]),
      [...range(0, 7).map((key) => key * 65536 + key), 524288, 524289],
    ],
  ];
  for (const [what, bytes, values] of rows) {
    test(what, () => {
      expect(decodeTreemap(treemap([0, bytes]))).toEqual(anchorsOf(...values));
    });
  }
});

/** Anchors as they come: real clocks at several spacings, dense runs, and the ends of the range. */
const anchorSet = fc.tuple(
  fc.constantFrom(0n, 65530n, 2n ** 32n - 3n, 1_800_000_000_000_000_000n, 2n ** 64n - 5000n),
  fc.constantFrom(1n, 2n, 1000n, 40_000_000n),
  fc.uniqueArray(fc.nat(4000), { maxLength: 200 }),
).map(([start, step, indexes]) =>
  BigUint64Array.from(
    indexes.map((index) => start + step * BigInt(index)).filter((anchor) => anchor < 2n ** 64n),
  ).sort()
);

test("decoding undoes encoding", () => {
  fc.assert(fc.property(anchorSet, (anchors) => {
    expect(decodeTreemap(encodeTreemap(anchors))).toEqual(anchors);
  }));
});

test("a set inside a larger buffer is read alone", () => {
  const bytes = encodeTreemap(anchorsOf(5, 7));
  const inside = Uint8Array.of(1, ...bytes, 9);
  expect(decodeTreemap(inside.subarray(1, 1 + bytes.length))).toEqual(anchorsOf(5, 7));
});

describe("a set to write", () => {
  const rows: readonly (readonly [string, BigUint64Array])[] = [
    ["descends", anchorsOf(2, 1)],
    ["repeats an anchor", anchorsOf(1, 1)],
    ["descends in the high half", anchorsOf(2n ** 40n, 5)],
  ];
  for (const [what, anchors] of rows) {
    test(`is refused when it ${what}`, () => {
      expect(refusalOf(() => encodeTreemap(anchors))).toBe("internal");
    });
  }
});

describe("sets of anchors", () => {
  test("their union has every anchor once, ascending", () => {
    fc.assert(fc.property(fc.array(anchorSet, { maxLength: 5 }), (sets) => {
      const expected = new Set(sets.flatMap((set) => [...set]));
      expect(unionAnchors(sets)).toEqual(BigUint64Array.from(expected).sort());
    }));
  });

  test("the union of one set is a copy", () => {
    const set = anchorsOf(1, 2);
    const union = unionAnchors([set]);
    set[0] = 0n;
    expect(union).toEqual(anchorsOf(1, 2));
  });

  test("anchors that differ in one half only are told apart", () => {
    const low = anchorsOf(1, 2n ** 32n + 1n, 2n ** 63n + 1n);
    const high = anchorsOf(2, 2n ** 32n + 1n, 2n ** 63n);
    expect(unionAnchors([low, high])).toEqual(
      anchorsOf(1, 2, 2n ** 32n + 1n, 2n ** 63n, 2n ** 63n + 1n),
    );
  });
});
