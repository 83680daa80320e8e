import { describe, expect, test } from "bun:test";

import { fromHex, toHex } from "../../src/encoding/bytes.ts";
import { CborCursor } from "../../src/encoding/cbor-cursor.ts";
import { MAJOR } from "../../src/encoding/cbor-head.ts";
import { encodeCanonical } from "../../src/encoding/cbor-encode.ts";
import { integerVectors, stringVectors } from "./cbor-vectors.ts";
import { refusalOf } from "./refusal.ts";

const cursorOf = (hex: string) => new CborCursor(fromHex(hex));

test("a cursor walks an entry as it lies", () => {
  const cursor = cursorOf("861b18fae27693b400011903e86474657874f5f642abcd");
  expect(cursor.peekMajor()).toBe(MAJOR.array);
  expect(cursor.readArrayLength()).toBe(6);
  expect(cursor.readUint()).toBe(1800000000000000001n);
  expect(cursor.readSafeUint()).toBe(1000);
  expect(cursor.readText()).toBe("text");
  expect(cursor.takeNull()).toBe(false);
  expect(cursor.readBoolean()).toBe(true);
  expect(cursor.takeNull()).toBe(true);
  expect(cursor.done).toBe(false);
  expect(toHex(cursor.readBytes())).toBe("abcd");
  expect(cursor.done).toBe(true);
});

test("readInt is exact on every edge", () => {
  for (const [hex, value] of integerVectors) expect(cursorOf(hex).readInt()).toBe(value as bigint);
});

test("readUint and readSafeUint are exact on every edge they cover", () => {
  for (const [hex, value] of integerVectors) {
    if (typeof value !== "bigint" || value < 0n) continue;
    expect(cursorOf(hex).readUint()).toBe(value);
    if (value < 2n ** 53n) expect(cursorOf(hex).readSafeUint()).toBe(Number(value));
    else expect(refusalOf(() => cursorOf(hex).readSafeUint())).toBe("malformed-cbor");
  }
});

test("texts and bytes are read as they are decoded", () => {
  for (const [hex, value] of stringVectors) {
    if (typeof value === "string") {
      expect(cursorOf(hex).readText()).toBe(value);
      expect(new TextDecoder("utf-8", { ignoreBOM: true }).decode(cursorOf(hex).readTextBytes()))
        .toBe(value);
    } else if (value instanceof Uint8Array) {
      expect(cursorOf(hex).readBytes()).toEqual(value);
    }
  }
});

test("texts and bytes are views", () => {
  const bytes = fromHex("826161420102");
  const cursor = new CborCursor(bytes);
  cursor.readArrayLength();
  expect(cursor.readTextBytes().buffer).toBe(bytes.buffer);
  expect(cursor.readBytes().buffer).toBe(bytes.buffer);
});

describe("what is next is not what was asked for", () => {
  const rows: readonly (readonly [string, string, (cursor: CborCursor) => unknown])[] = [
    ["readUint at a negative integer", "20", (cursor) => cursor.readUint()],
    ["readUint at a text", "6130", (cursor) => cursor.readUint()],
    ["readUint at a float", "f93c00", (cursor) => cursor.readUint()],
    ["readInt at bytes", "4101", (cursor) => cursor.readInt()],
    ["readSafeUint at a negative integer", "20", (cursor) => cursor.readSafeUint()],
    ["readText at bytes", "4161", (cursor) => cursor.readText()],
    ["readText at invalid UTF-8", "61ff", (cursor) => cursor.readText()],
    ["readTextBytes at invalid UTF-8", "61ff", (cursor) => cursor.readTextBytes()],
    ["readBytes at a text", "6161", (cursor) => cursor.readBytes()],
    ["readBytes past the end", "4261", (cursor) => cursor.readBytes()],
    ["readBoolean at null", "f6", (cursor) => cursor.readBoolean()],
    ["readBoolean at 1", "01", (cursor) => cursor.readBoolean()],
    ["readArrayLength at a map", "a0", (cursor) => cursor.readArrayLength()],
    ["readArrayLength of more than there is", "8301", (cursor) => cursor.readArrayLength()],
    ["readMapLength at an array", "80", (cursor) => cursor.readMapLength()],
    ["readMapLength of more than there is", "a2616101", (cursor) => cursor.readMapLength()],
    ["readFloat at an integer", "01", (cursor) => cursor.readFloat()],
    ["readFloat at a longer form", "fa3f800000", (cursor) => cursor.readFloat()],
    ["takeNull at the end", "", (cursor) => cursor.takeNull()],
    ["peekMajor at the end", "", (cursor) => cursor.peekMajor()],
    ["skip at a float", "f93c00", (cursor) => cursor.skip()],
  ];
  for (const [what, hex, read] of rows) {
    test(what, () => {
      const cursor = cursorOf(hex);
      expect(refusalOf(() => read(cursor))).toBe("malformed-cbor");
    });
  }
});

describe("readKey", () => {
  test("reads keys that ascend", () => {
    const cursor = cursorOf("a3617a006261610062c3a900");
    const keys: string[] = [];
    let previous: string | undefined;
    for (let left = cursor.readMapLength(); left > 0; left--) {
      previous = cursor.readKey(previous);
      keys.push(previous);
      cursor.skip();
    }
    expect(keys).toEqual(["z", "aa", "é"]);
  });

  for (const [previous, next] of [["a", "6161"], ["b", "6161"], ["aa", "617a"], ["é", "62c3a8"]]) {
    test(`refuses ${next} after ${previous}`, () => {
      expect(refusalOf(() => cursorOf(next ?? "").readKey(previous))).toBe("malformed-cbor");
    });
  }
});

test("skip moves over one item and leaves it as a range of bytes", () => {
  const entries = [[0n, "a"], [1n, new Map([["k", [null, true]]])], [2n ** 63n, new Uint8Array(3)]];
  const bytes = encodeCanonical(entries);
  const cursor = new CborCursor(bytes);
  const ranges: string[] = [];
  for (let left = cursor.readArrayLength(); left > 0; left--) {
    const start = cursor.offset;
    cursor.skip();
    ranges.push(toHex(bytes.subarray(start, cursor.offset)));
  }
  expect(ranges).toEqual(entries.map((entry) => toHex(encodeCanonical(entry))));
  expect(cursor.done).toBe(true);
});
