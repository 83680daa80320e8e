import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BenchStore } from "../../bench/bench-store.ts";
import { parseOptions, repeatCommand } from "../../bench/options.ts";
import { ratiosOf, spreadOf } from "../../bench/spread.ts";
import { countReads } from "../../bench/trace.ts";
import { scratchFolder } from "../support/fixtures.ts";

function write(folder: string, path: string, content: string): void {
  mkdirSync(join(folder, path, ".."), { recursive: true });
  writeFileSync(join(folder, path), content);
}

function newStore(): { readonly folder: string; readonly store: BenchStore } {
  const folder = join(scratchFolder(), "store");
  write(folder, "manifests/one", "first");
  write(folder, "refs/trunk", "one");
  return { folder, store: new BenchStore(folder) };
}

describe("putting a store back", () => {
  test("removes what a run added, tells its size and puts the refs back", () => {
    const { folder, store } = newStore();
    write(folder, "manifests/two", "second!");
    write(folder, "new/folder/three", "33");
    write(folder, ".dreamdb-cas-locks/trunk.lock", "");
    writeFileSync(join(folder, "refs/trunk"), "two");
    expect(store.restore()).toEqual({ objects: 2, bytes: 9 });
    expect(existsSync(join(folder, "new/folder/three"))).toBe(false);
    expect(readFileSync(join(folder, "refs/trunk"), "utf8")).toBe("one");
    expect(store.restore()).toEqual({ objects: 0, bytes: 0 });
  });

  test("works after a run that was killed", () => {
    const { folder } = newStore();
    write(folder, "manifests/two", "second");
    writeFileSync(join(folder, "refs/trunk"), "two");
    const again = new BenchStore(folder);
    expect(existsSync(join(folder, "manifests/two"))).toBe(false);
    expect(again.restore()).toEqual({ objects: 0, bytes: 0 });
  });

  test("says so when the store has lost an object", () => {
    const { folder, store } = newStore();
    write(folder, "manifests/two", "second");
    rmSync(join(folder, "manifests/one"));
    expect(() => store.restore()).toThrow("not as it was made");
  });
});

describe("spread", () => {
  test.each([
    { numbers: [3], median: 3, min: 3, max: 3 },
    { numbers: [9, 1, 4], median: 4, min: 1, max: 9 },
    { numbers: [10, 2, 4, 6], median: 5, min: 2, max: 10 },
  ])("of $numbers", ({ numbers, ...spread }) => {
    expect(spreadOf(numbers)).toEqual(spread);
  });

  test("of ratios is taken pair by pair", () => {
    expect(ratiosOf([10, 30, 8], [5, 3, 8])).toEqual({ median: 2, min: 1, max: 10 });
  });
});

test("reads are counted by kind, files of the store only", () => {
  const log = [
    `1 openat(AT_FDCWD, "/etc/hosts", O_RDONLY) = 3`,
    `1 openat(AT_FDCWD, "/s/refs/trunk", O_RDONLY|O_CLOEXEC) = 3`,
    `2 openat(AT_FDCWD, "/s/manifests/a", O_RDONLY) = 4`,
    `2 openat(AT_FDCWD, "/s/manifests/a", O_RDONLY) = 4`,
    `2 openat(AT_FDCWD, "/s/t/embedding.f32/track/b", O_RDONLY) = 4`,
    `2 openat(AT_FDCWD, "/s/t/embedding.f32/index/c", O_RDONLY) = 4`,
    `2 openat(AT_FDCWD, "/s/t/embedding.f32/0101/d", O_RDONLY) = 4`,
    `2 openat(AT_FDCWD, "/s/spatial-index/e", O_RDONLY) = 4`,
    `2 openat(AT_FDCWD, "/s/manifests", O_RDONLY|O_CLOEXEC) = 4`,
    `2 openat(AT_FDCWD, "/s/manifests/new", O_WRONLY|O_CREAT, 0666) = 4`,
  ].join("\n");
  const sizeOf = (path: string) => path === "/s/manifests" ? undefined : 10;
  expect(countReads(log, "/s", sizeOf)).toEqual({
    opened: { ref: 1, manifest: 2, track: 1, page: 1, payload: 1, other: 1 },
    bytes: 70,
  });
});

test("options have defaults and refuse nonsense", () => {
  expect(parseOptions([])).toMatchObject({ branches: [4, 64], modes: ["keep", "fuse"], pairs: 5 });
  expect(parseOptions(["--minutes=0"])?.minutes).toBe(Infinity);
  expect(() => parseOptions(["--pairs=none"])).toThrow("--pairs");
  expect(() => parseOptions(["--modes=melt"])).toThrow("melt");
});

test("the command that repeats a run names no place on this machine", () => {
  expect(repeatCommand([])).toBe("npm run bench");
  expect(repeatCommand(["--pairs=7", "--executable=/x/dreamdb", "--out=/y", "--note=z"]))
    .toBe("npm run bench -- --pairs=7");
});
