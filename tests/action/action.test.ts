import { afterAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { encodeBase32 } from "../../src/encoding/base32.ts";
import { backendUrl, copyStore, treeDigest, unpackFixture } from "../support/fixtures.ts";
import { isInstalled, startS3Server } from "../support/s3-servers.ts";
import { type ActionRun, removeInstalledAction, runAction } from "./run-action.ts";
import { putStore } from "./s3-store.ts";

if (!isInstalled("gofakes3")) {
  console.warn("skipped: a store on S3: run scripts/install-s3-servers.sh");
}

afterAll(removeInstalledAction);

/** A copy of a golden store that may be changed. */
const golden = (name: string) => copyStore(join(unpackFixture("golden/stores"), name, "store"));

const refOf = (store: string, name: string) =>
  encodeBase32(readFileSync(join(store, "refs", name)));

const errorsOf = ({ stdout }: ActionRun) =>
  stdout.split("\n").filter((line) => line.startsWith("::error"));

describe("a merge", () => {
  test("moves the ref and tells everything in outputs, report and summary", async () => {
    const store = golden("disjoint-3");
    const before = refOf(store, "trunk");
    const run = await runAction({
      backend: backendUrl(store),
      ref: "trunk",
      branches: "w{0..1}\nw2",
    });
    expect(run.stdout).not.toContain("::error");
    expect(run.exitCode).toBe(0);
    const { report, manifest, ...outputs } = run.outputs;
    expect(manifest).toBe(refOf(store, "trunk"));
    expect(outputs).toEqual({
      status: "merged",
      error: "",
      "trunk-before": before,
      "trunk-after": refOf(store, "trunk"),
      merged: `["w0","w1","w2"]`,
      "merged-count": "3",
      "already-merged": "[]",
      "records-added": expect.stringMatching(/^[1-9]\d*$/),
      "entries-added": expect.stringMatching(/^[1-9]\d*$/),
      refusals: "[]",
      "refusal-count": "0",
      warnings: "[]",
    });
    expect(JSON.parse(readFileSync(report ?? "", "utf8"))).toMatchObject({
      command: "merge-many",
      status: "merged",
      manifest,
      error: null,
    });
    expect(run.summary).toContain("### Merged 3 branches into trunk");
    expect(run.summary).toContain(`| <code>w1</code> | merged |`);
  });

  test("repeated is already merged and writes nothing", async () => {
    const store = golden("already-merged");
    const before = treeDigest(store);
    const run = await runAction({ backend: backendUrl(store), branches: "w0,w1" });
    expect(run.exitCode).toBe(0);
    expect(run.outputs).toMatchObject({
      status: "already-merged",
      merged: "[]",
      "already-merged": `["w0","w1"]`,
      manifest: "",
    });
    expect(treeDigest(store)).toBe(before);
  });

  test("takes branches from a file of the workspace and from a pattern", async () => {
    const store = golden("same-cell-4");
    const run = await runAction({
      backend: backendUrl(store),
      "branches-from": "shards.txt",
      "branch-glob": "w*",
      "report-file": "report.json",
    }, { files: { "shards.txt": "w3 # the last one first\n" } });
    expect(run.exitCode).toBe(0);
    expect(JSON.parse(run.outputs["merged"] ?? "")).toEqual(["w3", "w0", "w1", "w2"]);
    expect(run.outputs["report"]).toBe(join(run.workspace, "report.json"));
  });

  test("of a dry run writes nothing and says what it would do", async () => {
    const store = golden("disjoint-3");
    const before = treeDigest(store);
    const run = await runAction({
      backend: backendUrl(store),
      branches: "w{0..2}",
      "dry-run": "true",
    });
    expect(run.exitCode).toBe(0);
    expect(run.outputs).toMatchObject({ status: "merged", manifest: "", "trunk-after": "" });
    expect(run.summary).toContain("Would merge 3 branches into trunk");
    expect(treeDigest(store)).toBe(before);
  });

  test("takes the backend and the ref from the environment", async () => {
    const store = golden("disjoint-2");
    const run = await runAction({ backend: "", branches: "w{0..1}" }, {
      environment: { DREAMDB_BACKEND: backendUrl(store), DREAMDB_REF: "trunk" },
    });
    expect(run.outputs["status"]).toBe("merged");
  });
});

describe("a refusal", () => {
  test("fails the step with every reason and its evidence, and writes nothing", async () => {
    const store = golden("refused-branch-in-the-middle");
    const before = treeDigest(store);
    const run = await runAction({ backend: backendUrl(store), branches: "w{0..3}" });
    expect(run.exitCode).toBe(1);
    expect(run.outputs).toMatchObject({
      status: "refused",
      merged: "[]",
      manifest: "",
    });
    const refusals: readonly { code: string; field?: string; anchors?: readonly string[] }[] = JSON
      .parse(run.outputs["refusals"] ?? "");
    const doubled = refusals.filter(({ code, field }) =>
      code === "duplicate-anchor" && field === "emb"
    );
    expect(doubled.flatMap(({ anchors }) => anchors ?? []).sort()).toEqual([
      "1800000000000000000",
      "1800003600000000001",
    ]);
    // Every reason, and the failure itself.
    const count = Number(run.outputs["refusal-count"]);
    expect(count).toBeGreaterThan(4);
    expect(errorsOf(run)).toHaveLength(count + 1);
    expect(run.summary).toContain("<code>duplicate-anchor</code> (rule 3)");
    expect(run.summary).toContain("<code>1800003600000000001</code>");
    expect(treeDigest(store)).toBe(before);
  });

  test("does not fail the step with fail-on: error", async () => {
    const store = golden("duplicate-same-cell");
    const run = await runAction({
      backend: backendUrl(store),
      branches: "w0 w1",
      "fail-on": "error",
    });
    expect(run.exitCode).toBe(0);
    expect(run.outputs).toMatchObject({ status: "refused", "refusal-count": "1" });
  });
});

describe("a warning", () => {
  for (const [failOn, exitCode] of [["refusal", 0], ["warning", 1]] as const) {
    test(`ends the step with ${exitCode} under fail-on: ${failOn}`, async () => {
      const store = golden("deleted-here-appended-there");
      const run = await runAction({
        backend: backendUrl(store),
        branches: "w0 w1",
        "fail-on": failOn,
      });
      expect(run.stdout).toContain("::warning title=deleted-on-one-side::");
      expect(run.outputs).toMatchObject({ status: "merged", error: "" });
      expect(run.exitCode).toBe(exitCode);
    });
  }
});

describe("a failure", () => {
  test("tells all refs that are missing", async () => {
    const store = golden("missing-branch");
    const run = await runAction({ backend: backendUrl(store), branches: "w0,zzz,w1,yyy" });
    expect(run.exitCode).toBe(1);
    expect(run.outputs).toMatchObject({ status: "failed", error: "ref-missing" });
    expect(JSON.parse(readFileSync(run.outputs["report"] ?? "", "utf8"))).toMatchObject({
      status: "failed",
      error: { code: "ref-missing", names: ["zzz", "yyy"] },
    });
    expect(errorsOf(run).join()).toContain("zzz, yyy");
    expect(run.summary).toContain("ref-missing");
  });

  test("of inputs is told at once, all of it, before the store is asked", async () => {
    const run = await runAction({
      backend: "ftp://example.org/store",
      ref: "Trunk",
      branches: "ingest-w-$JOB_COMPLETION_INDEX",
      "dry-run": "ture",
      buckets: "melt",
      attempts: "0",
      timeout: "soon",
      pick: "constant.title",
      "fail-on": "never",
    });
    expect(run.exitCode).toBe(1);
    expect(run.outputs).toMatchObject({ status: "failed", error: "usage" });
    const [error = ""] = errorsOf(run);
    const named = ["ftp:", "Trunk", "JOB_COMPLETION_INDEX", "ture", "melt"];
    for (const part of [...named, "attempts", "soon", "constant.title", "never"]) {
      expect(error).toContain(part);
    }
  });

  test("of an empty input counts it as not given", async () => {
    const run = await runAction({ backend: " ", branches: "" });
    const [error = ""] = errorsOf(run);
    expect(error).toContain("no backend");
    expect(error).toContain("no branch to merge");
  });

  test("when time is out leaves the ref alone", async () => {
    const store = golden("disjoint-3");
    const before = refOf(store, "trunk");
    const run = await runAction({
      backend: backendUrl(store),
      branches: "w{0..2}",
      timeout: "1ms",
    });
    expect(run.exitCode).toBe(1);
    expect(run.outputs).toMatchObject({ status: "failed", error: "interrupted" });
    expect(refOf(store, "trunk")).toBe(before);
  });
});

describe("a cancelled step", () => {
  test("ends at the runner's signal and says that the ref has not moved", async () => {
    // A store that takes requests and never answers.
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    try {
      const run = await runAction({ backend: `http://127.0.0.1:${port}/bucket`, branches: "w0" }, {
        running: (child) => server.once("connection", () => child.kill("SIGINT")),
      });
      expect(run.exitCode).toBe(1);
      expect(run.outputs["error"]).toBe("interrupted");
      expect(errorsOf(run).join()).toContain("The ref has not moved");
    } finally {
      server.close();
    }
  });
});

describe.skipIf(!isInstalled("gofakes3"))("a store on S3", () => {
  test("is merged, and planned without credentials", async () => {
    const server = await startS3Server("gofakes3");
    try {
      await putStore(server, join(unpackFixture("golden/stores"), "disjoint-3/store"), "store");
      const backend = `s3://${server.bucket}/store`;
      const inputs = { backend, endpoint: server.endpoint, branches: "w{0..2}" };
      const planned = await runAction({ ...inputs, "dry-run": "true" });
      expect(planned.stdout).toContain("::notice title=no credentials::");
      expect(planned.outputs).toMatchObject({ status: "merged", manifest: "" });
      const run = await runAction(inputs, { environment: server.environment });
      expect(run.exitCode).toBe(0);
      expect(run.outputs["merged-count"]).toBe("3");
    } finally {
      await server.stop();
    }
  });
});

describe("credentials", () => {
  const fork = {
    name: "pull_request",
    payload: {
      pull_request: {
        head: { repo: { full_name: "somebody/fork" } },
        base: { repo: { full_name: "owner/project" } },
      },
    },
  };
  const none = { AWS_ACCESS_KEY_ID: "", AWS_SECRET_ACCESS_KEY: "" };
  // Nothing listens there: a request would end as a store failure.
  const unreachable = { backend: "s3://bucket/store", endpoint: "http://127.0.0.1:9" };

  test("that a fork cannot have are missed before any request (B31)", async () => {
    const run = await runAction({ ...unreachable, branches: "w0" }, {
      event: fork,
      environment: none,
    });
    expect(run.exitCode).toBe(1);
    expect(run.outputs["error"]).toBe("permission-denied");
    expect(errorsOf(run).join()).toContain("dry-run: auto");
  });

  test("are not needed by a fork that only plans on a readable store (B31)", async () => {
    const store = golden("disjoint-3");
    const before = treeDigest(store);
    const run = await runAction({
      backend: backendUrl(store),
      branches: "w{0..2}",
      "dry-run": "auto",
    }, { event: fork, environment: none });
    expect(run.exitCode).toBe(0);
    expect(run.outputs).toMatchObject({ status: "merged", manifest: "" });
    expect(treeDigest(store)).toBe(before);
  });

  test("are masked before anything is logged", async () => {
    const run = await runAction({ backend: "file:///nowhere/at/all", branches: "w0" }, {
      environment: { AWS_SECRET_ACCESS_KEY: "very-secret-key", AWS_SESSION_TOKEN: "session-token" },
    });
    expect(run.stdout).toStartWith("::add-mask::very-secret-key\n::add-mask::session-token\n");
  });

  test("in the backend's URL reach no log", async () => {
    const run = await runAction({
      backend: "http://user:hunter2hunter2@127.0.0.1:9/bucket",
      branches: "w0",
    });
    const said = run.stdout.replace("::add-mask::hunter2hunter2", "");
    expect(said + run.stderr + run.summary).not.toContain("hunter2");
    expect(run.exitCode).toBe(1);
  });
});
