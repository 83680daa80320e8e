/**
 * Everything that is checked without running the program: format, lint, types, the direction of
 * imports, and that dist/ is what the sources give. Fails when a step failed; build/check.txt then
 * tells `passed failed skipped` in steps.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";

const steps: readonly (readonly [string, ...string[]])[] = [
  ["format", "node_modules/deno/bin.cjs", "fmt", "--check"],
  ["lint", "node_modules/deno/bin.cjs", "lint"],
  ["types", "node_modules/typescript/bin/tsc", "--noEmit"],
  ["imports", "scripts/check-imports.ts"],
  ["action bundle", "scripts/check-dist.ts"],
];
const totals = "build/check.txt";

rmSync(totals, { force: true });
const failed = steps.filter(([name, ...command]) => {
  console.log(`\n== ${name}`);
  return spawnSync(process.execPath, command, { stdio: "inherit" }).status !== 0;
});
mkdirSync("build", { recursive: true });
writeFileSync(totals, `${steps.length - failed.length} ${failed.length} 0\n`);

if (failed.length === 0) console.log("\nAll checks passed.");
else {
  console.log(`\nFailed: ${failed.map(([name]) => name).join(", ")}.`);
  console.log("The format is mended by: npx deno fmt");
}
process.exitCode = failed.length === 0 ? 0 : 1;
