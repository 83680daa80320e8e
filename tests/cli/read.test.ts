import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { backendUrl, copyStore, treeDigest } from "../support/fixtures.ts";
import { run, runJson, unmergedStore } from "./support.ts";

// Whole runs of the program, on machines that may be busy.
setDefaultTimeout(60_000);

/** A merged store, its backend URL, and the document of the merge. */
async function mergedStore() {
  const store = copyStore(unmergedStore());
  const backend = backendUrl(store);
  const { document } = await runJson(["merge-many", "-b", backend, "w0", "w1"]);
  return { store, backend, document };
}

describe("log", () => {
  test("walks all parents, newest first, and marks merges", async () => {
    const { backend, document } = await mergedStore();
    const { document: log } = await runJson(["log", "-b", backend]);
    const manifests = log["manifests"] as readonly {
      readonly address: string;
      readonly ts: string;
      readonly merge: boolean;
      readonly parents: readonly string[];
      readonly operation: string;
    }[];
    expect(manifests[0]).toMatchObject({
      address: document["manifest"],
      merge: true,
      parents: document["parents"],
      operation: "union-merge",
    });
    const times = manifests.map(({ ts }) => BigInt(ts));
    expect(times).toEqual([...times].sort((a, b) => a < b ? 1 : -1));
    const seen = manifests.map(({ address }) => address);
    for (const parent of document["parents"] as string[]) expect(seen).toContain(parent);
    expect(new Set(seen).size).toBe(seen.length);
    expect(log).toMatchObject({ more: false, missing: [], tip: document["manifest"] });
  });

  test("stops at -n and says that there is more", async () => {
    const { backend } = await mergedStore();
    const { document: log } = await runJson(["log", "-b", backend, "-n", "1"]);
    expect(log["manifests"]).toHaveLength(1);
    expect(log["more"]).toBe(true);
    const text = await run(["log", "-b", backend, "-n", "2", "--graph"]);
    expect(text.stdout).toContain("merge of 3");
    expect(text.stdout).toStartWith("M ");
  });
});

describe("show", () => {
  test("finds every object of a store by its address alone, and by its path", async () => {
    const { store, backend } = await mergedStore();
    const paths = readdirSync(store, { recursive: true, encoding: "utf8" })
      .filter((path) => /(^|\/)d[a-z2-7]{52}$/.test(path) && !path.startsWith("bao-outboard"))
      .filter((path) => path.split("/").length > 1);
    const picked = new Map(paths.map((path) => [path.split("/").slice(0, -1).join("/"), path]));
    expect(picked.size).toBeGreaterThan(10);
    for (const path of picked.values()) {
      const address = path.slice(path.lastIndexOf("/") + 1);
      for (const what of [address, path]) {
        const { document } = await runJson(["show", "-b", backend, what]);
        expect(document).toMatchObject({ path, address, error: null });
      }
    }
  });

  test("a ref is its Manifest, with addresses as text and 64-bit integers exact", async () => {
    const { backend, document: merged } = await mergedStore();
    const { document } = await runJson(["show", "-b", backend, "trunk"]);
    expect(document).toMatchObject({ ref: "trunk", kind: "Manifest", form: "cbor" });
    const value = document["value"] as { readonly ts: unknown; readonly parents: unknown };
    expect(value.ts).toMatch(/^\d{19}$/);
    expect(value.parents).toEqual(merged["parents"]);
    const { document: same } = await runJson(["show", "-b", backend, "refs/trunk"]);
    expect(same["address"]).toBe(document["address"]);
  });

  test("a SpatialBucket is its header and anchors", async () => {
    const { store, backend } = await mergedStore();
    const path = readdirSync(store, { recursive: true, encoding: "utf8" })
      .find((name) => /\/embedding[^/]+\/[01]+\/d/.test(name)) ?? "";
    const { document } = await runJson(["show", "-b", backend, path]);
    const value = document["value"] as { header: { count: number }; anchors: string[] };
    expect(document["form"]).toBe("summary");
    expect(value.anchors).toHaveLength(value.header.count);
    for (const anchor of value.anchors) expect(anchor).toMatch(/^\d+$/);
  });

  test.each([
    ["d3m7yab7yclf45ey4pbhuhl6f37beqiwyruvvytit7uhryijd5arq", 4],
    ["nothing", 4],
    ["manifests/none", 4],
    ["../etc/passwd", 2],
    ["UPPER", 2],
  ])("%s ends with %d", async (what, code) => {
    const { exitCode } = await run(["show", "-b", backendUrl(unmergedStore()), what]);
    expect(exitCode).toBe(code);
  });
});

describe("diff", () => {
  test("counts entries per field", async () => {
    const { backend, document: merged } = await mergedStore();
    const before = (merged["trunk"] as { readonly before: string }).before;
    const { document } = await runJson(["diff", "-b", backend, before, "trunk"]);
    const fields = document["fields"] as readonly {
      readonly field: string;
      readonly entriesAdded: number;
      readonly change: string;
    }[];
    expect(fields.map(({ field }) => field).sort())
      .toEqual((merged["fields"] as { field: string }[]).map(({ field }) => field).sort());
    for (const { entriesAdded, change } of fields) {
      expect(change).toBe("changed");
      expect(entriesAdded).toBeGreaterThan(0);
    }
  });

  test("of a state with itself is empty", async () => {
    const { stdout } = await run(["diff", "-b", backendUrl(unmergedStore()), "w0", "w0"]);
    expect(stdout).toBe("no difference\n");
  });
});

describe("branch", () => {
  test("create, list, delete", async () => {
    const backend = backendUrl(copyStore(unmergedStore()));
    const { document: made } = await runJson(["branch", "create", "ingest-w-0", "-b", backend]);
    expect(made).toMatchObject({ command: "branch create", status: "created", from: "trunk" });
    const again = await runJson(["branch", "create", "ingest-w-0", "-b", backend]);
    expect(again.document["status"]).toBe("already-there");
    const other = ["branch", "create", "ingest-w-0", "--from", "w0", "-b", backend];
    expect((await run(other)).exitCode).toBe(2);
    const { document: listed } = await runJson(["branch", "list", "ingest-", "-b", backend]);
    expect(listed["refs"]).toEqual([{ name: "ingest-w-0", address: made["address"] }]);
    const remove = ["branch", "delete", "ingest-w-0", "-b", backend];
    expect((await run(remove)).exitCode).toBe(2);
    expect((await run([...remove, "--yes"])).exitCode).toBe(0);
    expect((await run([...remove, "--yes"])).exitCode).toBe(4);
    expect((await run(["branch", "list", "-b", backend])).stdout.match(/\n/g)).toHaveLength(3);
  });

  test.each(["trunk/x y", "tags/v1", "Up"])("create %j is refused", async (name) => {
    const store = copyStore(unmergedStore());
    const before = treeDigest(store);
    expect((await run(["branch", "create", name, "-b", backendUrl(store)])).exitCode).toBe(2);
    expect(treeDigest(store)).toBe(before);
  });
});

test("store check finds a folder fit for publishing and leaves nothing behind", async () => {
  const store = copyStore(unmergedStore());
  const { document, exitCode } = await runJson(["store", "check", "-b", backendUrl(store)]);
  expect(exitCode).toBe(0);
  expect(document).toMatchObject({ status: "ok", publishable: true });
});
