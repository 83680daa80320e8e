/**
 * The optional native BLAKE3.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { createRequire } from "node:module";

/** The addon's hash, or undefined where it cannot be loaded. */
export function loadNativeBlake3(): ((bytes: Uint8Array) => Uint8Array) | undefined {
  try {
    const require = createRequire(import.meta.url);
    const addon = require("@napi-rs/blake-hash") as { blake3(bytes: Buffer): Buffer };
    const hash = (bytes: Uint8Array): Uint8Array =>
      new Uint8Array(
        addon.blake3(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)),
      );
    return hash(new Uint8Array(0)).length === 32 ? hash : undefined;
  } catch {
    return undefined;
  }
}
