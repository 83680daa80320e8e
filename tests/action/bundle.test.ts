import { expect, setDefaultTimeout, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { cpSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { join } from "node:path";
import { projectRoot, scratchFolder } from "../support/fixtures.ts";

setDefaultTimeout(120_000);

/** Bundles the sources in `folder` with the Bun that runs this; returns the bundle. */
function bundle(folder: string): string {
  const outfile = join(scratchFolder(), "index.js");
  const { status, stderr } = spawnSync(process.execPath, ["scripts/build-action.ts", outfile], {
    cwd: folder,
    encoding: "utf8",
  });
  expect({ status, stderr: status === 0 ? "" : stderr }).toEqual({ status: 0, stderr: "" });
  return readFileSync(outfile, "utf8");
}

test("equal sources give equal bundles in every folder, without a trace of it", () => {
  const elsewhere = join(scratchFolder(), "elsewhere");
  for (const name of ["src", "action", "scripts", "package.json", "bunfig.toml", "tsconfig.json"]) {
    cpSync(join(projectRoot, name), join(elsewhere, name), { recursive: true });
  }
  // Hard links: a link to the folder would show in the bundle.
  const copy = spawnSync("cp", ["-al", join(projectRoot, "node_modules"), elsewhere]);
  expect(copy.status).toBe(0);
  const here = bundle(projectRoot);
  expect(bundle(elsewhere) === here).toBe(true);
  expect(here).not.toContain(projectRoot);
});

test("the committed bundle needs nothing but Node's own modules", () => {
  const text = readFileSync(join(projectRoot, "dist/index.js"), "utf8");
  const imported = [...text.matchAll(/^import .*? from ["']([^"']+)["'];$/gm)]
    .map(([, name = ""]) => name.replace(/^node:/, ""));
  expect(imported.length).toBeGreaterThan(0);
  expect(imported.filter((name) => !builtinModules.includes(name))).toEqual([]);
  expect(text).not.toMatch(/\bBun\./);
});
