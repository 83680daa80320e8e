import { spawn } from "node:child_process";
import { join } from "node:path";
import { projectRoot } from "./fixtures.ts";
import { collect, type ProgramResult } from "./reference.ts";

/** What `merge-many --json` prints; only what these tests look at. Anchors are decimal text. */
export interface MergeDocument {
  readonly status: string;
  readonly manifest?: string;
  readonly refusals?: readonly RefusalDocument[];
}

/** One refusal in a merge document. */
export interface RefusalDocument {
  readonly code: string;
  readonly message: string;
  readonly next: string;
  readonly sides: readonly string[];
  readonly field?: string;
  readonly modality?: string;
  readonly anchors?: readonly string[];
  readonly anchorCount?: number;
}

/** A finished `merge-many --json`. */
export interface MergeRun extends ProgramResult {
  readonly document: MergeDocument;
}

/**
 * Program and first arguments of `dreamdb`: the executable that the variable `DREAMDB` names, or
 * this source tree.
 */
export function dreamdbCommand(): readonly string[] {
  const executable = process.env["DREAMDB"];
  return executable ? [executable] : [process.execPath, join(projectRoot, "src/cli/main.ts")];
}

/** The environment of the programs under test: nothing that changes what a Bun executable does. */
export function dreamdbEnvironment(): NodeJS.ProcessEnv {
  const names = ["BUN_BE_BUN", "BUN_OPTIONS", "DREAMDB_BACKEND", "DREAMDB_REF"];
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !names.includes(name)),
  );
}

/** Runs `dreamdb` to its end, or another `command` in its place. */
export async function dreamdb(
  args: readonly string[],
  command: readonly string[] = dreamdbCommand(),
): Promise<ProgramResult> {
  const [program = "", ...first] = command;
  const child = spawn(program, [...first, ...args], { env: dreamdbEnvironment(), stdio: "pipe" });
  child.stdin.end();
  return await collect(child);
}

/** Merges `branches` into trunk and reads the document; fails when none was printed. */
export async function mergeMany(
  backend: string,
  branches: readonly string[],
  options: { readonly command?: readonly string[]; readonly args?: readonly string[] } = {},
): Promise<MergeRun> {
  const result = await dreamdb([
    ...["merge-many", "--backend", backend, "--ref", "trunk"],
    ...["--branches", branches.join(","), "--json"],
    ...options.args ?? [],
  ], options.command);
  try {
    return { ...result, document: JSON.parse(result.stdout) as MergeDocument };
  } catch {
    throw new Error(
      `merge-many ended with ${result.exitCode} and printed no JSON document:\n` +
        `${result.stdout}\n${result.stderr}`,
    );
  }
}

let building: Promise<string> | undefined;

/** The path of the compiled executable: the one `DREAMDB` names, or a fresh build of this tree. */
export function compiledExecutable(): Promise<string> {
  building ??= build();
  return building;
}

async function build(): Promise<string> {
  const named = process.env["DREAMDB"];
  if (named) return named;
  const executable = join(projectRoot, "build/dreamdb");
  const child = spawn(process.execPath, ["scripts/build.ts", "build/dreamdb"], {
    cwd: projectRoot,
    stdio: "pipe",
  });
  child.stdin.end();
  const { exitCode, stdout, stderr } = await collect(child);
  if (exitCode !== 0) throw new Error(`the executable cannot be built:\n${stdout}${stderr}`);
  return executable;
}
