import { describe, expect, test } from "bun:test";
import fc from "fast-check";

import {
  addressBytes,
  addressFromBytes,
  addressOf,
  compareAddresses,
  isAddress,
  parseAddress,
} from "../../src/encoding/address.ts";
import { decodeBase32, encodeBase32 } from "../../src/encoding/base32.ts";
import { compareBytes, fromHex, toHex } from "../../src/encoding/bytes.ts";
import { refusalOf } from "./refusal.ts";

const genesis = "a1656e6f6e6365501a877519c621ade0108b25b8f2d47a1a";
const genesisAddress = "d2zbqn4nx5lbbe5747gqudhbz2walkhydsrl24z74cqi55ieezcrq";
const refBody = "1e85214c43c2eeef751981911a834b7e932a1251d2c249c7e193c49805017f7f46";

describe("base32", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["", ""],
    ["66", "my"],
    ["666f", "mzxq"],
    ["666f6f", "mzxw6"],
    ["666f6f62", "mzxw6yq"],
    ["666f6f6261", "mzxw6ytb"],
    ["666f6f626172", "mzxw6ytboi"],
    ["ffffffffff", "77777777"],
  ];
  for (const [hex, text] of rows) {
    test(`${hex || "nothing"} is ${text || "nothing"}`, () => {
      expect(encodeBase32(fromHex(hex))).toBe(text);
      expect(toHex(decodeBase32(text))).toBe(hex);
    });
  }

  test("decoding undoes encoding", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      expect(decodeBase32(encodeBase32(bytes))).toEqual(bytes);
    }));
  });

  const refused: readonly (readonly [string, string])[] = [
    ["upper case", "MY"],
    ["padding", "my======"],
    ["a digit outside the alphabet", "m1"],
    ["a letter beyond ASCII", "mé"],
    ["a length no bytes have", "a"],
    ["another length no bytes have", "aaa"],
    ["a third length no bytes have", "aaaaaa"],
    ["unused bits that are set", "mz"],
  ];
  for (const [what, text] of refused) {
    test(`refuses ${what}`, () => {
      expect(refusalOf(() => decodeBase32(text))).toBe("malformed-address");
    });
  }
});

describe("an address", () => {
  test("is the tag 1e and the BLAKE3 of the object, in base32", () => {
    expect(addressOf(fromHex(genesis)) as string).toBe(genesisAddress);
  });

  test("has 33 bytes and 53 characters that say the same", () => {
    const address = addressFromBytes(fromHex(refBody));
    expect(toHex(addressBytes(address))).toBe(refBody);
    expect(parseAddress(address)).toBe(address);
    expect(address).toHaveLength(53);
  });

  const refusedBytes: readonly (readonly [string, string])[] = [
    ["no bytes", ""],
    ["32 bytes", refBody.slice(0, 64)],
    ["34 bytes", `${refBody}00`],
    ["another hash tag", `1f${refBody.slice(2)}`],
  ];
  for (const [what, hex] of refusedBytes) {
    test(`is not ${what}`, () => {
      expect(refusalOf(() => addressFromBytes(fromHex(hex)))).toBe("malformed-address");
    });
  }

  const refusedTexts: readonly (readonly [string, string])[] = [
    ["an empty text", ""],
    ["52 characters", genesisAddress.slice(0, 52)],
    ["54 characters", `${genesisAddress}a`],
    ["upper case", genesisAddress.toUpperCase()],
    ["a tag other than 1e", `a${genesisAddress.slice(1)}`],
    ["a second character outside y, z, 2, 3", `da${genesisAddress.slice(2)}`],
    ["a set unused bit", `${genesisAddress.slice(0, 52)}r`],
    ["a character outside the alphabet", genesisAddress.replace("b", "1")],
    ["a line end behind it", `${genesisAddress}\n`],
  ];
  for (const [what, text] of refusedTexts) {
    test(`is not ${what}`, () => {
      expect(refusalOf(() => parseAddress(text))).toBe("malformed-address");
      expect(isAddress(text)).toBe(false);
    });
  }

  test("is recognised exactly when it can be parsed", () => {
    const alphabet = [..."abcdefghijklmnopqrstuvwxyz234567"];
    const likely = fc.tuple(
      fc.constantFrom("dy", "dz", "d2", "d3", "da"),
      fc.array(fc.constantFrom(...alphabet), { minLength: 51, maxLength: 51 }),
    ).map(([head, rest]) => head + rest.join(""));
    fc.assert(fc.property(likely, (text) => {
      expect(isAddress(text)).toBe(refusalOf(() => parseAddress(text)) === undefined);
    }));
  });

  test("sorts by its bytes, not by its text", () => {
    const letter = addressFromBytes(fromHex(`1e${"c0".repeat(32)}`));
    const digit = addressFromBytes(fromHex(`1e${"e0".repeat(32)}`));
    expect(compareAddresses(letter, digit) < 0).toBe(
      compareBytes(addressBytes(letter), addressBytes(digit)) < 0,
    );
    const hash = fc.uint8Array({ minLength: 32, maxLength: 32 });
    fc.assert(fc.property(hash, hash, fc.nat(32), (a, b, shared) => {
      b.set(a.subarray(0, shared));
      const left = Uint8Array.of(0x1e, ...a);
      const right = Uint8Array.of(0x1e, ...b);
      expect(Math.sign(compareAddresses(addressFromBytes(left), addressFromBytes(right)))).toBe(
        Math.sign(compareBytes(left, right)),
      );
    }));
  });
});
