import { describe, expect, test } from "bun:test";
import fc from "fast-check";

import { isDreamDBError } from "../../src/errors.ts";
import { concatBytes, fromHex } from "../../src/encoding/bytes.ts";
import { decodeTreemap, encodeTreemap } from "../../src/encoding/treemap.ts";
import { refusalOf } from "./refusal.ts";
import type { ContainerParts } from "./treemap-bytes.ts";
import { array, bitmap, little, roaring, runs, treemap } from "./treemap-bytes.ts";

const range = (count: number) => Array.from({ length: count }, (_, index) => index);
const one = (container: ContainerParts) => treemap([0, roaring([container])]);
const good = roaring([array(0, [1, 2])]);

const rows: readonly (readonly [string, Uint8Array])[] = [
  ["nothing", new Uint8Array(0)],
  ["seven bytes", new Uint8Array(7)],
  ["2^32 groups", concatBytes([little(2n ** 32n, 8), little(0, 4), good])],
  ["2^64-1 groups", concatBytes([little(2n ** 64n - 1n, 8), little(0, 4), good])],
  ["a group more than there are", concatBytes([little(2, 8), little(0, 4), good])],
  ["a group fewer than there are", concatBytes([little(0, 8), little(0, 4), good])],
  ["a byte behind the last group", concatBytes([treemap([0, good]), Uint8Array.of(0)])],
  ["groups that descend", treemap([1, good], [0, good])],
  ["a group twice", treemap([1, good], [1, good])],
  ["another cookie", treemap([0, concatBytes([little(12345, 4), good.subarray(4)])])],
  ["high bits in the cookie", treemap([0, concatBytes([little(12346 + 65536, 4), good.slice(4)])])],
  ["no container", treemap([0, concatBytes([little(12346, 4), little(0, 4)])], [1, good])],
  ["65,537 containers", treemap([0, concatBytes([little(12346, 4), little(65537, 4), good])])],
  [
    "2^32-1 containers",
    treemap([0, concatBytes([little(12346, 4), little(2 ** 32 - 1, 4), good])]),
  ],
  [
    "65,536 containers that are not there",
    treemap([0, fromHex(`3a30000000000100${"00".repeat(64)}`)]),
  ],
  ["65,536 run containers that are not there", treemap([0, fromHex(`3b30ffff${"ff".repeat(64)}`)])],
  ["containers that descend", treemap([0, roaring([array(1, [1]), array(0, [1])])])],
  ["a container twice", treemap([0, roaring([array(1, [1]), array(1, [2])])])],
  ["values that descend", one(array(0, [2, 1]))],
  ["a value twice", one(array(0, [2, 2]))],
  ["a cardinality above the array's values", one({ ...array(0, [1, 2]), less: 2 })],
  ["a cardinality below the array's values", one({ ...array(0, [1, 2]), less: 0 })],
  ["a cardinality that makes the array a bitmap", one({ ...array(0, [1, 2]), less: 65535 })],
  ["a cardinality above the bitmap's values", one({ ...bitmap(0, range(5000)), less: 5000 })],
  ["a cardinality below the bitmap's values", one({ ...bitmap(0, range(5000)), less: 4998 })],
  [
    "a cardinality below those of the last bitmap",
    treemap([
      0,
      roaring([bitmap(0, range(5000)), { ...bitmap(1, range(5000)), less: 4200 }]),
    ]),
  ],
  ["a full bitmap that claims 4,097", one({ ...bitmap(0, range(65536)), less: 4096 })],
  ["a bitmap that is cut off", one({ ...bitmap(0, range(5000)), values: new Uint8Array(8191) })],
  ["an offset backwards", treemap([0, roaring([array(0, [1])], () => 0)])],
  ["an offset one too far", treemap([0, roaring([array(0, [1])], (_, offset) => offset + 1)])],
  ["an offset past the end", treemap([0, roaring([array(0, [1])], () => 2 ** 32 - 1)])],
  [
    "two offsets at one container",
    treemap([
      0,
      roaring([array(0, [1]), array(1, [1])], (index, offset) => index === 0 ? offset : offset - 2),
    ]),
  ],
  ["a run past 65,535", one({ key: 0, less: 1, values: fromHex("0100ffff0100"), run: true })],
  [
    "a run of 65,536 from 1",
    one({ key: 0, less: 65535, values: fromHex("01000100ffff"), run: true }),
  ],
  ["runs that descend", one(runs(0, [[10, 11], [0, 1]]))],
  ["runs that overlap", one(runs(0, [[0, 5], [5, 9]]))],
  ["no runs", one({ key: 0, less: 0, values: fromHex("0000"), run: true })],
  ["runs of more than the cardinality", one({ ...runs(0, [[0, 9]]), less: 8 })],
  ["runs of less than the cardinality", one({ ...runs(0, [[0, 9]]), less: 10 })],
  [
    "65,535 runs that are not there",
    one({ key: 0, less: 9, values: fromHex("ffff00000900"), run: true }),
  ],
  ["runs that are cut off", one({ key: 0, less: 9, values: fromHex("0100000009"), run: true })],
];

describe("refused as no anchor set", () => {
  for (const [what, bytes] of rows) {
    test(what, () => {
      expect(refusalOf(() => decodeTreemap(bytes))).toBe("malformed-object");
    });
  }

  test("with the kind, the place and both sides in the message", () => {
    expect(() => decodeTreemap(treemap([5, good], [4, good]))).toThrow(
      "group 4 after group 5 at byte 32 of an anchor set; expected ascending groups",
    );
    try {
      decodeTreemap(new Uint8Array(0));
    } catch (error) {
      expect(isDreamDBError(error) && error.fault).toMatchObject({ kind: "roaring-treemap" });
    }
  });
});

describe("the number of anchors", () => {
  const full = (containers: number) =>
    treemap([0, roaring(range(containers).map((key) => runs(key, [[0, 65535]])))]);

  test("is bounded before they are expanded: 2^26 and one container more", () => {
    expect(refusalOf(() => decodeTreemap(full(1025)))).toBe("malformed-object");
  });

  test("is bounded over all groups together", () => {
    const group = roaring(range(1000).map((key) => runs(key, [[0, 65535]])));
    expect(refusalOf(() => decodeTreemap(treemap([0, group], [1, group])))).toBe(
      "malformed-object",
    );
  });

  test("may be bounded by the caller, to the anchor", () => {
    const bytes = one(array(0, [1, 2, 3]));
    expect(decodeTreemap(bytes, { maxAnchors: 3 })).toHaveLength(3);
    expect(refusalOf(() => decodeTreemap(bytes, { maxAnchors: 2 }))).toBe("malformed-object");
  });
});

test("a changed byte or a cut is refused or makes a set that is ascending", () => {
  const seeds = [
    encodeTreemap(BigUint64Array.of(1000n, 1003n, 1_800_000_000_000_000_000n)),
    treemap([7, roaring([array(0, [1, 9]), runs(1, [[2, 8]]), array(2, [4]), runs(9, [[0, 3]])])]),
    treemap([1, roaring([bitmap(0, range(4100))])]),
  ];
  fc.assert(
    fc.property(fc.constantFrom(...seeds), fc.nat(), fc.nat(255), fc.boolean(), (
      seed,
      place,
      byte,
      cut,
    ) => {
      const index = place % seed.length;
      const bytes = cut ? seed.slice(0, index) : seed.slice();
      if (!cut) bytes[index] = byte;
      let anchors: BigUint64Array;
      try {
        anchors = decodeTreemap(bytes);
      } catch (error) {
        if (isDreamDBError(error, "malformed-object")) return;
        throw error;
      }
      expect(decodeTreemap(encodeTreemap(anchors))).toEqual(anchors);
    }),
    { numRuns: 1500 },
  );
});
