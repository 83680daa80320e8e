import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { projectRoot } from "./fixtures.ts";

/** The release of the published reference that judges the tests. */
export const referenceRelease = "0.0.16";

/** Why the reference cannot be used on this machine, or undefined when it can. */
export const referenceMissing: string | undefined = findMissing();

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** What `oracle.py dump` and `oracle.py union` tell; anchors are decimal text. */
export interface Dump {
  readonly count: number;
  readonly anchors: readonly string[];
  readonly records: { readonly [anchor: string]: { readonly [field: string]: Json } };
  readonly doubled: readonly string[];
}

interface OracleResults {
  readonly refs: readonly string[];
  readonly history: readonly { readonly writer: string; readonly parents: number }[];
  readonly summary: { readonly count: number; readonly anchors: readonly string[] };
  readonly dump: Dump;
  readonly union: Dump;
  readonly check: readonly string[];
  readonly distinct: readonly (readonly [Json, number])[];
  readonly query: readonly string[];
  readonly vectors: {
    readonly searched: number;
    readonly missing: readonly string[];
    readonly repeated: readonly string[];
    readonly foreign: readonly string[];
  };
  readonly constant: Json;
  readonly append: number;
  readonly delete: string;
  readonly compact: { readonly manifest: string };
  readonly branch: string;
  readonly merge: string;
}

type Oracle = <Command extends keyof OracleResults>(
  command: Command,
  ...args: readonly unknown[]
) => Promise<OracleResults[Command]>;

/** How one run of a program ended. */
export interface ProgramResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

/**
 * Runs a Python script (a path from the project's root) with the reference installed and waits for
 * its end. `release` takes another release of the reference than 0.0.16.
 */
export async function runPython(
  script: string,
  args: readonly string[],
  options: { readonly input?: string; readonly release?: string } = {},
): Promise<ProgramResult> {
  const child = await startPython(script, args, options.release);
  const result = collect(child);
  child.stdin.end(options.input ?? "");
  return await result;
}

/** Starts a Python script with the reference installed; the caller ends it. */
export async function startPython(
  script: string,
  args: readonly string[],
  release: string = referenceRelease,
): Promise<ChildProcessWithoutNullStreams> {
  const python = await referencePython();
  const env = release === referenceRelease
    ? process.env
    : { ...process.env, PYTHONPATH: await releaseFolder(release) };
  return spawn(python, [join(projectRoot, script), ...args], { env, stdio: "pipe" });
}

/**
 * Asks `tests/reference/oracle.py` one question; its commands are described there. One Python
 * process answers all questions of a test run.
 */
export const oracle: Oracle = oracleOf(referenceRelease);

/** `oracle` for another release of the reference. */
export function oracleOf(release: string): Oracle {
  let starting: Promise<OracleProcess> | undefined;
  const ask = async (command: string, ...args: readonly unknown[]): Promise<unknown> => {
    starting ??= OracleProcess.start(release);
    return await (await starting).ask(command, args);
  };
  return ask as Oracle;
}

/** Waits for the end of a program and gives all it wrote. */
export async function collect(child: ChildProcessWithoutNullStreams): Promise<ProgramResult> {
  const stdout: Uint8Array[] = [];
  const stderr: Uint8Array[] = [];
  child.stdout.on("data", (bytes: Uint8Array) => stdout.push(bytes));
  child.stderr.on("data", (bytes: Uint8Array) => stderr.push(bytes));
  return await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) =>
      resolve({
        stdout: Buffer.concat(stdout).toString(),
        stderr: Buffer.concat(stderr).toString(),
        exitCode: code ?? -1,
      }));
  });
}

let pythonReady: Promise<string> | undefined;

/** The Python of the reference's virtual environment, which is made when it is not there yet. */
export function referencePython(): Promise<string> {
  pythonReady ??= pythonEnvironment(
    `reference-${referenceRelease}`,
    [`dreamdb==${referenceRelease}`],
    "import dreamdb",
  );
  return pythonReady;
}

const cache = join(projectRoot, ".cache/python");

/**
 * The Python of the virtual environment `name` below .cache/python with these packages (arguments
 * of pip). It is made anew when the statement `probe` fails in it.
 */
export async function pythonEnvironment(
  name: string,
  packages: readonly string[],
  probe: string,
): Promise<string> {
  if (referenceMissing !== undefined) throw new Error(referenceMissing);
  const folder = join(cache, name);
  const python = join(folder, "bin/python");
  if (spawnSync(python, ["-c", probe]).status === 0) return python;
  rmSync(folder, { recursive: true, force: true });
  await madeOnce(folder, async (partial) => {
    await mustRun("python3", ["-m", "venv", partial]);
    await pip(join(partial, "bin/python"), packages);
  });
  return python;
}

const releasesReady = new Map<string, Promise<string>>();

function releaseFolder(release: string): Promise<string> {
  const ready = releasesReady.get(release) ?? prepareRelease(release);
  releasesReady.set(release, ready);
  return ready;
}

async function prepareRelease(release: string): Promise<string> {
  const folder = join(cache, `release-${release}`);
  if (existsSync(folder)) return folder;
  const python = await referencePython();
  await madeOnce(
    folder,
    (partial) => pip(python, ["--no-deps", "--target", partial, `dreamdb==${release}`]),
  );
  return folder;
}

/**
 * Lets `make` fill a folder beside `folder` and moves it there when it is complete. Of several
 * processes that do so at once the first one wins, and none ever sees a half-made folder.
 */
async function madeOnce(folder: string, make: (partial: string) => Promise<void>): Promise<void> {
  mkdirSync(cache, { recursive: true });
  const partial = mkdtempSync(`${folder}.partial-`);
  try {
    await make(partial);
    renameSync(partial, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

async function pip(python: string, wanted: readonly string[]): Promise<void> {
  await mustRun(python, [
    ...["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"],
    ...wanted,
  ]);
}

async function mustRun(program: string, args: readonly string[]): Promise<void> {
  const child = spawn(program, args, { stdio: "pipe" });
  child.stdin.end();
  const { exitCode, stdout, stderr } = await collect(child);
  if (exitCode !== 0) {
    throw new Error(`${program} ${args.join(" ")} ended with ${exitCode}:\n${stdout}${stderr}`);
  }
}

function findMissing(): string | undefined {
  const found = spawnSync("python3", [
    "-c",
    "import sys, venv, ensurepip; sys.exit(0 if sys.version_info >= (3, 8) else 9)",
  ]);
  if (found.error !== undefined) {
    return "python3 was not found; install Python 3.8 or newer to compare with the reference";
  }
  if (found.status === 9) return "python3 is older than 3.8, which the reference needs";
  if (found.status !== 0) {
    return "python3 has no venv module; install it (on Debian: apt-get install python3-venv)";
  }
  return undefined;
}

class OracleProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #lastId = 0;
  #stderr = "";
  #ended = false;

  private constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
    child.stderr.on("data", (bytes: Uint8Array) => this.#stderr += Buffer.from(bytes).toString());
    createInterface({ input: child.stdout }).on("line", (line) => {
      const answer: Answer & { readonly id: number } = JSON.parse(line);
      this.#waiting.get(answer.id)?.(answer);
      this.#waiting.delete(answer.id);
    });
    child.on("close", (code) => {
      this.#ended = true;
      const error = `the oracle ended with ${code}: ${this.#stderr}`;
      for (const settle of this.#waiting.values()) settle({ error });
      this.#waiting.clear();
    });
    process.on("exit", () => child.kill());
  }

  static async start(release: string): Promise<OracleProcess> {
    return new OracleProcess(await startPython("tests/reference/oracle.py", ["serve"], release));
  }

  async ask(command: string, args: readonly unknown[]): Promise<unknown> {
    if (this.#ended) throw new Error(`the oracle has ended: ${this.#stderr}`);
    const id = ++this.#lastId;
    const answer = await new Promise<Answer>((settle) => {
      this.#waiting.set(id, settle);
      this.#child.stdin.write(`${JSON.stringify({ id, command, arguments: args })}\n`);
    });
    if (answer.error !== undefined) throw new Error(`oracle ${command}: ${answer.error}`);
    return answer.result;
  }
}

interface Answer {
  readonly result?: unknown;
  readonly error?: string;
}
