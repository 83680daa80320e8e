import { expect, setDefaultTimeout, test } from "bun:test";
import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { lockPath } from "../../src/store/paths.ts";
import { findFileLock } from "../../src/store/flock.ts";
import { dreamdb, dreamdbCommand, dreamdbEnvironment } from "../support/dreamdb.ts";
import { backendUrl, copyStore, treeDigest } from "../support/fixtures.ts";
import { collect } from "../support/reference.ts";
import { runJson, unmergedStore } from "./support.ts";

// Whole runs of the program, on machines that may be busy.
setDefaultTimeout(60_000);

/** Starts `dreamdb` and calls `then` once it has written `text` to stderr. */
function start(args: readonly string[], text: string, then: (kill: () => void) => void) {
  const [program = "", ...first] = dreamdbCommand();
  const child = spawn(program, [...first, ...args], { env: dreamdbEnvironment(), stdio: "pipe" });
  let seen = "";
  child.stderr.on("data", (bytes: Uint8Array) => {
    const before = seen.includes(text);
    seen += Buffer.from(bytes).toString();
    if (!before && seen.includes(text)) then(() => child.kill("SIGTERM"));
  });
  return { child, result: collect(child) };
}

test("SIGTERM ends the process with 143 and one document, and nothing has changed", async () => {
  const store = copyStore(unmergedStore());
  const before = treeDigest(store);
  const args = ["merge-many", "-b", backendUrl(store), "--branches-from", "-", "--json"];
  const { result } = start(args, "standard input", (kill) => kill());
  const { exitCode, stdout } = await result;
  expect(exitCode).toBe(143);
  expect(JSON.parse(stdout)).toMatchObject({
    status: "failed",
    error: { code: "interrupted", signal: "SIGTERM", refMoved: false },
  });
  expect(treeDigest(store)).toBe(before);
});

test("SIGTERM while the ref waits for its lock ends the wait, and the ref has not moved", async () => {
  const store = copyStore(unmergedStore());
  const lock = await findFileLock();
  if (lock === undefined) throw new Error("this machine has no flock");
  const path = join(store, lockPath("trunk"));
  mkdirSync(join(path, ".."), { recursive: true });
  const { document: before } = await runJson(["log", "-b", backendUrl(store), "-n", "1"]);
  const held = openSync(path, "w");
  await lock.acquire(held, new AbortController().signal);
  const args = ["merge-many", "-b", backendUrl(store), "w0", "w1", "--json"];
  const { child, result } = start(args, "waiting for the lock", (kill) => kill());
  child.stdin.end();
  const { exitCode, stdout } = await result;
  closeSync(held);
  const { document: after } = await runJson(["log", "-b", backendUrl(store), "-n", "1"]);
  expect(exitCode).toBe(143);
  expect(JSON.parse(stdout)).toMatchObject({
    status: "failed",
    error: { code: "interrupted", signal: "SIGTERM", refMoved: false },
  });
  expect(after["tip"]).toBe(before["tip"]);
});

test.each(["bash", "zsh", "fish", "powershell"])(
  "there is a completion script for %s",
  async (shell) => {
    const { exitCode, stdout } = await dreamdb(["completion", shell]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/dreamdb complete '?--/);
  },
);

test("the scripts' questions are answered from the table of commands", async () => {
  const { stdout } = await dreamdb(["complete", "--", "merge-many", "--buckets", ""]);
  expect(stdout.split("\n").slice(0, 2).map((line) => line.trim())).toEqual(["fuse", "keep"]);
  const { stdout: commands } = await dreamdb(["complete", "--", "branch", ""]);
  expect(commands.match(/^\w+/gm)).toEqual(["create", "list", "delete"]);
});
