import { beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { compiledExecutable, mergeMany } from "../support/dreamdb.ts";
import {
  backendUrl,
  copyStore,
  listFiles,
  scratchFolder,
  unpackFixture,
} from "../support/fixtures.ts";
import {
  publishFaults,
  readSystemCalls,
  straceArguments,
  straceMissing,
} from "../support/system-calls.ts";

/** The lock of the ref trunk (FORMAT 1.5). */
const lockOfTrunk = ".dreamdb-cas-locks/dzilve5jnjrssxjazw6sxflpcz6a7qvamsp7kblpmfp2g7hoqvu7s.lock";

const publish = { added: ["/s/manifests/m"], ref: "/s/refs/trunk", lock: "/s/lock" };

/** A durable publish, as strace shows it; the first sync is interrupted by another thread. */
const durable: readonly string[] = [
  `10 fsync(5</s/manifests/m.tmp> <unfinished ...>`,
  `11 close(9</s/other>) = 0`,
  `10 <... fsync resumed>) = 0`,
  `10 link("/s/manifests/m.tmp", "/s/manifests/m") = 0`,
  `10 fsync(5</s/manifests>) = 0`,
  `12 flock(7</s/lock>, LOCK_EX|LOCK_NB) = -1 EAGAIN (Resource temporarily unavailable)`,
  `12 flock(7</s/lock>, LOCK_EX) = 0`,
  `10 fsync(6</s/trunk.tmp>) = 0`,
  `10 renameat2(AT_FDCWD</home>, "/s/trunk.tmp", AT_FDCWD</home>, "/s/refs/trunk", 0) = 0`,
  `10 fsync(6</s/refs>) = 0`,
  `12 close(7</s/lock>) = 0`,
];

/** `durable` with the line at `from` moved to `to`, or left out. */
function changed(from: number, to?: number): readonly string[] {
  const lines = durable.filter((_, index) => index !== from);
  if (to !== undefined) lines.splice(to, 0, durable[from] ?? "");
  return lines;
}

/** `durable` with two lines from `at` on replaced. */
function replaced(at: number, lines: readonly string[]): readonly string[] {
  return durable.toSpliced(at, 2, ...lines);
}

describe("the judge of a publish", () => {
  const traces: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ["accepts a durable one", durable, []],
    [
      "accepts an object synced under its own name",
      replaced(2, [
        `10 link("/s/manifests/m.tmp", "/s/manifests/m") = 0`,
        `10 fsync(5</s/manifests/m>) = 0`,
      ]),
      [],
    ],
    ["wants the object synced", changed(2), [
      "/s/manifests/m was not synced before the ref moved",
    ]],
    ["wants the object synced before the ref moves", changed(2, 8), [
      "/s/manifests/m was not synced before the ref moved",
    ]],
    ["wants the object to appear whole", changed(3), ["/s/manifests/m was written in place"]],
    ["wants the folder of the object synced before the ref moves", changed(4, 8), [
      "the folder of /s/manifests/m was not synced before the ref moved",
    ]],
    ["wants the lock", changed(6), ["the lock was not held when the ref moved"]],
    ["wants the lock kept", changed(10, 7), ["the lock was released before the ref had moved"]],
    ["wants the ref synced", changed(7), ["the ref was not synced before it got its name"]],
    ["wants the ref renamed", changed(8), ["/s/refs/trunk was not renamed into place"]],
    ["wants the folder of the ref synced", changed(9, 8), [
      "the folder of the ref was not synced after it moved",
    ]],
  ];
  for (const [name, lines, faults] of traces) {
    test(name, () => {
      expect(publishFaults(readSystemCalls(lines.join("\n")), publish)).toEqual(faults);
    });
  }
});

if (straceMissing !== undefined) console.warn(`skipped: durability of a merge: ${straceMissing}`);

describe.skipIf(straceMissing !== undefined)("a merge", () => {
  if (straceMissing === undefined) beforeAll(compiledExecutable, 300_000);

  test("syncs objects and folders before the ref, which it moves under the lock", async () => {
    const store = copyStore(unpackFixture("demo-store"));
    const before = new Set(listFiles(store));
    const output = join(scratchFolder(), "trace");
    const command = ["strace", ...straceArguments, "-o", output, await compiledExecutable()];
    const run = await mergeMany(backendUrl(store), ["w0", "w1", "w2"], { command });
    expect(run).toMatchObject({ exitCode: 0, document: { status: "merged" } });

    const added = listFiles(store).filter((path) => !before.has(path) && path !== lockOfTrunk);
    expect(added.some((path) => path.startsWith("manifests/"))).toBe(true);
    const faults = publishFaults(readSystemCalls(readFileSync(output, "utf8")), {
      added: added.map((path) => join(store, path)),
      ref: join(store, "refs/trunk"),
      lock: join(store, lockOfTrunk),
    });
    expect(faults).toEqual([]);
  }, 120_000);
});
