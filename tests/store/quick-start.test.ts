/**
 * The S3 quick start of the README, as it stands there but for the port.
 */

import { beforeAll, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { compiledExecutable, dreamdbEnvironment } from "../support/dreamdb.ts";
import { projectRoot, scratchFolder } from "../support/fixtures.ts";
import { collect } from "../support/reference.ts";
import { freePort, isInstalled } from "../support/s3-servers.ts";
import { snippetsIn } from "../support/snippets.ts";

if (!isInstalled("gofakes3")) {
  test.skip("gofakes3 is missing: run scripts/install-s3-servers.sh", () => {});
} else {
  beforeAll(compiledExecutable, 300_000);

  test("three lines merge a store in a bucket", async () => {
    const snippet = snippetsIn("README.md", "sh").find((text) => text.includes("gofakes3"));
    expect(snippet?.trimEnd().split("\n")).toHaveLength(3);

    const folder = scratchFolder();
    mkdirSync(join(folder, "build"));
    symlinkSync(join(projectRoot, "fixtures"), join(folder, "fixtures"));
    symlinkSync(join(projectRoot, ".cache"), join(folder, ".cache"));
    symlinkSync(await compiledExecutable(), join(folder, "build/dreamdb"));
    const script = `${snippet?.replaceAll("9000", String(await freePort()))}
      status=$?
      kill $!
      exit $status`;
    const shell = spawn("bash", ["-c", script], {
      cwd: folder,
      env: dreamdbEnvironment(),
      stdio: "pipe",
    });
    shell.stdin.end();
    const { exitCode, stdout } = await collect(shell);
    expect(stdout).toStartWith("merged into trunk: 3 branches: w0, w1, w2\n");
    expect(exitCode).toBe(0);
  }, 120_000);
}
