/**
 * BLAKE3-256. A native addon where one loads, else portable JavaScript; both give the same digests.
 *
 * @module
 */

import { blake3 as portable } from "@noble/hashes/blake3.js";

import { loadNativeBlake3 } from "./blake3-native.ts";

/** Below this many bytes calling the addon costs more than it saves. */
const PORTABLE_LIMIT = 0;

type Hash = (bytes: Uint8Array) => Uint8Array;

let native: Hash | undefined;
let nativeTried = false;

/** The 32-byte BLAKE3 hash of `bytes`. */
export function blake3(bytes: Uint8Array): Uint8Array {
  if (bytes.length < PORTABLE_LIMIT) return portable(bytes);
  return (nativeHash() ?? portable)(bytes);
}

/** The same by the portable implementation, whatever else is there. */
export function blake3Portable(bytes: Uint8Array): Uint8Array {
  return portable(bytes);
}

/** Which implementation hashes objects in this process. */
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
