import { describe, expect, test } from "bun:test";

import { isDreamDBError } from "../../src/errors.ts";
import { fromHex } from "../../src/encoding/bytes.ts";
import { CborCursor } from "../../src/encoding/cbor-cursor.ts";
import { decodeCanonical } from "../../src/encoding/cbor-decode.ts";
import { refusalOf } from "./refusal.ts";

/** What, the bytes, and where the fault is. */
type Refused = readonly (readonly [string, string, number])[];

const notCanonical: Refused = [
  ["a one-byte head for 23", "1817", 0],
  ["a one-byte head for 0", "1800", 0],
  ["a two-byte head for 255", "1900ff", 0],
  ["a four-byte head for 65,535", "1a0000ffff", 0],
  ["an eight-byte head for 2^32-1", "1b00000000ffffffff", 0],
  ["a long head of a negative integer", "3800", 0],
  ["a long length of bytes", "580101", 0],
  ["a long length of a text", "780161", 0],
  ["a long count of an array", "980101", 0],
  ["a long count of a map", "b801616101", 0],
  ["an array of indefinite length", "9f01ff", 0],
  ["a map of indefinite length", "bf616101ff", 0],
  ["bytes of indefinite length", "5f4101ff", 0],
  ["a text of indefinite length", "7f6161ff", 0],
  ["a lone break", "ff", 0],
  ["reserved additional information", "1c", 0],
  ["keys that are not sorted", "a2616202616101", 4],
  ["a longer key before a shorter one", "a262626201616102", 5],
  ["keys in text order, not by length", "a262616100616100", 5],
  ["a key that occurs twice", "a2616101616102", 4],
  ["the empty key twice", "a260016002", 3],
  ["an integer as key", "a10102", 1],
  ["bytes as key", "a1416101", 1],
  ["a key with a long head", "a178016101", 1],
  ["a long head deep inside", "8201a16161811801", 6],
];

const notAllowed: Refused = [
  ["undefined", "f7", 0],
  ["simple value 0", "e0", 0],
  ["simple value 19", "f3", 0],
  ["simple value 32", "f820", 0],
  ["false in two bytes", "f814", 0],
  ["a tag", "c001", 0],
  ["a tag of a large integer", "c249010000000000000000", 0],
  ["a tag of a typed array", "d8404101", 0],
  ["a tag of a record", "d9dfff8319e00081616101", 0],
  ["a self-description", "d9d9f701", 0],
  ["a half float", "f93c00", 0],
  ["a single float", "fa47c35000", 0],
  ["a double float", "fb3ff199999999999a", 0],
  ["a float in an array", "8201f93c00", 2],
];

const notWhole: Refused = [
  ["nothing", "", 0],
  ["a byte behind the item", "0100", 1],
  ["a second item", "a0a0", 1],
  ["an array with an item too few", "8201", 0],
  ["a map without its value", "a16161", 3],
  ["a map with a value too few", "a26161016162", 6],
  ["a head that is cut off", "19", 0],
  ["a head that is cut off after a byte", "1b00", 0],
  ["a text that is cut off", "6261", 0],
  ["bytes that are cut off", "4201", 0],
];

const notUtf8: Refused = [
  ["a lone continuation byte", "6180", 1],
  ["a byte no UTF-8 has", "61ff", 1],
  ["an overlong two-byte form", "62c0af", 1],
  ["an overlong two-byte form of a letter", "62c1a1", 1],
  ["an overlong three-byte form", "63e080af", 1],
  ["an overlong four-byte form", "64f08080af", 1],
  ["a surrogate", "63eda080", 1],
  ["a code point past U+10FFFF", "64f4908080", 1],
  ["a five-byte form", "65f888808080", 1],
  ["a form cut off by the end of the text", "61c3", 1],
  ["a form cut off whose rest lies behind the text", "8261c361a9", 2],
  ["a third byte that does not continue", "63e6b041", 1],
  ["an invalid byte after ASCII", "63616280", 3],
  ["an invalid byte in a key", "a161ff01", 2],
];

function refuses(name: string, rows: Refused, options: { readonly floats?: boolean } = {}) {
  describe(name, () => {
    for (const [what, hex, offset] of rows) {
      test(`${what} (${hex})`, () => {
        const bytes = fromHex(hex);
        expect(refusalOf(() => decodeCanonical(bytes, options))).toBe("malformed-cbor");
        try {
          decodeCanonical(bytes, options);
        } catch (error) {
          expect(isDreamDBError(error) && error.fault).toMatchObject({ offset });
        }
      });
    }
  });
}

refuses("canonical CBOR has no", notCanonical);
refuses("DreamDB has no", notAllowed);
refuses("an object is one whole item, so not", notWhole);
refuses("a text is UTF-8, so not", notUtf8);
refuses("where floats are allowed, still no", [
  ["NaN in two bytes", "f97e00", 0],
  ["NaN in four bytes", "fa7fc00000", 0],
  ["NaN in eight bytes", "fb7ff8000000000000", 0],
  ["NaN with another payload", "f97e01", 0],
  ["infinity", "f97c00", 0],
  ["minus infinity in eight bytes", "fbfff0000000000000", 0],
  ["1.0 in four bytes", "fa3f800000", 0],
  ["1.5 in eight bytes", "fb3ff8000000000000", 0],
  ["the smallest half in four bytes", "fa33800000", 0],
  ["zero in four bytes", "fa00000000", 0],
  ["minus zero in eight bytes", "fb8000000000000000", 0],
  ["100000.0 in eight bytes", "fb40f86a0000000000", 0],
  ["a float that is cut off", "f93c", 0],
  ["undefined", "f7", 0],
  ["a simple value", "f820", 0],
], { floats: true });

describe("a message", () => {
  test("says what was found, where, what was expected and what to do", () => {
    expect(() => decodeCanonical(fromHex("8218ff1817"))).toThrow(
      "23 in 8 bits at byte 3; expected the shortest head. The object is damaged or was not " +
        "written by DreamDB; restore it from a good copy",
    );
  });
});

test("skip refuses what decoding refuses", () => {
  for (const rows of [notCanonical, notAllowed, notUtf8]) {
    for (const [, hex] of rows) {
      const cursor = new CborCursor(fromHex(hex));
      expect(refusalOf(() => cursor.skip())).toBe("malformed-cbor");
    }
  }
});
