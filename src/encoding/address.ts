/**
 * Content addresses: the tag 0x1e and the BLAKE3-256 of an object's bytes, 33 bytes in all, written
 * as 53 characters of base32 (FORMAT 1.1).
 *
 * The text form is the value, so `===`, `Set` and `Map` compare addresses; note that the order of
 * the texts is not the order of the bytes, because the alphabet puts digits after letters.
 *
 * @module
 */

import { DreamDBError } from "../errors.ts";
import { decodeBase32, encodeBase32 } from "./base32.ts";
import { blake3 } from "./blake3.ts";

declare const brand: unique symbol;

/** The 53-character name of an object. */
export type Address = string & { readonly [brand]: "Address" };

/** Bytes of an address: one tag byte and 32 of hash. */
export const ADDRESS_BYTES = 33;
const ADDRESS_CHARACTERS = 53;
const HASH_TAG = 0x1e;
/** Where an address is put together before it is spelled. */
const scratch = /* @__PURE__ */ new Uint8Array(ADDRESS_BYTES).fill(HASH_TAG, 0, 1);

/** The address of an object with these bytes. */
export function addressOf(objectBytes: Uint8Array): Address {
  scratch.set(blake3(objectBytes), 1);
  return encodeBase32(scratch) as Address;
}

/**
 * The address spelled by its 33 bytes.
 * @throws DreamDBError malformed-address
 */
export function addressFromBytes(bytes: Uint8Array): Address {
  if (bytes.length !== ADDRESS_BYTES) {
    throw malformed(`${bytes.length} bytes`, `an address of ${ADDRESS_BYTES} bytes`);
  }
  if (bytes[0] !== HASH_TAG) {
    throw malformed(
      `hash tag 0x${(bytes[0] ?? 0).toString(16).padStart(2, "0")}`,
      "0x1e (BLAKE3-256)",
    );
  }
  return encodeBase32(bytes) as Address;
}

/** The 33 bytes of an address. */
export function addressBytes(address: Address): Uint8Array {
  return decodeBase32(address);
}

/**
 * Takes a text for an address when it is one.
 * @throws DreamDBError malformed-address
 */
export function parseAddress(text: string): Address {
  if (text.length !== ADDRESS_CHARACTERS) {
    throw malformed(
      `${text.length} characters ${JSON.stringify(text.slice(0, ADDRESS_CHARACTERS))}`,
      `an address of ${ADDRESS_CHARACTERS} characters`,
    );
  }
  return addressFromBytes(decodeBase32(text));
}

/** Whether a text is an address in its one spelling. */
export function isAddress(text: string): text is Address {
  // First two characters of the tag 0x1e and the first two bits of the hash; then the alphabet;
  // the last character carries four bits.
  return /^d[yz23][a-z2-7]{50}[acegikmoqsuwy246]$/.test(text);
}

/** The order of the 33 bytes, which is how Manifests and indexes sort addresses. */
export function compareAddresses(a: Address, b: Address): number {
  for (let index = 0; index < ADDRESS_CHARACTERS; index++) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left !== right) return rank(left) - rank(right);
  }
  return 0;
}

/** Orders character codes as the alphabet does: digits (below "a") after letters. */
function rank(code: number): number {
  return code < 97 ? code + 128 : code;
}

function malformed(found: string, expected: string): DreamDBError {
  return new DreamDBError({
    code: "malformed-address",
    found,
    expected,
    next: "Check where the address comes from",
  });
}
