/**
 * The inner nodes of BLAKE3: chaining values of chunks and parents, which no hash function gives
 * away and a Bao outboard is made of (BLAKE3 specification, section 2).
 *
 * The digest of an object comes from `blake3.ts`; here only the tree below the root is needed.
 *
 * @module
 */

/** Bytes of a leaf of the tree. */
export const CHUNK_BYTES = 1024;
/** Words of 32 bits in a chaining value. */
export const CHAINING_WORDS = 8;

const BLOCK_BYTES = 64;
const BLOCK_WORDS = 16;
const ROUNDS = 7;

const CHUNK_START = 1;
const CHUNK_END = 2;
const PARENT = 4;
const ROOT = 8;

const INITIAL = Uint32Array.of(
  0x6a09e667,
  0xbb67ae85,
  0x3c6ef372,
  0xa54ff53a,
  0x510e527f,
  0x9b05688c,
  0x1f83d9ab,
  0x5be0cd19,
);

/** Which message word each step of each round takes: the permutation, applied again each round. */
const SCHEDULE = /* @__PURE__ */ (() => {
  const permutation = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
  const schedule: number[] = [];
  let row = Array.from({ length: BLOCK_WORDS }, (_, index) => index);
  for (let round = 0; round < ROUNDS; round++) {
    schedule.push(...row);
    const last = row;
    row = permutation.map((from) => last[from] ?? 0);
  }
  return Uint8Array.from(schedule);
})();

const state = new Uint32Array(16);
const block = new Uint32Array(BLOCK_WORDS);

/** The chaining value of a chunk of at most 1,024 bytes; `index` is its place in the object. */
export function chunkChainingValue(chunk: Uint8Array, index: number): Uint32Array {
  const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  const value = INITIAL.slice();
  const blocks = Math.max(1, Math.ceil(chunk.length / BLOCK_BYTES));
  for (let number = 0; number < blocks; number++) {
    const start = number * BLOCK_BYTES;
    const length = Math.min(BLOCK_BYTES, chunk.length - start);
    loadBlock(view, start, length);
    const flags = (number === 0 ? CHUNK_START : 0) | (number === blocks - 1 ? CHUNK_END : 0);
    compress(value, index, length, flags);
  }
  return value;
}

/** The chaining value of an inner node; that of the root is the object's hash. */
export function parentChainingValue(
  left: Uint32Array,
  right: Uint32Array,
  isRoot: boolean,
): Uint32Array {
  block.set(left, 0);
  block.set(right, CHAINING_WORDS);
  const value = INITIAL.slice();
  compress(value, 0, BLOCK_BYTES, isRoot ? PARENT | ROOT : PARENT);
  return value;
}

/** Fills `block` with little-endian words, zeros behind the end. */
function loadBlock(view: DataView, start: number, length: number): void {
  const whole = length >>> 2;
  for (let word = 0; word < whole; word++) block[word] = view.getUint32(start + 4 * word, true);
  if (whole === BLOCK_WORDS) return;
  block.fill(0, whole);
  for (let at = 4 * whole; at < length; at++) {
    block[whole] = (block[whole] ?? 0) | (view.getUint8(start + at) << (8 * (at & 3)));
  }
}

/** One compression of `block` into the chaining value `value`, in place. */
function compress(value: Uint32Array, counter: number, length: number, flags: number): void {
  state.set(value, 0);
  state.set(INITIAL.subarray(0, 4), 8);
  state[12] = counter;
  state[13] = Math.floor(counter / 0x1_0000_0000);
  state[14] = length;
  state[15] = flags;
  for (let at = 0; at < ROUNDS * BLOCK_WORDS; at += BLOCK_WORDS) {
    mix(0, 4, 8, 12, at);
    mix(1, 5, 9, 13, at + 2);
    mix(2, 6, 10, 14, at + 4);
    mix(3, 7, 11, 15, at + 6);
    mix(0, 5, 10, 15, at + 8);
    mix(1, 6, 11, 12, at + 10);
    mix(2, 7, 8, 13, at + 12);
    mix(3, 4, 9, 14, at + 14);
  }
  for (let word = 0; word < CHAINING_WORDS; word++) {
    value[word] = (state[word] ?? 0) ^ (state[word + 8] ?? 0);
  }
}

/** The quarter round over four words of `state` and the two message words scheduled at `at`. */
function mix(ai: number, bi: number, ci: number, di: number, at: number): void {
  const x = block[SCHEDULE[at] ?? 0] ?? 0;
  const y = block[SCHEDULE[at + 1] ?? 0] ?? 0;
  let a = state[ai] ?? 0;
  let b = state[bi] ?? 0;
  let c = state[ci] ?? 0;
  let d = state[di] ?? 0;
  a = (a + b + x) | 0;
  d ^= a;
  d = (d >>> 16) | (d << 16);
  c = (c + d) | 0;
  b ^= c;
  b = (b >>> 12) | (b << 20);
  a = (a + b + y) | 0;
  d ^= a;
  d = (d >>> 8) | (d << 24);
  c = (c + d) | 0;
  b ^= c;
  b = (b >>> 7) | (b << 25);
  state[ai] = a;
  state[bi] = b;
  state[ci] = c;
  state[di] = d;
}
