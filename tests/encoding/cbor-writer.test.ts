import { describe, expect, test } from "bun:test";

import { fromHex, toHex } from "../../src/encoding/bytes.ts";
import { CborWriter } from "../../src/encoding/cbor-writer.ts";
import { floatVectors, integerVectors, stringVectors } from "./cbor-vectors.ts";
import { refusalOf } from "./refusal.ts";

function written(write: (writer: CborWriter) => void): string {
  const writer = new CborWriter(1);
  write(writer);
  expect(writer.length).toBe(writer.finish().length);
  return toHex(writer.finish());
}

test("integers on every edge", () => {
  for (const [hex, value] of integerVectors) {
    if (typeof value !== "bigint") continue;
    expect(written((writer) => writer.int(value))).toBe(hex);
    if (value < 0n) continue;
    expect(written((writer) => writer.uint(value))).toBe(hex);
    if (value >= 2n ** 53n) continue;
    expect(written((writer) => writer.uint(Number(value)))).toBe(hex);
  }
});

test("texts and bytes on every edge", () => {
  for (const [hex, value] of stringVectors) {
    if (typeof value === "string") expect(written((writer) => writer.text(value))).toBe(hex);
    else if (value instanceof Uint8Array) {
      expect(written((writer) => writer.bytes(value))).toBe(hex);
    }
  }
});

test("floats in their shortest width", () => {
  for (const [hex, value] of floatVectors) {
    expect(written((writer) => writer.float(Number(value)))).toBe(hex);
  }
});

test("containers, booleans, null and encoded items", () => {
  const hex = written((writer) => {
    writer.arrayHead(4);
    writer.mapHead(1);
    writer.text("a");
    writer.boolean(true);
    writer.boolean(false);
    writer.null();
    writer.raw(fromHex("8101"));
  });
  expect(hex).toBe("84a16161f5f4f68101");
});

test("heads of counts", () => {
  const rows: readonly (readonly [number, string, string])[] = [
    [0, "80", "a0"],
    [23, "97", "b7"],
    [24, "9818", "b818"],
    [256, "990100", "b90100"],
    [65536, "9a00010000", "ba00010000"],
    [2 ** 32, "9b0000000100000000", "bb0000000100000000"],
  ];
  for (const [count, array, map] of rows) {
    expect(written((writer) => writer.arrayHead(count))).toBe(array);
    expect(written((writer) => writer.mapHead(count))).toBe(map);
  }
});

test("the array that finish gives stays as it is", () => {
  const writer = new CborWriter();
  writer.uint(1);
  const first = writer.finish();
  writer.uint(2);
  expect(toHex(first)).toBe("01");
  expect(toHex(writer.finish())).toBe("0102");
});

describe("refused", () => {
  const rows: readonly (readonly [string, (writer: CborWriter) => void])[] = [
    ["uint of -1", (writer) => writer.uint(-1n)],
    ["uint of the number -1", (writer) => writer.uint(-1)],
    ["uint of 2^64", (writer) => writer.uint(2n ** 64n)],
    ["uint of the number 2^53", (writer) => writer.uint(2 ** 53)],
    ["uint of 1.5", (writer) => writer.uint(1.5)],
    ["uint of NaN", (writer) => writer.uint(NaN)],
    ["int of 2^64", (writer) => writer.int(2n ** 64n)],
    ["int of -2^64-1", (writer) => writer.int(-(2n ** 64n) - 1n)],
    ["a lone surrogate", (writer) => writer.text("\ud800")],
    ["a lone surrogate in a long text", (writer) => writer.text(`${"a".repeat(99)}\ud800`)],
    ["NaN", (writer) => writer.float(NaN)],
    ["infinity", (writer) => writer.float(-Infinity)],
    ["a negative count", (writer) => writer.arrayHead(-1)],
  ];
  for (const [what, write] of rows) {
    test(what, () => {
      const writer = new CborWriter();
      writer.uint(7);
      expect(refusalOf(() => write(writer))).toBe("internal");
      expect(toHex(writer.finish())).toBe("07");
    });
  }
});
