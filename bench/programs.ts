/**
 * The programs the bench runs: the reference's merge and ours, each as a whole process, and the two
 * Python processes that stay: one starts and measures the programs, one reads what they published.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { JsonLines } from "./json-lines.ts";

/** The project's root folder. */
export const projectRoot = join(import.meta.dirname, "..");

/** How the merge is done: by the reference, or by us in one of our two ways. */
export type Way = "reference" | "keep" | "fuse";

/** What one run of a program cost: seconds and bytes. */
export interface Cost {
  readonly wall: number;
  readonly cpu: number;
  readonly rss: number;
}

interface Ended extends Cost {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What the reference reads in a store. */
export interface Records {
  readonly records: number;
  readonly doubled: number;
  readonly digest: string;
  readonly problems: readonly string[];
}

/** What our program says of its work. */
export interface OwnReport {
  readonly written: { readonly objects: number; readonly bytes: number };
  readonly read: {
    readonly bytes: number;
    readonly requests: Readonly<Record<string, number>>;
  };
}

/** One run: its cost and, of our program, its report. */
export interface Run {
  readonly cost: Cost;
  readonly report: OwnReport | undefined;
}

/** Starts the programs. */
export class Programs {
  readonly #python: string;
  readonly #executable: string;
  readonly #measuring: JsonLines;
  readonly #reading: JsonLines;

  /** @param python a Python with the reference installed */
  constructor(python: string, executable: string) {
    this.#python = python;
    this.#executable = executable;
    this.#measuring = new JsonLines([python, script("measure.py")]);
    this.#reading = new JsonLines([python, script("records.py")]);
  }

  /** The command that merges the first `branches` branches of a store. */
  command(way: Way, folder: string, branches: number): readonly [string, ...string[]] {
    const backend = `file://${folder}`;
    if (way === "reference") return [this.#python, script("merge.py"), backend, `${branches}`];
    const names = Array.from({ length: branches }, (_, number) => `w${number}`);
    return [
      ...[this.#executable, "merge-many", "--backend", backend, "--ref", "trunk"] as const,
      ...["--branches", names.join(","), "--buckets", way, "--json"],
    ];
  }

  /** Runs and measures one merge. */
  async run(way: Way, folder: string, branches: number): Promise<Run> {
    const argv = this.command(way, folder, branches);
    const { wall, cpu, rss, ...ended } = await this.#measuring.ask({ argv }) as Ended;
    if (ended.exit !== 0) {
      throw new Error(
        `${way} of ${branches} branches in ${folder} ended with ${ended.exit}:\n` +
          `${ended.stdout}${ended.stderr}`,
      );
    }
    const report = way === "reference" ? undefined : JSON.parse(ended.stdout) as OwnReport;
    return { cost: { wall, cpu, rss }, report };
  }

  /** What the reference reads in trunk. */
  async records(folder: string): Promise<Records> {
    return await this.#reading.ask({ backend: `file://${folder}`, ref: "trunk" }) as Records;
  }

  /** Ends the two processes that stay. */
  close(): void {
    this.#measuring.close();
    this.#reading.close();
  }
}

/** Makes the stores that are not there yet and gives the folder of each, in the order asked for. */
export function makeStores(python: string, names: readonly string[]): readonly string[] {
  const { status, stdout } = spawnSync(
    python,
    [script("make.py"), join(projectRoot, "build/bench"), ...names],
    { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] },
  );
  if (status !== 0) throw new Error(`bench/make.py ended with ${status}`);
  return stdout.trim().split("\n").map((line) => {
    const { folder } = JSON.parse(line) as { readonly folder: string };
    return folder;
  });
}

/** Builds the executable unless it is there. */
export function buildMissing(executable: string): void {
  if (existsSync(executable)) return;
  const { status } = spawnSync(process.execPath, ["scripts/build.ts", executable], {
    cwd: projectRoot,
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (status !== 0) throw new Error(`${executable} could not be built`);
}

/** The first line a program prints. */
export function firstLine(program: string, ...args: readonly string[]): string {
  const { stdout } = spawnSync(program, args, { encoding: "utf8" });
  return (stdout ?? "").split("\n")[0]?.trim() || "unknown";
}

function script(name: string): string {
  return join(projectRoot, "bench", name);
}
