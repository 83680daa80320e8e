/**
 * Tar archives with nothing in them that depends on when, where or by whom they are made.
 *
 * @module
 */

const BLOCK = 512;
const LONGEST_NAME = 100;

/** A file, or a folder when it has no body. */
export interface TarEntry {
  /** Without a leading `/`; a folder's ends in `/`. */
  readonly name: string;
  readonly body?: Uint8Array;
  /** Permission bits. */
  readonly mode: number;
  /** User and group; default 0. */
  readonly owner?: number;
}

/** The archive (POSIX ustar) of `entries`, in their order, all of 1970. */
export function tarOf(entries: readonly TarEntry[]): Uint8Array {
  const parts = entries.flatMap((entry) => {
    const body = entry.body ?? new Uint8Array(0);
    return [header(entry, body.length), body, new Uint8Array(-body.length & (BLOCK - 1))];
  });
  return Buffer.concat([...parts, new Uint8Array(2 * BLOCK)]);
}

function header(entry: TarEntry, size: number): Uint8Array {
  if (Buffer.byteLength(entry.name) > LONGEST_NAME) {
    throw new Error(`${entry.name} is longer than ${LONGEST_NAME} bytes`);
  }
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number) =>
    block.write(value.toString(8).padStart(length - 1, "0"), at, "ascii");
  block.write(entry.name, 0, "utf8");
  octal(entry.mode, 100, 8);
  octal(entry.owner ?? 0, 108, 8);
  octal(entry.owner ?? 0, 116, 8);
  octal(size, 124, 12);
  octal(0, 136, 12);
  block.fill(" ", 148, 156);
  block.write(entry.body === undefined ? "5" : "0", 156, "ascii");
  block.write("ustar\0" + "00", 257, "ascii");
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "ascii");
  return block;
}
