import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { backendUrl, copyStore, scratchFolder, treeDigest } from "../support/fixtures.ts";
import { mergeSchema, refusedStore, run, runJson, unmergedStore } from "./support.ts";

// Whole runs of the program, on machines that may be busy.
setDefaultTimeout(60_000);

const validate = new Ajv2020({ allErrors: true }).compile(mergeSchema());

function expectValid(document: unknown): void {
  validate(document);
  expect(validate.errors ?? []).toEqual([]);
}

const merge = (
  store: string,
  ...rest: readonly string[]
) => ["merge-many", "--backend", backendUrl(store), ...rest];

describe("ways to name the same two branches", () => {
  const names = join(scratchFolder(), "names.txt");
  writeFileSync(names, "# both\nw{0..1}\n");
  const ways: readonly (readonly string[])[] = [
    ["--branches", "w0,w1"],
    ["--branches=w0,w1"],
    ["--branches", "w{0..1}"],
    ["--branch", "w0", "--branch", "w1"],
    ["w0", "w1"],
    ["w0,w1"],
    ["--branches-from", names],
    ["--branches-from", "-"],
    ["--branch-glob", "w?"],
    ["--branch-glob", "*"],
    ["--ref-name", "trunk", "w0", "w1"],
    ["w0", "w1", "--ref=trunk"],
  ];
  test.each(ways.map((way) => [way] as const))("%j", async (way) => {
    const store = copyStore(unmergedStore());
    const before = treeDigest(store);
    const { document, exitCode } = await runJson(merge(store, ...way, "--dry-run"), {
      input: "w0\nw1\n",
    });
    expectValid(document);
    expect({ exitCode, status: document["status"], dryRun: document["dryRun"] })
      .toEqual({ exitCode: 0, status: "merged", dryRun: true });
    const branches = document["branches"] as readonly { readonly name: string }[];
    expect(branches.map(({ name }) => name)).toEqual(["w0", "w1"]);
    expect(treeDigest(store)).toBe(before);
  });
});

test("a merge is told to people and to programs, and a second run finds it done", async () => {
  const store = copyStore(unmergedStore());
  const first = await run(merge(store, "w0", "w1"));
  expect(first.exitCode).toBe(0);
  expect(first.stderr).toBe("");
  expect(first.stdout).toStartWith("merged into trunk: 2 branches: w0, w1\n");
  for (const word of ["manifest", "parents", "base", "written", "FIELD", "ADDED", "FUSED"]) {
    expect(first.stdout).toContain(word);
  }
  const digest = treeDigest(store);
  const second = await runJson(merge(store, "w0", "w1"));
  expectValid(second.document);
  expect(second.document).toMatchObject({
    version: 1,
    command: "merge-many",
    status: "already-merged",
    ref: "trunk",
    manifest: null,
    written: { objects: 0, pages: 0, bytes: 0 },
    error: null,
  });
  expect(second.exitCode).toBe(0);
  expect(treeDigest(store)).toBe(digest);
});

test("merge takes one branch", async () => {
  const store = copyStore(unmergedStore());
  const { document } = await runJson(["merge", "-b", backendUrl(store), "w0"]);
  expectValid(document);
  expect(document).toMatchObject({ command: "merge", status: "merged" });
  expect(document["parents"]).toHaveLength(2);
  expect((await run(["merge", "-b", backendUrl(store), "w{0..1}"])).exitCode).toBe(2);
  expect((await run(["merge", "-b", backendUrl(store), "w0", "w1"])).exitCode).toBe(2);
});

describe("the environment", () => {
  test("stands in for --backend and --ref", async () => {
    const store = copyStore(unmergedStore());
    const environment = { DREAMDB_BACKEND: backendUrl(store), DREAMDB_REF: "w1" };
    const { document } = await runJson(["merge-many", "w0", "--dry-run"], { environment });
    expect(document).toMatchObject({ ref: "w1", backend: backendUrl(store) });
  });

  test("gives way to flags", async () => {
    const store = copyStore(unmergedStore());
    const environment = { DREAMDB_BACKEND: "file:///nowhere/at/all", DREAMDB_REF: "nothing" };
    const { document } = await runJson(
      merge(store, "w0", "--ref", "trunk", "--dry-run"),
      { environment },
    );
    expect(document).toMatchObject({ ref: "trunk", backend: backendUrl(store), error: null });
  });
});

describe("a refused merge", () => {
  const stores = readdirSync(refusedStore("")).sort();
  test.each(stores)("%s", async (name) => {
    const store = copyStore(refusedStore(name));
    const branches = readdirSync(join(store, "refs")).filter((ref) => ref !== "trunk");
    const before = treeDigest(store);
    const { document, exitCode } = await runJson(merge(store, "--branches", branches.join(",")));
    expectValid(document);
    expect([exitCode, document["status"]]).toEqual([3, "refused"]);
    expect(treeDigest(store)).toBe(before);
    const text = await run(merge(store, "--branches", branches.join(",")));
    expect(text.exitCode).toBe(3);
    const refusals = document["refusals"] as readonly { code: string; next: string }[];
    for (const { code } of refusals) expect(text.stdout).toContain(code);
    expect(text.stdout).toContain("next: ");
    expect(text.stdout).toContain("nothing was written");
    const tooWide = text.stdout.split("\n").filter((line) =>
      line.length > 80 && line.trim().includes(" ")
    );
    expect(tooWide).toEqual([]);
  });

  test("writes anchors as text, since they are beyond 2^53", async () => {
    const store = copyStore(refusedStore("duplicate-same-cell"));
    const { document } = await runJson(merge(store, "--branch-glob", "w*"));
    const [refusal] = document["refusals"] as readonly { anchors: readonly unknown[] }[];
    expect(refusal?.anchors.length).toBeGreaterThan(0);
    for (const anchor of refusal?.anchors ?? []) expect(anchor).toMatch(/^\d{17,20}$/);
  });
});

describe("usage errors end with 2, and with a document when one was asked for", () => {
  const backend = "file:///data/store";
  const wrong: readonly [argv: readonly string[], hint: string][] = [
    [[], "dreamdb --help"],
    [["merge-mny"], "merge-many"],
    [["merge-many", "--brnches", "w0"], "--branches"],
    [["merge-many", "w0"], "DREAMDB_BACKEND"],
    [["merge-many", "-b", "", "w0"], "DREAMDB_BACKEND"],
    [["merge-many", "-b", "$BACKEND", "w0"], "$(BACKEND)"],
    [["merge-many", "-b", "/data/store", "w0"], "file:///"],
    [["merge-many", "-b", "ftp://me:hunter22@host/x", "w0"], "file:///"],
    [["merge-many", "-b", backend], "--branches"],
    [["merge-many", "-b", backend, "--branches="], "unset variable"],
    [["merge-many", "-b", backend, "--branches", "w-0,...,w-9"], "w-{0..9}"],
    [["merge-many", "-b", backend, "w-$JOB_COMPLETION_INDEX"], "$(JOB_COMPLETION_INDEX)"],
    [["merge-many", "-b", backend, "W0"], "lower case"],
    [["merge-many", "-b", backend, "--ref", "../x", "w0"], ".."],
    [["merge-many", "-b", backend, "trunk"], "Take trunk out"],
    [["merge-many", "-b", backend, "w0", "--ref", "a", "--ref-name", "b"], "one of both"],
    [["merge-many", "-b", backend, "w0", "--buckets", "melt"], "--help"],
    [["merge-many", "-b", backend, "w0", "--attempts", "0"], "--attempts"],
    [["merge-many", "-b", backend, "w0", "--timeout", "soon"], "--timeout=10m"],
    [["merge-many", "-b", backend, "w0", "--pick", "title.text"], "--pick"],
    [["merge-many", "-b", backend, "--branches-from", "/no/such/file"], "path"],
    [["log", "--cuont", "3"], "--count"],
    [["branch"], "--help"],
    [["branch", "delete", "w0", "-b", backend], "--yes"],
    [["completion", "tcsh"], "--help"],
  ];
  test.each(wrong)("%j", async (argv, hint) => {
    const text = await run(argv);
    expect(text.exitCode).toBe(2);
    expect(text.stdout).toBe("");
    expect(text.stderr).toStartWith("error: ");
    expect(text.stderr.replaceAll(/\s+/g, " ")).toContain(hint);
    expect(text.stderr).not.toContain("hunter22");
    if (argv[0] !== "merge-many") return;
    const { document, exitCode } = await runJson(argv);
    expect(exitCode).toBe(2);
    expectValid(document);
    expect(document).toMatchObject({ command: "merge-many", status: "failed" });
  });
});

describe("failures", () => {
  test("all missing refs are named", async () => {
    const store = copyStore(unmergedStore());
    const { document, exitCode } = await runJson(merge(store, "w0,x1,w1,x2"));
    expectValid(document);
    expect(exitCode).toBe(4);
    expect(document["error"]).toMatchObject({ code: "ref-missing", names: ["x1", "x2"] });
  });

  test("a glob without a match is a missing ref", async () => {
    const store = copyStore(unmergedStore());
    const { exitCode } = await runJson(merge(store, "--branch-glob", "ingest-*"));
    expect(exitCode).toBe(4);
  });

  test("a store that is not there", async () => {
    const { document, exitCode } = await runJson(merge(join(scratchFolder(), "none"), "w0"));
    expectValid(document);
    expect(exitCode).toBe(4);
    expect(document["error"]).toMatchObject({ code: "store-missing" });
  });

  test("a damaged Track", async () => {
    const store = copyStore(unmergedStore());
    const tracks = readdirSync(store, { recursive: true, encoding: "utf8" })
      .filter((path) => /\/track\/d[a-z2-7]{52}$/.test(path));
    expect(tracks.length).toBeGreaterThan(0);
    for (const path of tracks) {
      const file = join(store, path);
      chmodSync(file, 0o644);
      const bytes = readFileSync(file);
      bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
      writeFileSync(file, bytes);
    }
    const before = treeDigest(store);
    const { document, exitCode } = await runJson(merge(store, "w0", "w1"));
    expectValid(document);
    expect(exitCode).toBe(9);
    expect(document["error"]).toMatchObject({ code: "hash-mismatch" });
    expect(treeDigest(store)).toBe(before);
  });

  test("a Manifest that is gone", async () => {
    const store = copyStore(unmergedStore());
    const { document: log } = await runJson(["log", "-b", backendUrl(store), "w0", "-n", "1"]);
    rmSync(join(store, "manifests", String(log["tip"])));
    const { document, exitCode } = await runJson(merge(store, "w0", "w1"));
    expectValid(document);
    expect(exitCode).toBe(9);
    expect(document["error"]).toMatchObject({ code: "object-missing" });
  });
});

describe("a signal", () => {
  test.each([["SIGTERM", 143], ["SIGINT", 130]] as const)(
    "%s before the ref has moved ends with %d and moves nothing",
    async (signal, code) => {
      const store = copyStore(unmergedStore());
      const { document, exitCode, stderr } = await runJson(
        merge(store, "w0", "w1", "--progress=plain"),
        {
          onError(text, send) {
            if (text.startsWith("comparing")) send(signal);
          },
        },
      );
      expectValid(document);
      expect(exitCode).toBe(code);
      expect(document["error"]).toMatchObject({ code: "interrupted", signal, refMoved: false });
      expect(stderr).toContain("No ref has moved");
      const { document: after } = await runJson(["merge-many", "-b", backendUrl(store), "w0"]);
      expect(after["status"]).toBe("merged");
    },
  );

  test("while the ref is being moved lets the merge come to its end", async () => {
    const store = copyStore(unmergedStore());
    const { document, exitCode, stderr } = await runJson(
      merge(store, "w0", "w1", "--progress=plain"),
      {
        onError(text, send) {
          if (text.startsWith("moving")) send("SIGTERM");
        },
      },
    );
    // Whether the signal came before or after the last look at it, the answer must be true.
    const { document: log } = await runJson(["log", "-b", backendUrl(store), "-n", "1"]);
    if (exitCode === 0) expect(document["manifest"]).toBe(log["tip"]);
    else {
      expect(document["error"]).toMatchObject({ code: "interrupted", refMoved: false });
      expect(log["tip"]).not.toBe(document["manifest"]);
    }
    expect([0, 143]).toContain(exitCode);
    expect(stderr).toContain("trunk is being moved");
  });

  test("the time limit works as SIGTERM", async () => {
    const store = copyStore(unmergedStore());
    const { document, exitCode } = await runJson(merge(store, "w0", "w1", "--timeout=1ms"));
    expectValid(document);
    expect([exitCode, document["status"]]).toEqual([143, "failed"]);
  });
});

test("progress as JSON is one object a line, on stderr", async () => {
  const store = copyStore(unmergedStore());
  const { stderr, stdout } = await run(merge(store, "w0", "w1", "--progress=json", "--dry-run"));
  const events = stderr.trim().split("\n").map((line) => JSON.parse(line));
  expect(events.length).toBeGreaterThan(3);
  for (const event of events) expect(event).toMatchObject({ event: "progress" });
  expect(stdout).toStartWith("dry run: trunk would be merged with 2 branches");
});

test("help lists examples, exit codes and variables", async () => {
  const root = await run(["--help"]);
  expect(root.exitCode).toBe(0);
  for (const word of ["merge-many", "verify", "completion", "Exit codes", "Examples"]) {
    expect(root.stdout).toContain(word);
  }
  const command = await run(["merge-many", "--help"]);
  for (const word of ["Examples", "Exit codes", "DREAMDB_BACKEND", "--allow-identical", "143"]) {
    expect(command.stdout).toContain(word);
  }
  for (const { stdout } of [root, command]) {
    expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
  }
  expect((await run(["--version"])).stdout).toMatch(/^dreamdb \d+\.\d+\.\d+ \(.+\)\n$/);
});
