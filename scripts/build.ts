/**
 * Compiles the executable: `npm run build [-- OUTFILE]`; build/dreamdb when no file is named.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";

const outfile = process.argv[2] ?? "build/dreamdb";
const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
const commit = commitName();

const { status } = spawnSync(process.execPath, [
  "build",
  "--compile",
  "--minify",
  "--bytecode",
  "--format=esm",
  "--sourcemap",
  // Without these two the executable would obey a .env or bunfig.toml of any folder it is started in.
  "--no-compile-autoload-dotenv",
  "--no-compile-autoload-bunfig",
  "--define",
  `DREAMDB_VERSION=${JSON.stringify(version)}`,
  "--define",
  `DREAMDB_COMMIT=${JSON.stringify(commit)}`,
  "--outfile",
  outfile,
  "src/cli/main.ts",
], { stdio: "inherit" });

if (status === 0) {
  const megabytes = (statSync(outfile).size / 1e6).toFixed(1);
  console.log(`${outfile}: ${megabytes} MB, version ${version}, commit ${commit}`);
}
process.exitCode = status ?? 1;

/** The commit that is built, marked when tracked files differ from it; "unknown" without git. */
function commitName(): string {
  const head = git("rev-parse", "--short=12", "HEAD");
  if (head === undefined) return "unknown";
  return git("status", "--porcelain", "--untracked-files=no") === "" ? head : `${head}-dirty`;
}

function git(...args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync("git", args, { encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}
