import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { projectRoot, scratchFolder, unpackFixture } from "../support/fixtures.ts";
import { collect, type ProgramResult } from "../support/reference.ts";
import { isInstalled, type S3Server, startS3Server } from "../support/s3-servers.ts";
import { snippetsIn } from "../support/snippets.ts";
import { installedAction, removeInstalledAction } from "./run-action.ts";
import { putStore } from "./s3-store.ts";

setDefaultTimeout(300_000);
afterAll(removeInstalledAction);

const act = join(projectRoot, ".cache/bin/act");
const missing = existsSync(act) ? undefined : "act is missing: run scripts/install-action-tools.sh";
if (missing !== undefined) console.warn(`skipped: workflows under act: ${missing}`);

/** Commits all that lies in a folder: act runs in repositories only. */
function commit(folder: string): string {
  const author = ["-c", "user.name=test", "-c", "user.email=test@example.org"];
  const commands = [["init", "-q", "-b", "main"], ["add", "-A"], [...author, "commit", "-qm", "x"]];
  for (const args of commands) {
    const { status, stderr } = spawnSync("git", args, { cwd: folder, encoding: "utf8" });
    if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
  }
  return folder;
}

/** Somebody's repository with one workflow, of which `text` is given. */
function userRepository(text: string): string {
  const folder = join(scratchFolder(), "repository");
  mkdirSync(join(folder, ".github/workflows"), { recursive: true });
  writeFileSync(join(folder, ".github/workflows/merge.yml"), text);
  return commit(folder);
}

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
  return commit(folder);
}

/** Runs the workflows of a repository on this machine, without a container engine. */
async function runWorkflows(
  folder: string,
  args: readonly string[],
  event = "push",
): Promise<ProgramResult> {
  const child = spawn(act, [event, "-P", "ubuntu-latest=-self-hosted", ...args], {
    cwd: folder,
    stdio: "pipe",
    timeout: 120_000,
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

  describe.skipIf(!isInstalled("gofakes3"))("the examples of docs/action.md", () => {
    const [merge = "", look = ""] = snippetsIn("docs/action.md", "yaml");
    const fork = {
      pull_request: {
        head: { repo: { full_name: "somebody/fork" } },
        base: { repo: { full_name: "owner/project" } },
      },
    };
    let server: S3Server;

    beforeAll(async () => {
      server = await startS3Server("gofakes3");
      await fetch(`${server.endpoint}/datasets`, { method: "PUT" });
      const datasets = { ...server, bucket: "datasets" };
      await putStore(datasets, unpackFixture("demo-store"), "night-camera");
    });
    afterAll(() => server.stop());

    const run = (text: string, event: string, args: readonly string[]) =>
      runWorkflows(userRepository(text), [
        ...["--local-repository", `OWNER/dreamdb@v0=${installedAction()}`],
        ...["--env", `AWS_ENDPOINT_URL=${server.endpoint}`],
        ...args,
      ], event);
    const secrets = ["AWS_ACCESS_KEY_ID=AKIATEST", "AWS_SECRET_ACCESS_KEY=secretsecret"]
      .flatMap((secret) => ["--secret", secret]);

    test("look without credentials on a pull request from a fork", async () => {
      const event = join(scratchFolder(), "event.json");
      writeFileSync(event, JSON.stringify(fork));
      const { stdout, exitCode } = await run(look, "pull_request", ["-e", event]);
      expect(stdout).toContain("dry run");
      expect(exitCode).toBe(0);
    });

    test("merge when somebody asks for it", async () => {
      const { stdout, exitCode } = await run(merge, "workflow_dispatch", secrets);
      expect(stdout).toMatch(/trunk is at d[a-z2-7]{52}\b/);
      expect(exitCode).toBe(0);
    });

    test("merge on a push", async () => {
      const { stdout, exitCode } = await run(look, "push", secrets);
      expect(stdout).toContain("already merged");
      expect(exitCode).toBe(0);
    });
  });
});
