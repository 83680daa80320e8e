import { concatBytes } from "../../src/encoding/bytes.ts";

/** Little-endian bytes of a number. */
export function little(value: number | bigint, width: number): Uint8Array {
  const bytes = new Uint8Array(width);
  for (let index = 0, rest = BigInt(value); index < width; index++, rest >>= 8n) {
    bytes[index] = Number(rest & 255n);
  }
  return bytes;
}

/** A container as a test wants it, right or wrong. */
export interface ContainerParts {
  readonly key: number;
  /** Values less one, as the descriptor says. */
  readonly less: number;
  readonly values: Uint8Array;
  readonly run?: boolean;
}

export const array = (key: number, values: readonly number[]): ContainerParts => ({
  key,
  less: values.length - 1,
  values: concatBytes(values.map((value) => little(value, 2))),
});

/** A run container of `[first, last]` pairs. */
export const runs = (key: number, pairs: readonly (readonly [number, number])[]) => ({
  key,
  less: pairs.reduce((sum, [first, last]) => sum + last - first + 1, -1),
  values: concatBytes([
    little(pairs.length, 2),
    ...pairs.flatMap(([first, last]) => [little(first, 2), little(last - first, 2)]),
  ]),
  run: true,
});

/** A bitmap container with these values set. */
export function bitmap(key: number, values: Iterable<number>): ContainerParts {
  const bytes = new Uint8Array(8192);
  let count = 0;
  for (const value of values) {
    bytes[value >> 3] = (bytes[value >> 3] ?? 0) | (1 << (value & 7));
    count++;
  }
  return { key, less: count - 1, values: bytes };
}

/** A 32-bit roaring bitmap; with run containers in it the cookie that has them. */
export function roaring(
  containers: readonly ContainerParts[],
  shift: (index: number, offset: number) => number = (_, offset) => offset,
): Uint8Array {
  const withRuns = containers.some((container) => container.run);
  const withOffsets = !withRuns || containers.length >= 4;
  const flags = new Uint8Array(Math.ceil(containers.length / 8));
  containers.forEach((container, index) => {
    if (container.run) flags[index >> 3] = (flags[index >> 3] ?? 0) | (1 << (index & 7));
  });
  const head = withRuns
    ? [little(12347 | ((containers.length - 1) << 16), 4), flags]
    : [little(12346, 4), little(containers.length, 4)];
  const headBytes = withRuns ? 4 + flags.length : 8;
  let offset = headBytes + (withOffsets ? 8 : 4) * containers.length;
  const offsets: Uint8Array[] = [];
  containers.forEach((container, index) => {
    offsets.push(little(shift(index, offset), 4));
    offset += container.values.length;
  });
  return concatBytes([
    ...head,
    ...containers.flatMap(({ key, less }) => [little(key, 2), little(less, 2)]),
    ...(withOffsets ? offsets : []),
    ...containers.map((container) => container.values),
  ]);
}

/** A treemap of groups, each its high half and its 32-bit bitmap. */
export function treemap(...groups: readonly (readonly [number, Uint8Array])[]): Uint8Array {
  return concatBytes([
    little(groups.length, 8),
    ...groups.flatMap(([high, bytes]) => [little(high, 4), bytes]),
  ]);
}
