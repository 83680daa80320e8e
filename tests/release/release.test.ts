import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { billOfMaterials, type LockFile } from "../../scripts/release/bill-of-materials.ts";
import { pinnedBun } from "../../scripts/release/stage.ts";
import { executableName, TARGETS } from "../../scripts/release/targets.ts";
import { projectRoot } from "../support/fixtures.ts";

const read = (name: string) => readFileSync(join(projectRoot, name), "utf8");
const packageFile = JSON.parse(read("package.json"));
const lock: LockFile = JSON.parse(read("package-lock.json"));

describe("the bill of materials", () => {
  const bill = billOfMaterials(lock, { name: "dreamdb", version: "1.2.3" });
  const components = bill["components"] as readonly {
    readonly purl: string;
    readonly version: string;
    readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
    readonly licenses?: unknown;
  }[];
  const purls = components.map(({ purl }) => purl);

  test("names what the program depends on, and the runtime inside of it", () => {
    for (const [name, version] of Object.entries(packageFile.dependencies)) {
      expect(purls).toContain(`pkg:npm/${name.replace("@", "%40")}@${version}`);
    }
    expect(purls).toContain(`pkg:npm/bun@${packageFile.devDependencies.bun}`);
  });

  test("does not name what is used for development only", () => {
    expect(purls.filter((purl) => /typescript|deno|fast-check/.test(purl))).toEqual([]);
  });

  test("gives each its digest and licence", () => {
    for (const { purl, hashes, licenses } of components) {
      expect({ purl, alg: hashes?.[0]?.alg }).toEqual({ purl, alg: "SHA-512" });
      expect(hashes?.[0]?.content).toMatch(/^[0-9a-f]{128}$/);
      expect(licenses).toBeDefined();
    }
  });

  test("is the same every time", () => {
    const again = billOfMaterials(lock, { name: "dreamdb", version: "1.2.3" });
    expect(JSON.stringify(again)).toBe(JSON.stringify(bill));
    expect(JSON.stringify(bill)).not.toMatch(/timestamp|serialNumber/);
  });
});

describe("a release", () => {
  test("is built with the exact Bun that package.json pins", () => {
    expect(pinnedBun()).toBe(packageFile.devDependencies.bun);
    expect(read("Dockerfile")).toContain(`oven/bun:${pinnedBun()}-slim`);
  });

  test("has an executable of its own name for each platform", () => {
    const names = TARGETS.map(executableName);
    expect(new Set(names).size).toBe(TARGETS.length);
    expect(names.filter((name) => name.endsWith(".exe"))).toEqual(["dreamdb-windows-x64.exe"]);
  });
});
