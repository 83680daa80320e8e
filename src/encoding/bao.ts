/**
 * Bao outboards: the inner nodes of an object's BLAKE3 tree, which let a reader verify a byte range
 * without the rest (FORMAT 1.7). Payload objects have one beside them; a wrong one makes range
 * reads fail, a missing one only makes them slower.
 *
 * @module
 */

import {
  CHAINING_WORDS,
  CHUNK_BYTES,
  chunkChainingValue,
  parentChainingValue,
} from "./blake3-tree.ts";

const LENGTH_BYTES = 8;
const NODE_BYTES = 64;

/**
 * The outboard of an object: its length in 8 bytes, little-endian, then the parent nodes (left and
 * right chaining value, 64 bytes) in pre-order; 8 + 64·(chunks − 1) bytes.
 */
export function baoOutboard(bytes: Uint8Array): Uint8Array {
  const chunks = Math.max(1, Math.ceil(bytes.length / CHUNK_BYTES));
  const outboard = new Uint8Array(LENGTH_BYTES + NODE_BYTES * (chunks - 1));
  const view = new DataView(outboard.buffer);
  view.setBigUint64(0, BigInt(bytes.length), true);
  if (chunks > 1) writeNode({ bytes, view }, 0, chunks, LENGTH_BYTES, true);
  return outboard;
}

interface Tree {
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

/**
 * Writes the node over chunks `[first, first + count)` at `at`, the nodes below it behind it, and
 * returns its chaining value. A node over n chunks has n − 1 nodes in it, itself included, which
 * tells where the right half begins.
 */
function writeNode(
  tree: Tree,
  first: number,
  count: number,
  at: number,
  isRoot: boolean,
): Uint32Array {
  const leftCount = largestPowerOfTwoBelow(count);
  const left = subtree(tree, first, leftCount, at + NODE_BYTES);
  const right = subtree(
    tree,
    first + leftCount,
    count - leftCount,
    at + NODE_BYTES * leftCount,
  );
  for (let word = 0; word < CHAINING_WORDS; word++) {
    tree.view.setUint32(at + 4 * word, left[word] ?? 0, true);
    tree.view.setUint32(at + 32 + 4 * word, right[word] ?? 0, true);
  }
  return parentChainingValue(left, right, isRoot);
}

function subtree(tree: Tree, first: number, count: number, at: number): Uint32Array {
  if (count > 1) return writeNode(tree, first, count, at, false);
  const start = first * CHUNK_BYTES;
  return chunkChainingValue(tree.bytes.subarray(start, start + CHUNK_BYTES), first);
}

/** The left subtree's number of chunks: the largest power of two below `count`. */
function largestPowerOfTwoBelow(count: number): number {
  return 2 ** (31 - Math.clz32(count - 1));
}
