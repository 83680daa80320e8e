/**
 * The optional native BLAKE3, measured 2 to 40 times as fast as the portable one.
 *
 * The plain `require` is on purpose: it is the one form in which `bun build --compile` embeds the
 * addon, and it fails harmlessly where there is none (an ES module run by Node or Deno, a bundle
 * built with `--external @napi-rs/blake-hash`, a temporary folder the runtime cannot unpack into).
 *
 * @module
 */

import { Buffer } from "node:buffer";

/** What is used of the addon. */
interface Addon {
  blake3(bytes: Buffer): Buffer;
}

/** The addon's 32-byte hash, or undefined where it cannot be loaded. */
export function loadNativeBlake3(): ((bytes: Uint8Array) => Uint8Array) | undefined {
  try {
    const addon: Addon = require("@napi-rs/blake-hash");
    return (bytes) => {
      const { buffer, byteOffset, byteLength } = bytes;
      const input = Buffer.isBuffer(bytes) ? bytes : Buffer.from(buffer, byteOffset, byteLength);
      return new Uint8Array(addon.blake3(input));
    };
  } catch {
    return undefined;
  }
}
