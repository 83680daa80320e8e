/**
 * UTF-8 as canonical CBOR needs it: validity of bytes, and the order of text keys.
 *
 * @module
 */

import { compareBytes } from "./bytes.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The UTF-8 bytes of a text; a lone surrogate becomes U+FFFD, so refuse those before. */
export function encodeUtf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** The text of bytes that `firstInvalidUtf8` found valid. */
export function decodeUtf8(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/** The offset of the first byte in `[start, end)` that is not valid UTF-8, or -1. */
export function firstInvalidUtf8(bytes: Uint8Array, start: number, end: number): number {
  let offset = start;
  while (offset < end) {
    const lead = bytes[offset] ?? 0;
    if (lead < 0x80) {
      offset++;
      continue;
    }
    const length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
    if (length === 0 || offset + length > end) return offset;
    // The second byte alone tells overlong forms, surrogates and code points past U+10FFFF.
    const second = bytes[offset + 1] ?? 0;
    const low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
    const high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
    if (second < low || second > high) return offset;
    for (let index = 2; index < length; index++) {
      if (((bytes[offset + index] ?? 0) & 0xc0) !== 0x80) return offset;
    }
    offset += length;
  }
  return -1;
}

/** Whether every character is ASCII, so that characters are bytes. */
function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    if (text.charCodeAt(index) > 0x7f) return false;
  }
  return true;
}

/**
 * The canonical order of map keys: shorter UTF-8 first, then bytewise (FORMAT 2). UTF-16 order
 * would differ beyond U+FFFF.
 */
export function compareKeys(a: string, b: string): number {
  if (isAscii(a) && isAscii(b)) {
    return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
  }
  const left = encodeUtf8(a);
  const right = encodeUtf8(b);
  return left.length - right.length || compareBytes(left, right);
}
