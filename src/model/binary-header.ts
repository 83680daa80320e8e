/**
 * What the headers of the two binary objects (SpatialBucket, vector sidecar) have in common.
 *
 * @module
 */

import { malformedObject } from "./malformed.ts";
import type { Subject } from "./malformed.ts";

/** Bytes of the magic at offset 0. */
export const MAGIC_LENGTH = 4;
/** Bytes of the modality field; a longer tag is cut, a shorter one padded with zeros (FORMAT 6). */
export const MODALITY_LENGTH = 32;

/**
 * Reads a zero-padded ASCII field of `length` bytes at `offset`.
 * @throws DreamDBError malformed-object on other bytes, or on something after the first zero
 */
export function readAscii(
  subject: Subject,
  bytes: Uint8Array,
  offset: number,
  length: number,
  name: string,
): string {
  let text = "";
  for (let index = offset; index < offset + length; index++) {
    const byte = bytes[index] ?? 0;
    if (byte === 0) {
      requireZeros(subject, bytes, index, offset + length);
      return text;
    }
    if (byte > 0x7f) {
      throw malformedObject(subject, `${name} has the byte 0x${byte.toString(16)}`, "ASCII");
    }
    text += String.fromCharCode(byte);
  }
  return text;
}

/** Writes ASCII text, cut to `length` bytes, into bytes that are zero. */
export function writeAscii(bytes: Uint8Array, offset: number, text: string, length: number): void {
  for (let index = 0; index < Math.min(text.length, length); index++) {
    bytes[offset + index] = text.charCodeAt(index);
  }
}

/** Checks that the bytes from `start` to before `end` are zero. */
export function requireZeros(
  subject: Subject,
  bytes: Uint8Array,
  start: number,
  end: number,
): void {
  for (let index = start; index < end; index++) {
    if (bytes[index] !== 0) {
      throw malformedObject(
        subject,
        `the byte 0x${(bytes[index] ?? 0).toString(16)} at offset ${index}`,
        "zero, because the byte is padding or reserved",
      );
    }
  }
}
