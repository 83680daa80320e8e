import { beforeAll, describe, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compiledExecutable, dreamdb, dreamdbEnvironment } from "../support/dreamdb.ts";
import { projectRoot, scratchFolder } from "../support/fixtures.ts";
import { collect } from "../support/reference.ts";

describe("the compiled executable", () => {
  beforeAll(compiledExecutable, 300_000);

  test("tells its version and commit", async () => {
    const { version } = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8")) as {
      readonly version: string;
    };
    const { stdout, exitCode } = await dreamdb(["--version"], [await compiledExecutable()]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^dreamdb \S+ \(([0-9a-f]{12}(-dirty)?|unknown)\)\n$/);
    expect(stdout).toContain(version);
  });

  test("obeys no .env and runs no bunfig.toml of the folder it is started in", async () => {
    const folder = scratchFolder();
    writeFileSync(join(folder, "preload.ts"), `require("fs").writeFileSync("ran", "");`);
    writeFileSync(join(folder, "bunfig.toml"), `preload = ["./preload.ts"]\n`);
    writeFileSync(join(folder, ".env"), "DREAMDB_BACKEND=file:///nowhere/at/all\n");
    const child = spawn(await compiledExecutable(), ["log"], {
      cwd: folder,
      env: dreamdbEnvironment(),
      stdio: "pipe",
    });
    child.stdin.end();
    const { exitCode, stderr } = await collect(child);
    expect(exitCode).toBe(2);
    expect(stderr).toContain("no backend");
    expect(existsSync(join(folder, "ran"))).toBe(false);
  });

  test("holds no path of the folder it was built in", async () => {
    const bytes = readFileSync(await compiledExecutable());
    const found = bytes.indexOf(projectRoot);
    const around = found < 0 ? "" : bytes.subarray(found - 60, found + 120).toString("latin1");
    expect(around).toBe("");
  });
});
