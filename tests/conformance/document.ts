import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { dreamdbEnvironment } from "../support/dreamdb.ts";
import { projectRoot } from "../support/fixtures.ts";
import { collect } from "../support/reference.ts";

/** One refusal as the command prints it. */
export interface ReportedRefusal {
  readonly code: string;
  readonly message: string;
  readonly next: string;
  readonly sides: readonly string[];
  readonly field?: string;
  readonly modality?: string;
  readonly cells?: readonly string[];
  readonly values?: readonly string[];
  /** Decimal text: anchors are beyond 2^53. */
  readonly anchors?: readonly string[];
  readonly anchorCount?: number;
  readonly addresses?: readonly string[];
}

/** The document that `merge-many --json` prints. */
export interface MergeDocument {
  readonly version: number;
  readonly command: string;
  readonly status: string;
  readonly dryRun: boolean;
  readonly trunk: { readonly before: string | null; readonly after: string | null } | null;
  readonly manifest: string | null;
  readonly parents: readonly string[];
  readonly mergeBase: readonly string[];
  readonly branches: readonly { readonly name: string; readonly state: string }[];
  readonly fields: readonly {
    readonly field: string;
    readonly entriesAfter: number | string;
    readonly action: string;
  }[];
  readonly refusals: readonly ReportedRefusal[];
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
  readonly written: { readonly objects: number; readonly bytes: number };
  readonly error:
    | {
      readonly code: string;
      readonly message: string;
      readonly names?: readonly string[];
    }
    | null;
}

/** A finished run. */
export interface Run {
  readonly exit: number;
  /** Undefined when stdout held no single JSON document. */
  readonly document: MergeDocument | undefined;
  readonly output: string;
}

/**
 * The command under test, as program and first arguments: what `DREAMDB` says (a path, or words),
 * else the built executable, else this source tree.
 */
export function commandUnderTest(): readonly string[] {
  const named = process.env["DREAMDB"];
  if (named) return existsSync(named) ? [named] : named.split(/\s+/).filter((word) => word !== "");
  const built = join(projectRoot, "build/dreamdb");
  return existsSync(built) ? [built] : [process.execPath, join(projectRoot, "src/cli/main.ts")];
}

/** Merges and reads the document. */
export async function runMerge(
  command: readonly string[],
  backend: string,
  environment: Readonly<Record<string, string>>,
  trunk: string,
  branches: readonly string[],
  flags: readonly string[],
): Promise<Run> {
  const [program = "", ...first] = command;
  const list = branches.length === 0 ? [] : ["--branches", branches.join(",")];
  const child = spawn(
    program,
    [
      ...first,
      "merge-many",
      "--backend",
      backend,
      "--ref",
      trunk,
      ...list,
      "--json",
      ...flags,
    ],
    { env: { ...dreamdbEnvironment(), ...environment }, stdio: "pipe" },
  );
  child.stdin.end();
  const { exitCode, stdout, stderr } = await collect(child);
  const output = `stdout ${stdout.slice(0, 2000)}\nstderr ${stderr.slice(0, 2000)}`;
  try {
    return { exit: exitCode, document: JSON.parse(stdout) as MergeDocument, output };
  } catch {
    return { exit: exitCode, document: undefined, output };
  }
}
