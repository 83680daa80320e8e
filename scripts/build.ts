/**
 * Compiles the executable: `npm run build [-- OUTFILE]`; build/dreamdb when no file is named.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";

const outfile = process.argv[2] ?? "build/dreamdb";
const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
const commit = commitName();
// Built elsewhere and moved in one step: somebody may be running the old one. The name itself goes
// into the executable, so it is the final one from the start.
const folder = join(dirname(outfile), `.building-${process.pid}`);
const built = join(folder, basename(outfile));
mkdirSync(folder, { recursive: true });

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
  // Packages that look for files beside themselves must not look at the folder they were built in.
  "--define",
  `__dirname="/$bunfs/root"`,
  "--outfile",
  built,
  "src/cli/main.ts",
], { stdio: "inherit" });

if (status === 0) {
  renameSync(`${built}.map`, `${outfile}.map`);
  renameSync(built, outfile);
  const megabytes = (statSync(outfile).size / 1e6).toFixed(1);
  console.log(`${outfile}: ${megabytes} MB, version ${version}, commit ${commit}`);
}
rmSync(folder, { recursive: true, force: true });
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
