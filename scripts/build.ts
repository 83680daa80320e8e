/**
 * Compiles the executable: `npm run build [-- OUTFILE]`; build/dreamdb when no file is named.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

/** What goes into an executable besides the sources. */
export interface Build {
  readonly version: string;
  readonly commit: string;
  /** The folder with src and node_modules; default: this one. */
  readonly sources?: string;
  /** Another platform than this one: Bun's name of it, and the path of Bun's executable for it. */
  readonly target?: { readonly name: string; readonly runtime: string };
}

/**
 * Compiles the program into `outfile`; returns whether it worked. Equal sources give equal bytes in
 * every folder, as long as the name of the file is the same.
 */
export function compile(outfile: string, build: Build): boolean {
  // Built elsewhere and moved in one step: somebody may be running the old one. The name itself goes
  // into the executable, so it is the final one from the start.
  const folder = resolve(dirname(outfile), `.building-${process.pid}`);
  const built = join(folder, basename(outfile));
  mkdirSync(folder, { recursive: true });
  const { status } = spawnSync(process.execPath, [
    "build",
    "--compile",
    "--minify",
    "--bytecode",
    // Most merges are over before compiled code has paid for its compilation.
    "--compile-jit-policy=5",
    "--format=esm",
    "--sourcemap",
    // Without these two the executable would obey a .env or bunfig.toml of any folder it is started in.
    "--no-compile-autoload-dotenv",
    "--no-compile-autoload-bunfig",
    "--define",
    `DREAMDB_VERSION=${JSON.stringify(build.version)}`,
    "--define",
    `DREAMDB_COMMIT=${JSON.stringify(build.commit)}`,
    // Packages that look for files beside themselves must not look at the folder they were built in.
    "--define",
    `__dirname="/$bunfs/root"`,
    ...build.target === undefined ? [] : [
      `--target=${build.target.name}`,
      `--compile-executable-path=${build.target.runtime}`,
    ],
    "--outfile",
    built,
    "src/cli/main.ts",
  ], { cwd: build.sources ?? ".", stdio: "inherit" });
  if (status === 0) {
    renameSync(`${built}.map`, `${outfile}.map`);
    renameSync(built, outfile);
  }
  rmSync(folder, { recursive: true, force: true });
  return status === 0;
}

/** The version as in package.json. */
export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  return version;
}

/** The commit that is built, marked when tracked files differ from it; "unknown" without git. */
export function commitName(): string {
  const head = git("rev-parse", "--short=12", "HEAD");
  if (head === undefined) return "unknown";
  return git("status", "--porcelain", "--untracked-files=no") === "" ? head : `${head}-dirty`;
}

function git(...args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync("git", args, { encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}

if (import.meta.main) {
  const outfile = process.argv[2] ?? "build/dreamdb";
  const build = { version: packageVersion(), commit: commitName() };
  if (compile(outfile, build)) {
    const megabytes = (statSync(outfile).size / 1e6).toFixed(1);
    console.log(`${outfile}: ${megabytes} MB, version ${build.version}, commit ${build.commit}`);
  } else process.exitCode = 1;
}
