import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { countRun, sumTotals } from "../../scripts/test-totals.ts";
import { scratchFolder } from "../support/fixtures.ts";

/** Runs `bun test` over files with these texts, as `npm test` does. */
function runOf(texts: readonly string[]) {
  const folder = scratchFolder();
  texts.forEach((text, index) => writeFileSync(join(folder, `file${index}.test.ts`), text));
  const report = join(folder, "report.xml");
  const { status, stderr } = spawnSync(
    process.execPath,
    ["test", "--reporter=junit", `--reporter-outfile=${report}`],
    { cwd: folder, encoding: "utf8", env: { ...process.env, FORCE_COLOR: "1" } },
  );
  return countRun({
    xml: existsSync(report) ? readFileSync(report, "utf8") : "",
    exitCode: status ?? 1,
    output: stderr,
  });
}

const passing = `import { test } from "bun:test"; test("a", () => {}); test("b", () => {});`;
const failing = `import { test } from "bun:test"; test("a", () => { throw new Error("no"); });`;
const skipping = `import { test } from "bun:test"; test.skipIf(true)("a", () => {});`;
const notLoading = `import "./nowhere.ts"; ${passing}`;
const crashing = `import { test } from "bun:test"; test("a", () => process.exit(7));`;

describe("the totals of a test run", () => {
  const runs: readonly (readonly [string, readonly string[], readonly [number, number, number]])[] =
    [
      ["passing tests", [passing], [2, 0, 0]],
      ["a failing and a skipped test", [passing, failing, skipping], [2, 1, 1]],
      ["files that do not load", [passing, notLoading, notLoading], [2, 2, 0]],
      ["a file that ends the process", [crashing], [0, 1, 0]],
      ["no tests at all", [], [0, 1, 0]],
    ];
  for (const [name, texts, [passed, failed, skipped]] of runs) {
    test(`count ${name}`, () => expect(runOf(texts)).toEqual({ passed, failed, skipped }));
  }

  test("are added up", () => {
    const one = { passed: 1, failed: 2, skipped: 3 };
    expect(sumTotals([one, one])).toEqual({ passed: 2, failed: 4, skipped: 6 });
    expect(sumTotals([])).toEqual({ passed: 0, failed: 0, skipped: 0 });
  });
});
