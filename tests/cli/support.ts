import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runCommandLine } from "../../src/cli/run-command-line.ts";
import type { StopSignal, Terminal } from "../../src/cli/terminal.ts";
import { projectRoot, unpackFixture } from "../support/fixtures.ts";

/** A store in which trunk, w0 and w1 all moved on from one Manifest. */
export function unmergedStore(): string {
  return join(unpackFixture("legacy-stores"), "0.0.16/full-unmerged");
}

/** A store that a merge must refuse. */
export function refusedStore(name: string): string {
  return join(unpackFixture("refusals"), name);
}

/** The schema of merge documents. */
export function mergeSchema(): object {
  return JSON.parse(readFileSync(join(projectRoot, "docs/merge-report.schema.json"), "utf8"));
}

/** How one command line ended. */
export interface Run {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What a test can change of the terminal. */
export interface TerminalOptions {
  readonly environment?: Terminal["environment"];
  readonly input?: string;
  readonly errIsTerminal?: boolean;
  readonly outIsTerminal?: boolean;
  /** Called for everything written to stderr, with a way to send a signal. */
  readonly onError?: (text: string, send: (signal: StopSignal) => void) => void;
}

/** Runs a command line in this process. */
export async function run(argv: readonly string[], options: TerminalOptions = {}): Promise<Run> {
  const out: string[] = [];
  const err: string[] = [];
  let handler: ((signal: StopSignal) => void) | undefined;
  const exitCode = await runCommandLine(argv, {
    environment: options.environment ?? {},
    outIsTerminal: options.outIsTerminal ?? false,
    errIsTerminal: options.errIsTerminal ?? false,
    columns: 80,
    out: (text) => void out.push(text),
    err(text) {
      err.push(text);
      options.onError?.(text, (signal) => handler?.(signal));
    },
    readInput: () => Promise.resolve(options.input ?? ""),
    readFile: (path) => Promise.resolve(readFileSync(path, "utf8")),
    onSignal(listener) {
      handler = listener;
      return () => handler = undefined;
    },
    abandon: () => {},
  });
  return { exitCode, stdout: out.join(""), stderr: err.join("") };
}

/** Runs a command line with `--json` and reads its one document. */
export async function runJson(
  argv: readonly string[],
  options: TerminalOptions = {},
): Promise<Run & { readonly document: Record<string, unknown> }> {
  const result = await run([...argv, "--json"], options);
  return { ...result, document: JSON.parse(result.stdout) as Record<string, unknown> };
}
