import { describe, expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import { addressBytes, addressOf } from "../../src/encoding/address.ts";
import { concatBytes, toHex } from "../../src/encoding/bytes.ts";
import { indexEntryRun, inlineDifference } from "../../src/merge/inline-difference.ts";
import { encodeSpatialEntry } from "../../src/model/index-entry.ts";
import { anchorAt, blob } from "../support/rows.ts";
import { cellName } from "../support/store-fields.ts";

setDefaultTimeout(60_000);

const ADDRESSES = Array.from({ length: 3 }, (_, index) => addressBytes(addressOf(blob(index))));

/** An entry that its number tells apart from all others, in one of few cells. */
function entry(number: number): Uint8Array {
  return encodeSpatialEntry(
    new TextEncoder().encode(cellName(number % 5)),
    anchorAt(number >> 3),
    anchorAt(number) + 1n,
    180 + number,
    ADDRESSES[number % 3] ?? new Uint8Array(33),
    undefined,
    undefined,
  );
}

function difference(base: readonly number[], side: readonly number[]) {
  const bytes = concatBytes(base.map(entry));
  const { added, removed } = inlineDifference(
    indexEntryRun(bytes, base.length),
    concatBytes(side.map(entry)),
    side.length,
  );
  return { added: added.map(toHex).sort(), removed: removed.map(toHex).sort() };
}

function differenceOfSets(base: readonly number[], side: readonly number[]) {
  const only = (a: readonly number[], b: readonly number[]) =>
    a.filter((one) => !b.includes(one)).map((one) => toHex(entry(one))).sort();
  return { added: only(side, base), removed: only(base, side) };
}

const numbers = fc.uniqueArray(fc.nat(60), { maxLength: 30 });
const byWriter = (list: readonly number[]) =>
  [...list].sort((a, b) => a % 5 - b % 5 || (a >> 3) - (b >> 3));

describe("inlineDifference", () => {
  test("of entries in a writer's order, whatever the order of ties, is that of sets", () => {
    fc.assert(
      fc.property(numbers, numbers, fc.boolean(), (base, side, reversed) => {
        const other = byWriter(reversed ? [...side].reverse() : side);
        expect(difference(byWriter(base), other)).toEqual(differenceOfSets(base, side));
      }),
      { numRuns: 400 },
    );
  });

  test("of entries in no order is that of sets", () => {
    fc.assert(
      fc.property(numbers, numbers, (base, side) => {
        expect(difference(base, side)).toEqual(differenceOfSets(base, side));
      }),
      { numRuns: 400 },
    );
  });

  test("of a version with itself is nothing, although its entries stand in another order", () => {
    fc.assert(
      fc.property(numbers, (list) => {
        expect(difference(list, [...list].reverse())).toEqual({ added: [], removed: [] });
      }),
      { numRuns: 300 },
    );
  });

  test("of long equal runs finds the one entry between them", () => {
    const long = Array.from({ length: 60 }, (_, index) => index);
    const many = byWriter(long);
    for (const gone of [many[0] ?? 0, many[31] ?? 0, many[59] ?? 0]) {
      const less = many.filter((one) => one !== gone);
      expect(difference(less, many)).toEqual({ added: [toHex(entry(gone))], removed: [] });
      expect(difference(many, less)).toEqual({ added: [], removed: [toHex(entry(gone))] });
    }
  });

  test("refuses entries that are not CBOR where they are new", () => {
    const base = entry(1);
    const side = concatBytes([base, new Uint8Array([0xff])]);
    expect(() => inlineDifference(indexEntryRun(base, 1), side, 2))
      .toThrow(expect.objectContaining({ code: "malformed-cbor" }));
  });

  test("refuses an index that holds more or fewer entries than it says", () => {
    const run = indexEntryRun(entry(1), 1);
    const side = concatBytes([entry(1), entry(2)]);
    for (const count of [1, 3]) {
      expect(() => inlineDifference(run, side, count))
        .toThrow(expect.objectContaining({ code: "malformed-object" }));
    }
  });
});
