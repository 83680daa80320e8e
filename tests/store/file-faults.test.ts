/**
 * Merges into folders where the operating system says no (ANCHORS D.3-5), each provoked for real. What
 * this machine cannot provoke is skipped, with the reason printed.
 *
 * Mounts are made in a mount namespace of the program's own: they end with it.
 */

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { dreamdbCommand, mergeMany } from "../support/dreamdb.ts";
import {
  backendUrl,
  copyStore,
  scratchFolder,
  treeDigest,
  unpackFixture,
} from "../support/fixtures.ts";

// Whole merges, on machines that have other work too.
setDefaultTimeout(60_000);

const BRANCHES = ["w0", "w1", "w2"];
const NOBODY = "65534";
const isRoot = process.getuid?.() === 0;

/** Runs `$@` as the last thing of a shell script that prepares its surroundings. */
function after(script: string, ...values: readonly string[]): readonly string[] {
  return ["sh", "-ec", script, "sh", ...values];
}

/** A program before another that gives it a mount namespace of its own. */
const namespace: readonly string[] = isRoot
  ? ["unshare", "--mount"]
  : ["unshare", "--user", "--map-root-user", "--mount"];

/** A program before another that makes it run as a user who owns nothing; root may do everything. */
const asNobody: readonly string[] = isRoot
  ? ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"]
  : [];

const READ_ONLY = 'mount --bind "$1" "$1"; mount -o remount,bind,ro "$1"; shift; exec "$@"';

const namespaceMissing = reasonAgainst([
  ...namespace,
  ...after(`mount -t tmpfs -o size=64k tmpfs "$1"; ${READ_ONLY}`, scratchFolder(), "true"),
]);
const nobodyMissing = process.platform === "win32"
  ? "folders have no modes here"
  : reasonAgainst([...asNobody, ...dreamdbCommand(), "--version"]) ??
    reasonAgainst([...asNobody, "test", "-r", unpackFixture("demo-store")]);
const FEW_FILES = 'ulimit -n 24; exec "$@"';
const limitMissing = reasonAgainst([...after(FEW_FILES), ...dreamdbCommand(), "--version"]);

/** Why a command cannot be run on this machine, or undefined when it can. */
function reasonAgainst([program = "", ...args]: readonly string[]): string | undefined {
  const { error, status, stderr } = spawnSync(program, args, { encoding: "utf8" });
  if (status === 0) return undefined;
  return error?.message ?? `${program} ended with ${status}: ${stderr.trim()}`;
}

for (
  const [name, missing] of [
    ["EACCES", nobodyMissing],
    ["EROFS and ENOSPC", namespaceMissing],
    ["EMFILE", limitMissing],
  ] as const
) {
  if (missing !== undefined) console.warn(`skipped: merges that meet ${name}: ${missing}`);
}

/** A merge with `prefix` before the program; the first line that it says to a person. */
async function merge(store: string, prefix: readonly string[], ...args: readonly string[]) {
  const run = await mergeMany(backendUrl(store), BRANCHES, {
    command: [...prefix, ...dreamdbCommand()],
    args,
  });
  const { exitCode, document, stderr } = run;
  return { exitCode, status: document.status, said: stderr.split("\n")[0] ?? "" };
}

function demoStore(): string {
  return copyStore(unpackFixture("demo-store"));
}

/** Takes from everybody, or gives back to the owner, the right to write below `folder`. */
function setWritable(folder: string, writable: boolean): void {
  const all = readdirSync(folder, { recursive: true, encoding: "utf8" });
  for (const path of [folder, ...all.map((name) => join(folder, name))]) {
    const isFolder = statSync(path).isDirectory();
    chmodSync(path, (isFolder ? 0o555 : 0o444) | (writable ? 0o200 : 0));
  }
}

describe("a merge into a folder", () => {
  test.skipIf(nobodyMissing !== undefined)(
    "of somebody else is not allowed, and leaves it as it is",
    async () => {
      const store = demoStore();
      const found = treeDigest(store);
      // The folder above is its maker's alone.
      chmodSync(dirname(store), 0o755);
      setWritable(store, false);
      try {
        const { said, ...outcome } = await merge(store, asNobody);
        expect(outcome).toEqual({ exitCode: 6, status: "failed" });
        expect(said).toContain("EACCES when trying to write");
      } finally {
        setWritable(store, true);
      }
      expect(treeDigest(store)).toBe(found);
    },
  );

  test.skipIf(namespaceMissing !== undefined)(
    "that is mounted read-only is not allowed, and leaves it as it is",
    async () => {
      const store = demoStore();
      const found = treeDigest(store);
      const { said, ...outcome } = await merge(store, [...namespace, ...after(READ_ONLY, store)]);
      expect(outcome).toEqual({ exitCode: 6, status: "failed" });
      expect(said).toContain("EROFS when trying to write");
      expect(treeDigest(store)).toBe(found);
    },
  );

  // A merge of this store writes more than 200 KB, so each ends at another place.
  for (const space of ["0", "8K", "64K"]) {
    test.skipIf(namespaceMissing !== undefined)(
      `with ${space} of space left fails, and leaves the store as it was`,
      async () => {
        const store = demoStore();
        const outside = join(scratchFolder(), "afterwards");
        mkdirSync(outside);
        // The store lies on a small file system; a look at it is taken before that is gone.
        const script = `store=$1 outside=$2; shift 2; small=$outside/small; mkdir "$small"
          mount -t tmpfs -o size=8m tmpfs "$small"
          cp -R "$store" "$small/store"
          mount --bind "$small/store" "$store"
          cat /dev/zero > "$small/fill" 2> "$outside/full" || true
          truncate -s "-${space}" "$small/fill"
          code=0; "$@" || code=$?
          cp -R "$small/store" "$outside/store"
          exit "$code"`;
        const found = treeDigest(store);
        const { said, ...outcome } = await merge(store, [
          ...namespace,
          ...after(script, store, outside),
        ]);
        expect(outcome).toEqual({ exitCode: 7, status: "failed" });
        expect(said).toContain("ENOSPC");
        expect(treeDigest(join(outside, "store"))).toBe(found);
      },
    );
  }

  test.skipIf(limitMissing !== undefined)(
    "with few files open at once succeeds when it is told to use few",
    async () => {
      const { exitCode, status } = await merge(demoStore(), after(FEW_FILES), "--concurrency", "4");
      expect({ exitCode, status }).toEqual({ exitCode: 0, status: "merged" });
    },
  );

  test.skipIf(limitMissing !== undefined)(
    "with too few files allowed to be open fails, and leaves the store as it was",
    async () => {
      const store = demoStore();
      const found = treeDigest(store);
      const { said, ...outcome } = await merge(store, after(FEW_FILES), "--concurrency", "256");
      expect(outcome).toEqual({ exitCode: 7, status: "failed" });
      expect(said).toContain("EMFILE");
      expect(treeDigest(store)).toBe(found);
    },
  );
});
