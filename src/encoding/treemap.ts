/**
 * Sets of anchors, and their stored form: a 64-bit roaring bitmap in the portable "treemap" layout
 * (FORMAT 7, the part behind the version byte 0x01, which belongs to the ScalarBucket).
 *
 * Layout: the number of groups (u64), then for each high half of the anchors, ascending, the half
 * (u32) and a standard 32-bit roaring bitmap of the low halves; all little-endian.
 *
 * Anchors are nanoseconds (u64). A `BigUint64Array` is worked on as pairs of 32-bit halves, low
 * first, which is the order on every machine that the supported runtimes exist for.
 *
 * @module
 */

import { DreamDBError } from "../errors.ts";
import type { Container } from "./treemap-walk.ts";
import { BITMAP_BYTES, malformedTreemap, walkTreemap } from "./treemap-walk.ts";
import { writeTreemap } from "./treemap-write.ts";

/** Anchors one set may hold unless the caller says otherwise: half a gigabyte when expanded. */
const DEFAULT_MAX_ANCHORS = 2 ** 26;

/**
 * The anchors of a treemap, ascending. Reads array, bitmap and run containers. The structure and
 * the number of anchors are checked before anything is expanded.
 *
 * @throws DreamDBError malformed-object of kind "roaring-treemap"
 */
export function decodeTreemap(
  bytes: Uint8Array,
  options: { readonly maxAnchors?: number } = {},
): BigUint64Array {
  const maxAnchors = options.maxAnchors ?? DEFAULT_MAX_ANCHORS;
  let total = 0;
  walkTreemap(bytes, (container) => {
    total += container.cardinality;
    if (total > maxAnchors) {
      throw malformedTreemap(container.at, `more than ${maxAnchors} anchors`, "at most so many");
    }
  });
  const anchors = new BigUint64Array(total);
  const halves = halvesOf(anchors);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let first = 0;
  walkTreemap(bytes, (container) => {
    if (container.form === "array") expandArray(view, container, halves, first);
    else if (container.form === "bitmap") expandBitmap(view, container, halves, first);
    else expandRuns(view, container, halves, first);
    first += container.cardinality;
  });
  return anchors;
}

/**
 * The treemap of strictly ascending anchors, byte for byte as the reference writes it: array
 * containers up to 4,096 values, bitmaps beyond, never runs.
 *
 * @throws DreamDBError internal, when the anchors are not strictly ascending
 */
export function encodeTreemap(sorted: BigUint64Array): Uint8Array {
  const halves = halvesOf(sorted);
  for (let index = 1; index < sorted.length; index++) {
    if (compareAt(halves, index - 1, halves, index) >= 0) {
      throw new DreamDBError({
        code: "internal",
        found: `anchor ${sorted[index]} after ${sorted[index - 1]} in a set to write`,
        expected: "strictly ascending anchors",
        next: "This is a bug; report it with this message",
      });
    }
  }
  return writeTreemap(halves);
}

/** The anchors that are in any of the ascending sets, ascending, each once. */
export function unionAnchors(sets: readonly BigUint64Array[]): BigUint64Array {
  const [first, second] = sets;
  if (first === undefined) return new BigUint64Array(0);
  if (second === undefined) return first.slice();
  if (sets.length === 2) return unionOfTwo(first, second);
  // Halving keeps every anchor in log2(sets) merges instead of one for each set.
  const middle = sets.length >> 1;
  return unionOfTwo(unionAnchors(sets.slice(0, middle)), unionAnchors(sets.slice(middle)));
}

function unionOfTwo(a: BigUint64Array, b: BigUint64Array): BigUint64Array {
  const left = halvesOf(a);
  const right = halvesOf(b);
  const union = new BigUint64Array(a.length + b.length);
  const halves = halvesOf(union);
  let count = 0;
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    const order = compareAt(left, i, right, j);
    if (order <= 0) copyAnchor(left, i, halves, count++);
    else copyAnchor(right, j, halves, count++);
    if (order <= 0) i++;
    if (order >= 0) j++;
  }
  union.set(a.subarray(i), count);
  count += a.length - i;
  union.set(b.subarray(j), count);
  count += b.length - j;
  return count === union.length ? union : union.slice(0, count);
}

function expandArray(view: DataView, from: Container, to: Uint32Array, first: number): void {
  let previous = -1;
  for (let index = 0; index < from.cardinality; index++) {
    const at = from.at + 2 * index;
    const value = view.getUint16(at, true);
    if (value <= previous) {
      throw malformedTreemap(at, `value ${value} after ${previous}`, "ascending values");
    }
    previous = value;
    to[2 * (first + index)] = from.base + value;
    to[2 * (first + index) + 1] = from.high;
  }
}

function expandBitmap(view: DataView, from: Container, to: Uint32Array, first: number): void {
  let index = first;
  for (let offset = 0; offset < BITMAP_BYTES; offset += 4) {
    // Values past the claimed cardinality land in the next container's place or nowhere; the sum
    // below refuses the set before anybody sees them.
    let word = view.getUint32(from.at + offset, true);
    while (word !== 0) {
      const bit = 31 - Math.clz32(word & -word);
      to[2 * index] = from.base + 8 * offset + bit;
      to[2 * index + 1] = from.high;
      index++;
      word &= word - 1;
    }
  }
  if (index - first !== from.cardinality) {
    throw malformedTreemap(
      from.at,
      `a bitmap of ${index - first} values`,
      `the ${from.cardinality} of its descriptor`,
    );
  }
}

function expandRuns(view: DataView, from: Container, to: Uint32Array, first: number): void {
  const runs = view.getUint16(from.at, true);
  let index = first;
  for (let run = 0; run < runs; run++) {
    const start = view.getUint16(from.at + 2 + 4 * run, true);
    const end = start + view.getUint16(from.at + 4 + 4 * run, true);
    for (let value = start; value <= end; value++) {
      to[2 * index] = from.base + value;
      to[2 * index + 1] = from.high;
      index++;
    }
  }
}

/** The anchors' 32-bit halves, low half first; a view, not a copy. */
function halvesOf(anchors: BigUint64Array): Uint32Array {
  return new Uint32Array(anchors.buffer, anchors.byteOffset, anchors.length * 2);
}

function compareAt(a: Uint32Array, i: number, b: Uint32Array, j: number): number {
  return (a[2 * i + 1] ?? 0) - (b[2 * j + 1] ?? 0) || (a[2 * i] ?? 0) - (b[2 * j] ?? 0);
}

function copyAnchor(from: Uint32Array, i: number, to: Uint32Array, j: number): void {
  to[2 * j] = from[2 * i] ?? 0;
  to[2 * j + 1] = from[2 * i + 1] ?? 0;
}
