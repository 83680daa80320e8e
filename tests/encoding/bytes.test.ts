import { describe, expect, test } from "bun:test";
import fc from "fast-check";

import {
  bytesKey,
  compareBytes,
  concatBytes,
  equalBytes,
  fromHex,
  toHex,
} from "../../src/encoding/bytes.ts";
import { refusalOf } from "./refusal.ts";

const long = "00".repeat(70);

describe("compareBytes", () => {
  const ordered: readonly (readonly [string, string])[] = [
    ["", "00"],
    ["00", "0000"],
    ["7f", "80"],
    ["00ff", "01"],
    ["01", "ff00"],
    [`${long}`, `${long}00`],
    [`${long}7f`, `${long}80`],
    [`${long}ff00`, `${long}ff01`],
  ];
  for (const [less, more] of ordered) {
    test(`${less} before ${more}`, () => {
      expect(compareBytes(fromHex(less), fromHex(more))).toBeLessThan(0);
      expect(compareBytes(fromHex(more), fromHex(less))).toBeGreaterThan(0);
      expect(compareBytes(fromHex(more), fromHex(more))).toBe(0);
    });
  }
});

test("equalBytes looks at length and content", () => {
  expect(equalBytes(fromHex("0102"), fromHex("0102"))).toBe(true);
  expect(equalBytes(fromHex("0102"), fromHex("0103"))).toBe(false);
  expect(equalBytes(fromHex("0102"), fromHex("010200"))).toBe(false);
});

test("concatBytes joins in order, into an array of its own", () => {
  const part = fromHex("0a0b");
  const joined = concatBytes([part, new Uint8Array(0), part.subarray(1)]);
  part.fill(0);
  expect(toHex(joined)).toBe("0a0b0b");
});

test("hexadecimal text and bytes are each other's inverse", () => {
  fc.assert(fc.property(fc.uint8Array(), (bytes) => {
    expect(fromHex(toHex(bytes))).toEqual(bytes);
  }));
  expect(fromHex("AbCd")).toEqual(Uint8Array.of(0xab, 0xcd));
});

test("bytes inside a larger buffer are taken alone", () => {
  const inside = fromHex("00010203").subarray(1, 3);
  expect(toHex(inside)).toBe("0102");
  expect(bytesKey(inside)).toBe("\u0001\u0002");
});

for (const text of ["0", "0g", "0x00", " 00"]) {
  test(`fromHex refuses ${JSON.stringify(text)}`, () => {
    expect(refusalOf(() => fromHex(text))).toBe("malformed-object");
  });
}

test("bytesKey tells all arrays apart", () => {
  fc.assert(fc.property(fc.uint8Array(), fc.uint8Array(), (a, b) => {
    expect(bytesKey(a) === bytesKey(b)).toBe(equalBytes(a, b));
  }));
  expect(bytesKey(Uint8Array.of(0x80))).not.toBe(bytesKey(Uint8Array.of(0xc2, 0x80)));
});
