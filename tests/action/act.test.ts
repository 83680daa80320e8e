import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { projectRoot, scratchFolder, unpackFixture } from "../support/fixtures.ts";
import { collect, type ProgramResult } from "../support/reference.ts";
import { isInstalled, startS3Server } from "../support/s3-servers.ts";
import { putStore } from "./s3-store.ts";

setDefaultTimeout(300_000);

const act = join(projectRoot, ".cache/bin/act");
const missing = existsSync(act) ? undefined : "act is missing: run scripts/install-action-tools.sh";
if (missing !== undefined) console.warn(`skipped: workflows under act: ${missing}`);

/** A repository with what a workflow of this project finds, and `workflow` as its only one. */
function repository(workflow: string): string {
  const folder = join(scratchFolder(), "repository");
  const copies: readonly (readonly [string, string])[] = [
    ...["action.yml", "package.json", "dist"].map((name) => [name, name] as const),
    ...["demo-store", "refusals"].map((name) =>
      [`fixtures/${name}.tar.gz`, `fixtures/${name}.tar.gz`] as const
    ),
    [workflow, `.github/workflows/${workflow.split("/").at(-1)}`],
  ];
  for (const [from, to] of copies) {
    mkdirSync(dirname(join(folder, to)), { recursive: true });
    cpSync(join(projectRoot, from), join(folder, to), { recursive: true });
  }
  const author = ["-c", "user.name=test", "-c", "user.email=test@example.org"];
  for (
    const args of [["init", "-q", "-b", "main"], ["add", "-A"], [...author, "commit", "-qm", "x"]]
  ) {
    const { status, stderr } = spawnSync("git", args, { cwd: folder, encoding: "utf8" });
    if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
  }
  return folder;
}

/** Runs the workflows of a repository on this machine, without a container engine. */
async function runWorkflows(folder: string, args: readonly string[]): Promise<ProgramResult> {
  const child = spawn(act, ["push", "-P", "ubuntu-latest=-self-hosted", ...args], {
    cwd: folder,
    stdio: "pipe",
    env: { PATH: process.env["PATH"] ?? "", HOME: scratchFolder() },
  });
  child.stdin.end();
  return await collect(child);
}

describe.skipIf(missing !== undefined)("under act", () => {
  test("the workflow action.yml merges, refuses and passes outputs on", async () => {
    const { stdout, stderr, exitCode } = await runWorkflows(
      repository(".github/workflows/action.yml"),
      [],
    );
    expect({ exitCode, failed: exitCode === 0 ? "" : stdout + stderr }).toEqual({
      exitCode: 0,
      failed: "",
    });
    expect(stdout.match(/Job succeeded/g)).toHaveLength(4);
  });

  test.skipIf(!isInstalled("gofakes3"))("a store on S3 is merged, its secret masked", async () => {
    const server = await startS3Server("gofakes3");
    try {
      await putStore(server, unpackFixture("demo-store"), "demo");
      const secret = "a-secret-for-this-test";
      const { stdout, stderr, exitCode } = await runWorkflows(
        repository("tests/action/workflows/s3.yml"),
        [
          ...["--var", `ENDPOINT=${server.endpoint}`, "--var", `BUCKET=${server.bucket}`],
          ...["--secret", "AWS_ACCESS_KEY_ID=AKIATEST"],
          ...["--secret", `AWS_SECRET_ACCESS_KEY=${secret}`],
        ],
      );
      expect({ exitCode, failed: exitCode === 0 ? "" : stdout + stderr }).toEqual({
        exitCode: 0,
        failed: "",
      });
      expect(stdout).toContain("the secret is ***");
      expect(stdout + stderr).not.toContain(secret);
    } finally {
      await server.stop();
    }
  });
});
