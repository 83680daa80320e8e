/**
 * Checks that dist/index.js is what the sources give: `npm run check:dist`.
 *
 * @module
 */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildAction } from "./build-action.ts";

const committed = "dist/index.js";
const folder = mkdtempSync(join(tmpdir(), "dreamdb-dist-"));
try {
  const fresh = join(folder, "index.js");
  if (!buildAction(fresh)) process.exitCode = 1;
  else if (readFileSync(fresh).equals(readFileSync(committed))) {
    console.log(`${committed} is what the sources give.`);
  } else {
    console.error(`${committed} is not what the sources give. Run: npm run build:action`);
    console.error(firstDifference(readFileSync(committed, "utf8"), readFileSync(fresh, "utf8")));
    process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function firstDifference(committed: string, fresh: string): string {
  const lines = committed.split("\n");
  const freshLines = fresh.split("\n");
  const at = lines.findIndex((line, index) => line !== freshLines[index]);
  const line = at < 0 ? lines.length : at;
  return `line ${line + 1}:\n- ${lines[line] ?? "(end)"}\n+ ${freshLines[line] ?? "(end)"}`;
}
