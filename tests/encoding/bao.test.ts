import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { baoOutboard } from "../../src/encoding/bao.ts";
import { chunkChainingValue, parentChainingValue } from "../../src/encoding/blake3-tree.ts";
import { blake3 } from "../../src/encoding/blake3.ts";
import { equalBytes, fromHex, toHex } from "../../src/encoding/bytes.ts";
import { listFiles, unpackFixture } from "../support/fixtures.ts";

const input = (length: number) => Uint8Array.from({ length }, (_, index) => index % 251);

const words = (bytes: Uint8Array) =>
  Uint32Array.from(
    { length: 8 },
    (_, index) => new DataView(bytes.buffer, bytes.byteOffset).getUint32(4 * index, true),
  );

const hashHex = (value: Uint32Array) => {
  const bytes = new Uint8Array(32);
  value.forEach((word, index) => new DataView(bytes.buffer).setUint32(4 * index, word, true));
  return toHex(bytes);
};

/**
 * Verifies the pre-order nodes of `bytes` against the chaining value that the node above promised,
 * as a reader of ranges does, and returns the nodes that remain.
 */
function verify(
  bytes: Uint8Array,
  firstChunk: number,
  nodes: Uint8Array,
  promised: Uint8Array,
  isRoot: boolean,
): Uint8Array {
  if (bytes.length <= 1024) {
    expect(hashHex(chunkChainingValue(bytes, firstChunk))).toBe(toHex(promised));
    return nodes;
  }
  const left = nodes.slice(0, 32);
  const right = nodes.slice(32, 64);
  const value = parentChainingValue(words(left), words(right), isRoot);
  expect(hashHex(value)).toBe(toHex(promised));
  let leftLength = 1024;
  while (2 * leftLength < bytes.length) leftLength *= 2;
  const rest = verify(bytes.subarray(0, leftLength), firstChunk, nodes.subarray(64), left, false);
  return verify(bytes.subarray(leftLength), firstChunk + leftLength / 1024, rest, right, false);
}

describe("the outboard", () => {
  for (const length of [0, 1, 5, 1023, 1024]) {
    test(`of ${length} bytes is the length alone`, () => {
      const outboard = new Uint8Array(8);
      new DataView(outboard.buffer).setBigUint64(0, BigInt(length), true);
      expect(baoOutboard(input(length))).toEqual(outboard);
    });
  }

  test("of 5 bytes, as FORMAT 1.7 gives it", () => {
    expect(toHex(baoOutboard(fromHex("6672616731")))).toBe("0500000000000000");
  });

  for (const length of [1025, 2048, 2049, 3072, 3073, 4096, 5000, 7168, 16384, 16385, 102400]) {
    test(`of ${length} bytes verifies every chunk against the object's hash`, () => {
      const bytes = input(length);
      const outboard = baoOutboard(bytes);
      expect(outboard).toHaveLength(8 + 64 * (Math.ceil(length / 1024) - 1));
      const rest = verify(bytes, 0, outboard.subarray(8), blake3(bytes), true);
      expect(rest).toHaveLength(0);
    });
  }

  for (const archive of ["stores", "paged-stores"]) {
    test(`of every object in ${archive} that has one is what the reference wrote`, () => {
      const folder = unpackFixture(archive);
      const files = listFiles(folder);
      const objects = new Map(
        files.filter((path) => !path.includes("bao-outboard/")).map((
          path,
        ) => [`${path.split("/")[0]}/${path.split("/").at(-1)}`, path]),
      );
      let withNodes = 0;
      for (const path of files.filter((path) => path.includes("/bao-outboard/"))) {
        const [store, , name] = path.split("/");
        const object = objects.get(`${store}/${name}`);
        if (object === undefined) continue;
        const stored = new Uint8Array(readFileSync(join(folder, path)));
        const computed = baoOutboard(new Uint8Array(readFileSync(join(folder, object))));
        if (!equalBytes(stored, computed)) throw new Error(`${path} differs`);
        if (stored.length > 8) withNodes++;
      }
      expect(withNodes).toBeGreaterThan(0);
    });
  }
});
