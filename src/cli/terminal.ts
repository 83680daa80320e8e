/**
 * The process as the command line sees it. Tests put their own in its place.
 *
 * @module
 */

import { readFile } from "node:fs/promises";
import process from "node:process";

/** Signals that stop a run. */
export type StopSignal = "SIGINT" | "SIGTERM";

/** Everything the command line takes from, and gives to, its process. */
export interface Terminal {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether stdout and stderr are seen by a person. */
  readonly outIsTerminal: boolean;
  readonly errIsTerminal: boolean;
  /** Width in characters. */
  readonly columns: number;
  out(text: string): void;
  err(text: string): void;
  /** All of standard input as text. */
  readInput(): Promise<string>;
  readFile(path: string): Promise<string>;
  /** Calls `handler` for every stop signal; the result ends that. */
  onSignal(handler: (signal: StopSignal) => void): () => void;
  /** Ends the process at once. */
  abandon(exitCode: number): void;
}

/** The real process. */
export function processTerminal(): Terminal {
  // A reader that went away (`| head`) must not change how a merge ends.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  return {
    environment: process.env,
    outIsTerminal: process.stdout.isTTY === true,
    errIsTerminal: process.stderr.isTTY === true,
    columns: process.stderr.columns ?? process.stdout.columns ?? 80,
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    async readInput() {
      const chunks: Uint8Array[] = [];
      for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
      return Buffer.concat(chunks).toString("utf8");
    },
    readFile: (path) => readFile(path, "utf8"),
    onSignal(handler) {
      const signals: readonly StopSignal[] = ["SIGINT", "SIGTERM"];
      const listeners = signals.map((signal) => [signal, () => handler(signal)] as const);
      for (const [signal, listener] of listeners) process.on(signal, listener);
      return () => {
        for (const [signal, listener] of listeners) process.off(signal, listener);
      };
    },
    abandon: (exitCode) => process.exit(exitCode),
  };
}

/** Ends the process once everything written has left it. */
export async function endProcess(exitCode: number): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    await new Promise<void>((resolve) => {
      if (stream.destroyed) resolve();
      else stream.write("", () => resolve());
    });
  }
  process.exit(exitCode);
}
