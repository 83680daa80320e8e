import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDreamDBError } from "../../src/errors.ts";
import { checkStore } from "../../src/store/check.ts";
import { FileConnector } from "../../src/store/file.ts";
import { sampleAddress } from "./conformance.ts";

const roots: string[] = [];
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
});

function newRoot(): string {
  const root = mkdtempSync(join(tmpdir(), "dreamdb-check-"));
  roots.push(root);
  return root;
}

describe("checking a file store", () => {
  test("finds one that is right, and leaves nothing but the lock folder", async () => {
    const root = newRoot();
    await new FileConnector(`file://${root}`).createRef("trunk", sampleAddress("1"));
    const check = await checkStore(`file://${root}/`, { writers: 8, rounds: 2 });
    expect(check.url).toBe(`file://${root}`);
    expect(check.publishable).toBe(true);
    expect(check.findings.map(({ name, result }) => [name, result])).toEqual([
      ["list refs", "ok"],
      ["lock", "ok"],
      ["write", "ok"],
      ["race of 8 writers", "ok"],
      ["network folders", "note"],
    ]);
    expect(check.findings[0]?.text).toContain("1 refs");
    expect(readdirSync(root).sort()).toEqual([".dreamdb-cas-locks", "refs"]);
    expect(readdirSync(join(root, ".dreamdb-cas-locks"))).toEqual([]);
  });

  test("finds a lock that does not lock", async () => {
    const check = await checkStore(`file://${newRoot()}`, {
      writers: 32,
      rounds: 5,
      fileLock: { kind: "bun:ffi", acquire: async () => {} },
    });
    expect(check.publishable).toBe(false);
    expect(check.findings.find(({ result }) => result === "failed")?.name).toBe(
      "race of 32 writers",
    );
  });

  test("reports a folder that does not exist, and does not make it", async () => {
    const root = join(newRoot(), "missing");
    const outcome = await checkStore(`file://${root}`).catch((error) => error);
    expect(isDreamDBError(outcome, "store-missing")).toBe(true);
    expect(() => readdirSync(root)).toThrow();
  });

  test("reports a folder that cannot be written as a failure of the store", async () => {
    const root = newRoot();
    writeFileSync(join(root, ".dreamdb-cas-locks"), "");
    const outcome = await checkStore(`file://${root}`).catch((error) => error);
    expect(isDreamDBError(outcome, "store-failure")).toBe(true);
  });

  test("has nothing to say about memory", async () => {
    expect(await checkStore("memory:")).toMatchObject({ url: "memory:", publishable: true });
  });
});
