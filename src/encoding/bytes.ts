/**
 * Comparing, joining and printing byte arrays.
 *
 * @module
 */

import { Buffer } from "node:buffer";

import { DreamDBError } from "../errors.ts";

/** Below this many bytes a loop is faster than a call into the runtime. */
const LOOP_LIMIT = 64;

/** The order of two byte arrays: unsigned bytewise, a prefix before what it begins. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  if (shared > LOOP_LIMIT) return Buffer.compare(a, b);
  for (let index = 0; index < shared; index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** Whether two byte arrays hold the same bytes. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && compareBytes(a, b) === 0;
}

/** One new array holding all `parts` in their order. */
export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  const joined = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

/** Lower-case hexadecimal, two digits a byte. */
export function toHex(bytes: Uint8Array): string {
  return asBuffer(bytes).toString("hex");
}

/**
 * The bytes written as hexadecimal digits of either case.
 * @throws DreamDBError malformed-object
 */
export function fromHex(text: string): Uint8Array {
  if (text.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(text)) {
    throw new DreamDBError({
      code: "malformed-object",
      kind: "hexadecimal text",
      found: `${text.length} characters beginning with ${JSON.stringify(text.slice(0, 16))}`,
      expected: "an even number of hexadecimal digits",
      next: "Correct the text",
    });
  }
  return new Uint8Array(Buffer.from(text, "hex"));
}

/** A string of one character a byte: equal exactly when the bytes are, so a key of a Map. */
export function bytesKey(bytes: Uint8Array): string {
  return asBuffer(bytes).toString("latin1");
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

const FIRST_BLOCK = 512;
const LARGEST_BLOCK = 1 << 20;

/** How many bytes `a` from `aStart` and `b` from `bStart` have in common. */
export function commonPrefix(
  a: Uint8Array,
  aStart: number,
  b: Uint8Array,
  bStart: number,
): number {
  const limit = Math.min(a.length - aStart, b.length - bStart);
  let matched = 0;
  let block = FIRST_BLOCK;
  while (matched < limit) {
    let length = Math.min(block, limit - matched);
    if (sameBlock(a, aStart + matched, b, bStart + matched, length)) {
      matched += length;
      block = Math.min(block * 4, LARGEST_BLOCK);
      continue;
    }
    while (length > LOOP_LIMIT) {
      const half = length >> 1;
      if (sameBlock(a, aStart + matched, b, bStart + matched, half)) {
        matched += half;
        length -= half;
      } else length = half;
    }
    while (a[aStart + matched] === b[bStart + matched]) matched++;
    return matched;
  }
  return matched;
}

const { compare } = Buffer.prototype;

function sameBlock(
  a: Uint8Array,
  aStart: number,
  b: Uint8Array,
  bStart: number,
  length: number,
): boolean {
  // It works on any Uint8Array, and making a Buffer of one can cost more than the comparison.
  return compare.call(a as Buffer, b, bStart, bStart + length, aStart, aStart + length) === 0;
}

/** The unsigned big-endian 32-bit number at `at`; bytes behind the end count as zero. */
export function uint32At(bytes: Uint8Array, at: number): number {
  return (((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) |
    (bytes[at + 3] ?? 0)) >>> 0;
}

/**
 * The last index of `ascending` whose value is at most `limit`: with the offsets of items, the item
 * that a byte belongs to.
 */
export function lastAtMost(ascending: Uint32Array, limit: number): number {
  let low = 0;
  let high = ascending.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((ascending[middle] ?? 0) <= limit) low = middle;
    else high = middle - 1;
  }
  return low;
}
