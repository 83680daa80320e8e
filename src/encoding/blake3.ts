/**
 * BLAKE3-256: a native addon where one loads, else portable JavaScript. Both give the same digests.
 *
 * @module
 */

import { blake3 as portable } from "@noble/hashes/blake3.js";

import { loadNativeBlake3 } from "./blake3-native.ts";

type Hash = (bytes: Uint8Array) => Uint8Array;

let native: Hash | undefined;
let nativeTried = false;

/** The 32-byte BLAKE3 hash of `bytes`. */
export function blake3(bytes: Uint8Array): Uint8Array {
  return (nativeHash() ?? portable)(bytes);
}

/** Which implementation hashes in this process. */
export function hashImplementation(): "native" | "portable" {
  return nativeHash() === undefined ? "portable" : "native";
}

/** Loads the addon once, at the first hash: a program that hashes nothing unpacks nothing. */
function nativeHash(): Hash | undefined {
  if (!nativeTried) {
    nativeTried = true;
    native = loadNativeBlake3();
  }
  return native;
}
