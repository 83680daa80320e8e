/**
 * The commands and their options. Parsing gives an `Invocation`; the code that does the work is
 * loaded only when it runs, so that starting stays quick.
 *
 * @module
 */

import { Command } from "commander";
import { defineBranchCommands } from "./commands/branch.ts";
import { defineMergeCommands } from "./commands/merge.ts";
import { defineReadCommands } from "./commands/read.ts";
import { defineCompletionCommand, defineStoreCommands } from "./commands/store.ts";
import { EXIT_CODE_HELP } from "./exit-codes.ts";
import type { ProgramEffects } from "./outcome.ts";
import { COMMIT, VERSION } from "./version.ts";

/** The program with all of its commands; `completion` may be left out for others to define. */
export function createProgram(
  effects: ProgramEffects,
  parts: { readonly completion: boolean } = { completion: true },
): Command {
  // Commands copy these settings when they are made, so they come first.
  const program = new Command("dreamdb")
    .exitOverride()
    .showSuggestionAfterError(true)
    .helpCommand(false)
    .helpOption("-h, --help", "print help")
    .configureHelp({ helpWidth: HELP_WIDTH })
    .description("Merges N ingest branches of a DreamDB store into trunk in one atomic step.")
    .version(`dreamdb ${VERSION} (${COMMIT})`, "-V, --version", "print version and commit")
    .addHelpText("after", `\n${QUICK_START}\n\n${EXIT_CODE_HELP}`);
  defineMergeCommands(program, effects);
  defineReadCommands(program, effects);
  defineBranchCommands(program, effects);
  defineStoreCommands(program, effects);
  if (parts.completion) defineCompletionCommand(program, effects);
  return program;
}

const HELP_WIDTH = 80;

const QUICK_START = `Examples:
  dreamdb merge-many --backend file:///data/store --ref trunk --branches w0,w1
  dreamdb merge-many -b s3://lake/clips --branches 'ingest-w-{0..63}' --json
  dreamdb log --backend s3://lake/clips trunk
  dreamdb COMMAND --help

Every command that works on a store takes --json; results go to stdout, messages
and progress to stderr. DREAMDB_BACKEND and DREAMDB_REF stand in for --backend
and --ref.`;
