/**
 * Base32 as DreamDB spells it: RFC 4648 alphabet in lower case, no padding (FORMAT 1.1).
 *
 * @module
 */

import { Buffer } from "node:buffer";

import { DreamDBError } from "../errors.ts";

const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";
const BITS = 5;
/** Character codes of both letters of each ten bits, the first in the high byte. */
const PAIRS = /* @__PURE__ */ Uint16Array.from(
  { length: 1024 },
  (_, value) => (ALPHABET.charCodeAt(value >>> BITS) << 8) | ALPHABET.charCodeAt(value & 31),
);
/** Where short texts are put together: a text that grows letter by letter costs far more. */
const scratch = /* @__PURE__ */ Buffer.alloc(256);

/** Value of each ASCII character, or 255 for those outside the alphabet. */
const VALUES = /* @__PURE__ */ (() => {
  const values = new Uint8Array(128).fill(255);
  for (let value = 0; value < ALPHABET.length; value++) values[ALPHABET.charCodeAt(value)] = value;
  return values;
})();

/** The text form of `bytes`: ceil(8·n / 5) characters. */
export function encodeBase32(bytes: Uint8Array): string {
  const length = Math.ceil((bytes.length * 8) / BITS);
  const text = length < scratch.length ? scratch : Buffer.alloc(length + 1);
  let at = 0;
  let pending = 0;
  let pendingBits = 0;
  for (let index = 0; index < bytes.length; index++) {
    pending = (pending << 8) | (bytes[index] ?? 0);
    pendingBits += 8;
    if (pendingBits >= 2 * BITS) {
      pendingBits -= 2 * BITS;
      const pair = PAIRS[(pending >>> pendingBits) & 1023] ?? 0;
      text[at++] = pair >>> 8;
      text[at++] = pair & 0xff;
      pending &= (1 << pendingBits) - 1;
    }
  }
  if (pendingBits > 0) {
    // At most nine bits are left: one pair, of which `length` says how much counts.
    const pair = PAIRS[(pending << (2 * BITS - pendingBits)) & 1023] ?? 0;
    text[at++] = pair >>> 8;
    text[at++] = pair & 0xff;
  }
  return text.toString("latin1", 0, length);
}

/**
 * The bytes of a text form. Strict, so that one value has one spelling: lower case, no padding, a
 * length that some number of bytes has, and unused bits of the last character zero.
 * @throws DreamDBError malformed-address
 */
export function decodeBase32(text: string): Uint8Array {
  const length = Math.floor((text.length * BITS) / 8);
  if (Math.ceil((length * 8) / BITS) !== text.length) {
    throw malformed(`${text.length} characters`, "a length that whole bytes have in base32");
  }
  const bytes = new Uint8Array(length);
  let written = 0;
  let pending = 0;
  let pendingBits = 0;
  for (let index = 0; index < text.length; index++) {
    const value = VALUES[text.charCodeAt(index)] ?? 255;
    if (value === 255) {
      throw malformed(
        `${JSON.stringify(text.charAt(index))} at character ${index}`,
        "only a-z and 2-7",
      );
    }
    pending = (pending << BITS) | value;
    pendingBits += BITS;
    if (pendingBits >= 8) {
      pendingBits -= 8;
      bytes[written++] = pending >>> pendingBits;
      pending &= (1 << pendingBits) - 1;
    }
  }
  if (pending !== 0) {
    throw malformed(
      `last character ${JSON.stringify(text.slice(-1))}`,
      "its unused bits to be zero",
    );
  }
  return bytes;
}

function malformed(found: string, expected: string): DreamDBError {
  return new DreamDBError({
    code: "malformed-address",
    found: `base32 text with ${found}`,
    expected,
    next: "Check where the text comes from",
  });
}
