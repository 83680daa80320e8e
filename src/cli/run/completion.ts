/**
 * Runs `completion` and answers the requests of the scripts it prints.
 *
 * @module
 */

import tab from "@bomb.sh/tab/commander";
import { EXIT } from "../exit-codes.ts";
import type { Outcome } from "../outcome.ts";
import { createProgram } from "../program.ts";

const NAME = "dreamdb";

/** Prints the script for a shell; the library writes to stdout itself. */
export function runCompletion(shell: string): Outcome {
  completions().setup(NAME, NAME, shell);
  return { exitCode: EXIT.done, document: { status: "ok", shell, error: null }, text: "" };
}

/** Prints the completions of a command line that is not yet complete. */
export function answerCompletion(argv: readonly string[]): void {
  completions().parse(argv[0] === "--" ? argv.slice(1) : [...argv]);
}

function completions() {
  const program = createProgram({ environment: {}, invoke: () => {} }, { completion: false });
  return tab(program, { completionCommandName: "completion" });
}
