/**
 * Runs the tests and closes with the line "N passed, N failed, N skipped":
 * `npm test [-- PATH...]`; all of tests/ when nothing is named.
 *
 * Each folder of tests/ gets a process of its own, so that memory is given back and a crash costs
 * only its folder. The JUnit files are in build/junit; build/test.txt holds `passed failed skipped`.
 *
 * @module
 */

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { countRun, sumTotals, type Totals } from "./test-totals.ts";

const reports = "build/junit";
const totalsFile = "build/test.txt";
/** A folder that hangs must cost its own tests, not the whole run. */
const FOLDER_MINUTES = 30;

await main(process.argv.slice(2));

async function main(asked: readonly string[]): Promise<void> {
  // Reports of an earlier run must not be counted when this one crashes.
  rmSync(reports, { recursive: true, force: true });
  rmSync(totalsFile, { force: true });
  mkdirSync(reports, { recursive: true });
  const runs: Totals[] = [];
  if (asked.length > 0) runs.push(await runTests("asked", asked));
  else for (const name of testFolders()) runs.push(await runTests(name, [`./tests/${name}`]));
  const { passed, failed, skipped } = sumTotals(runs);
  writeFileSync(totalsFile, `${passed} ${failed} ${skipped}\n`);
  console.log(`\n${passed} passed, ${failed} failed, ${skipped} skipped`);
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
}

function testFolders(): readonly string[] {
  return readdirSync("tests", { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && holdsTests(join("tests", entry.name)))
    .map((entry) => entry.name)
    .sort();
}

function holdsTests(folder: string): boolean {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .some((path) => path.endsWith(".test.ts"));
}

async function runTests(name: string, paths: readonly string[]): Promise<Totals> {
  console.log(`\n== tests: ${name}`);
  const report = join(reports, `${name}.xml`);
  const child = spawn(process.execPath, [
    "test",
    "--timeout=60000",
    "--only-failures",
    "--reporter=junit",
    `--reporter-outfile=${report}`,
    ...paths,
  ], { stdio: ["ignore", "inherit", "pipe"] });
  let output = "";
  child.stderr.on("data", (bytes: Uint8Array) => {
    process.stderr.write(bytes);
    output = (output + Buffer.from(bytes).toString()).slice(-100_000);
  });
  const limit = setTimeout(() => {
    console.error(`tests/${name} did not end within ${FOLDER_MINUTES} minutes and is stopped`);
    child.kill("SIGKILL");
  }, FOLDER_MINUTES * 60_000);
  const exitCode = await new Promise<number>((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code) => resolve(code ?? 1));
  });
  clearTimeout(limit);
  return countRun({
    xml: existsSync(report) ? readFileSync(report, "utf8") : "",
    exitCode,
    output,
  });
}
