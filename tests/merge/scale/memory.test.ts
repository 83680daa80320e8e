import { describe, expect, test } from "bun:test";
import { collect } from "../../support/reference.ts";
import { projectRoot, scratchFolder } from "../../support/fixtures.ts";
import { spawn } from "node:child_process";

/** Two million entries are in `node scripts/bun.mjs tests/merge/scale/run.ts`. */
const ENTRIES = 100_000;
const TIMEOUT = 120_000;

interface Told {
  readonly read: number;
  readonly written: number;
  readonly peakMegabytes: number;
}

async function memory(...args: readonly string[]): Promise<Told> {
  const script = "tests/merge/scale/memory.ts";
  const child = spawn(process.execPath, [script, ...args], { cwd: projectRoot, stdio: "pipe" });
  child.stdin.end();
  const { exitCode, stdout, stderr } = await collect(child);
  if (exitCode !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Told;
}

describe.each(["spatial", "scalar"])("a merge of 16 branches into a large %s index", (kind) => {
  test("needs little memory, whether the tree is copied or built anew", async () => {
    const folder = scratchFolder();
    await memory("make", folder, kind, String(ENTRIES), "16");
    for (const way of ["whole", "copy"]) {
      const { peakMegabytes, read, written } = await memory("merge", folder, kind, way, "16");
      expect(read).toBeGreaterThan(100);
      expect(written).toBeGreaterThan(50);
      expect([way, peakMegabytes, peakMegabytes < 256]).toEqual([way, peakMegabytes, true]);
    }
  }, TIMEOUT);
});
