import { describe, expect, test } from "bun:test";

import { fromHex, toHex } from "../../src/encoding/bytes.ts";
import { CborCursor } from "../../src/encoding/cbor-cursor.ts";
import { decodeCanonical } from "../../src/encoding/cbor-decode.ts";
import { encodeCanonical } from "../../src/encoding/cbor-encode.ts";
import type { CborValue } from "../../src/encoding/cbor-value.ts";
import type { Vectors } from "./cbor-vectors.ts";
import {
  floatVectors,
  integerVectors,
  mapVectors,
  rfcVectors,
  stringVectors,
} from "./cbor-vectors.ts";
import { refusalOf } from "./refusal.ts";

const nested = (depth: number): CborValue => depth === 0 ? 0n : [nested(depth - 1)];

/** Keys in the order they come in, which `toEqual` does not look at. */
const keysOf = (value: CborValue) => value instanceof Map ? [...value.keys()] : [];

function bothWays(name: string, vectors: Vectors, options: { readonly floats?: boolean } = {}) {
  describe(name, () => {
    for (const [hex, value] of vectors) {
      const title = hex.length > 60 ? `${hex.slice(0, 60)}… (${hex.length / 2} bytes)` : hex;
      test(title, () => {
        const bytes = fromHex(hex);
        const decoded = decodeCanonical(bytes, options);
        expect(decoded).toEqual(value);
        expect(keysOf(decoded)).toEqual(keysOf(value));
        expect(toHex(encodeCanonical(value))).toBe(hex);
        const cursor = new CborCursor(bytes, 0, options);
        cursor.skip();
        expect(cursor.offset).toBe(bytes.length);
      });

      test(`${title} beside a float, which takes the other road`, () => {
        const beside = `82${hex}f93e00`;
        expect(decodeCanonical(fromHex(beside), { floats: true })).toEqual([value, 1.5]);
        expect(toHex(encodeCanonical([value, 1.5]))).toBe(beside);
      });
    }
  });
}

bothWays("RFC 8949 appendix A", rfcVectors);
bothWays("integers", integerVectors);
bothWays("strings", stringVectors);
bothWays("maps", mapVectors);
bothWays("floats", floatVectors, { floats: true });

test("a float is told from the integer of the same value", () => {
  expect(decodeCanonical(fromHex("8201f93c00"), { floats: true })).toEqual([1n, 1]);
  expect(toHex(encodeCanonical([1n, 1]))).toBe("8201f93c00");
});

test("the sign of a zero is kept", () => {
  expect(Object.is(decodeCanonical(fromHex("f98000"), { floats: true }), -0)).toBe(true);
});

test("containers of every width of a count", () => {
  for (const [count, head] of [[23, "97"], [24, "9818"], [256, "990100"], [65536, "9a00010000"]]) {
    const value = Array.from({ length: Number(count) }, () => null);
    const hex = head + "f6".repeat(Number(count));
    expect(toHex(encodeCanonical(value))).toBe(hex);
    expect(decodeCanonical(fromHex(hex))).toEqual(value);
  }
  const map = new Map(Array.from({ length: 300 }, (_, index) => [`${index + 100}`, null]));
  expect(toHex(encodeCanonical(map)).slice(0, 6)).toBe("b9012c");
  expect(decodeCanonical(encodeCanonical(map))).toEqual(map);
});

test("map keys are sorted whatever order they come in", () => {
  const value = new Map<string, CborValue>([["tracks", 1n], ["b", 2n], ["ts", 3n], ["a", 4n]]);
  expect([...(decodeCanonical(encodeCanonical(value)) as ReadonlyMap<string, CborValue>).keys()])
    .toEqual(["a", "b", "ts", "tracks"]);
});

describe("what is handed out", () => {
  test("decoded bytes are views of the object and of no other kind than Uint8Array", () => {
    const object = Buffer.from("8142abcd", "hex");
    const [bytes] = decodeCanonical(object) as readonly Uint8Array[];
    expect(Object.getPrototypeOf(bytes)).toBe(Uint8Array.prototype);
    expect(bytes?.buffer).toBe(object.buffer);
  });

  test("decoding leaves no mark on the bytes it was given", () => {
    const object = fromHex("a1616101");
    decodeCanonical(object);
    expect(Object.keys(object)).toEqual(["0", "1", "2", "3"]);
  });

  test("encoding gives an array of its own", () => {
    const first = encodeCanonical("a");
    encodeCanonical("b");
    expect(toHex(first)).toBe("6161");
    expect(Object.getPrototypeOf(first)).toBe(Uint8Array.prototype);
    expect(first.buffer.byteLength).toBe(2);
  });

  test("a part of a larger buffer is decoded alone", () => {
    expect(decodeCanonical(fromHex("ff8101ff").subarray(1, 3))).toEqual([1n]);
  });
});

describe("what has no canonical form is refused", () => {
  const values: readonly (readonly [string, CborValue])[] = [
    ["2^64", 2n ** 64n],
    ["-2^64-1", -(2n ** 64n) - 1n],
    ["NaN", NaN],
    ["infinity", Infinity],
    ["minus infinity", -Infinity],
    ["a lone high surrogate", "a\ud800"],
    ["a lone low surrogate in a long text", `${"a".repeat(100)}\udc00`],
    ["a lone surrogate in a key", new Map([["\ud800", 1n]])],
    ["65 containers in each other", nested(65)],
  ];
  for (const [what, value] of values) {
    test(what, () => {
      expect(refusalOf(() => encodeCanonical(value))).toBe("internal");
      expect(refusalOf(() => encodeCanonical([value, 1.5]))).toBe("internal");
    });
  }

  test("64 containers in each other still have one", () => {
    const bytes = encodeCanonical(nested(64));
    expect(bytes).toHaveLength(65);
    expect(decodeCanonical(bytes)).toEqual(nested(64));
  });
});
