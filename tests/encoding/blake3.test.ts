import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { blake3 as portable } from "@noble/hashes/blake3.js";

import { loadNativeBlake3 } from "../../src/encoding/blake3-native.ts";
import { blake3, hashImplementation } from "../../src/encoding/blake3.ts";
import { toHex } from "../../src/encoding/bytes.ts";
import { projectRoot } from "../support/fixtures.ts";

/** The input of the official BLAKE3 test vectors: bytes 0 … 250 again and again. */
const input = (length: number) => Uint8Array.from({ length }, (_, index) => index % 251);

describe("blake3", () => {
  const vectors: readonly (readonly [number, string])[] = [
    [0, "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"],
    [1, "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213"],
    [1023, "10108970eeda3eb932baac1428c7a2163b0e924c9a9e25b35bba72b28f70bd11"],
    [1024, "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7"],
    [1025, "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444"],
    [2048, "e776b6028c7cd22a4d0ba182a8bf62205d2ef576467e838ed6f2529b85fba24a"],
    [31744, "62b6960e1a44bcc1eb1a611a8d6235b6b4b78f32e7abc4fb4c6cdcce94895c47"],
    [102400, "bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085"],
  ];
  for (const [length, digest] of vectors) {
    test(`of the official vector of ${length} bytes`, () => {
      expect(toHex(blake3(input(length)))).toBe(digest);
      expect(toHex(portable(input(length)))).toBe(digest);
    });
  }

  test("is an array of its own of 32 bytes, no Buffer", () => {
    const digest = blake3(input(5));
    expect(Object.getPrototypeOf(digest)).toBe(Uint8Array.prototype);
    expect(digest.buffer.byteLength).toBe(32);
  });

  test("hashes a view, not the buffer behind it", () => {
    expect(blake3(input(300).subarray(100, 200))).toEqual(blake3(input(300).slice(100, 200)));
  });

  test("is native under the runtime the tests use", () => {
    expect(hashImplementation()).toBe("native");
  });

  test("is portable, without a word, in a bundle that has no addon beside it", async () => {
    // Outside of the project, or its own node_modules would be found on the way up.
    const folder = mkdtempSync(join(tmpdir(), "dreamdb-bundle-"));
    const entry = join(folder, "entry.ts");
    const source = (name: string) => JSON.stringify(join(projectRoot, "src/encoding", name));
    await Bun.write(
      entry,
      `import { blake3, hashImplementation } from ${source("blake3.ts")};
       import { toHex } from ${source("bytes.ts")};
       console.log(toHex(blake3(new Uint8Array(0))), hashImplementation());`,
    );
    const built = await Bun.build({
      entrypoints: [entry],
      outdir: folder,
      target: "node",
      external: ["@napi-rs/blake-hash"],
    });
    expect(built.outputs).toHaveLength(1);
    const run = spawnSync("node", [join(folder, "entry.js")], { cwd: folder, encoding: "utf8" });
    expect(run.stderr).toBe("");
    expect(run.stdout).toBe(
      "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262 portable\n",
    );
    rmSync(folder, { recursive: true });
  });

  test("is the same whether native or portable, on sizes around every boundary", () => {
    const native = loadNativeBlake3();
    if (native === undefined) throw new Error("the native addon does not load");
    const sizes = new Set<number>();
    for (let length = 0; length <= 130; length++) sizes.add(length);
    for (let chunks = 1; chunks <= 33; chunks++) {
      for (const beside of [-1, 0, 1, 64]) sizes.add(1024 * chunks + beside);
    }
    for (const length of sizes) expect(native(input(length))).toEqual(portable(input(length)));
  });
});
