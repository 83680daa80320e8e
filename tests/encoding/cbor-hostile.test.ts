import { describe, expect, test } from "bun:test";

import { CborCursor } from "../../src/encoding/cbor-cursor.ts";
import { decodeCanonical } from "../../src/encoding/cbor-decode.ts";
import { fromHex } from "../../src/encoding/bytes.ts";
import { refusalOf } from "./refusal.ts";

/** Bytes that ask for far more than they hold. */
const claims: readonly (readonly [string, string])[] = [
  ["an array of 2^32-1 items", "9affffffff"],
  ["an array of 2^32-1 items with two", "9affffffff0102"],
  ["an array of 2^63 items", "9b8000000000000000"],
  ["an array of 2^64-1 items", "9bffffffffffffffff"],
  ["a map of 2^32-1 entries", "baffffffff"],
  ["a map of 2^64-1 entries", "bbffffffffffffffff"],
  ["a map of 2^63 entries, twice which wraps", "bb8000000000000000616101"],
  ["bytes of 2^31-1", "5a7fffffff"],
  ["bytes of 2^63-1", "5b7fffffffffffffff"],
  ["bytes of 2^64-1", "5bffffffffffffffff"],
  ["a text of 2^32-1", "7affffffff"],
  ["a text of 2^64-1", "7bffffffffffffffff"],
  ["arrays that each claim all that is left", `${"9a00010000".repeat(60)}${"00".repeat(65546)}`],
  ["a bomb behind a valid item", "82009affffffff"],
  ["a bomb as a map value", "a161619affffffff"],
];

const nested = (head: readonly number[], depth: number, tail: readonly number[]) => {
  const bytes = new Uint8Array(head.length * depth + tail.length);
  for (let index = 0; index < depth; index++) bytes.set(head, head.length * index);
  bytes.set(tail, head.length * depth);
  return bytes;
};

const depths = [65, 1_000, 40_000, 100_000, 1_000_000];

describe("refused before anything is allocated or the stack is used up", () => {
  for (const [what, hex] of claims) {
    test(what, () => {
      expect(refusalOf(() => decodeCanonical(fromHex(hex)))).toBe("malformed-cbor");
      expect(refusalOf(() => new CborCursor(fromHex(hex)).skip())).toBe("malformed-cbor");
    });
  }

  for (const depth of depths) {
    test(`${depth} arrays in each other`, () => {
      expect(refusalOf(() => decodeCanonical(nested([0x81], depth, [0])))).toBe("malformed-cbor");
    });

    test(`${depth} maps in each other`, () => {
      expect(refusalOf(() => decodeCanonical(nested([0xa1, 0x61, 0x61], depth, [0])))).toBe(
        "malformed-cbor",
      );
    });

    test(`${depth} tags in each other`, () => {
      expect(refusalOf(() => decodeCanonical(nested([0xc6], depth, [0])))).toBe("malformed-cbor");
    });
  }

  test("64 arrays in each other are not too many", () => {
    expect(refusalOf(() => decodeCanonical(nested([0x81], 64, [0])))).toBeUndefined();
  });
});

test("the cost of refusing (printed, not judged)", () => {
  const inputs: readonly (readonly [string, Uint8Array])[] = [
    ...claims.map(([what, hex]) => [what, fromHex(hex)] as const),
    ...depths.map((depth) => [`${depth} arrays`, nested([0x81], depth, [0])] as const),
  ];
  for (const [what, bytes] of inputs) {
    const memory = process.memoryUsage().rss;
    const started = performance.now();
    const code = refusalOf(() => decodeCanonical(bytes));
    const elapsed = (performance.now() - started).toFixed(2);
    const grown = ((process.memoryUsage().rss - memory) / 2 ** 20).toFixed(1);
    console.log(`${what}: ${elapsed} ms, ${grown} MB`);
    expect(code).toBe("malformed-cbor");
  }
});
