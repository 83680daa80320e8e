/**
 * The commands and their options. Parsing gives an `Invocation`; the code that does the work is
 * loaded only when it runs, so that starting stays quick.
 *
 * @module
 */

import { Command } from "commander";
import type { BranchArgument } from "./branch-names.ts";
import { readCommon } from "./common-options.ts";
import type { Environment } from "./common-options.ts";
import { failedMergeDocument } from "./merge-document.ts";
import { addMergeOptions, readMerge } from "./merge-options.ts";
import type { Invocation } from "./outcome.ts";
import { COMMIT, VERSION } from "./version.ts";

/** What the definition of commands hands out. */
export interface ProgramEffects {
  readonly environment: Environment;
  /** Takes the command that was parsed. */
  invoke(invocation: Invocation): void;
}

/** The program with all of its commands. */
export function createProgram(effects: ProgramEffects): Command {
  // Commands copy these settings when they are made, so they come first.
  const program = new Command("dreamdb").exitOverride().configureOutput({ outputError: () => {} })
    .showSuggestionAfterError(true).helpCommand(false)
    .description("Merges N ingest branches of a DreamDB store into trunk in one atomic step.")
    .version(`dreamdb ${VERSION} (${COMMIT})`, "-V, --version", "print version and commit")
    .helpOption("-h, --help", "print help")
    .usage("COMMAND [options]");
  defineMerge(program, effects, false);
  defineMerge(program, effects, true);
  return program;
}

function defineMerge(program: Command, effects: ProgramEffects, single: boolean): void {
  const branches: BranchArgument[] = [];
  const name = single ? "merge" : "merge-many";
  const command = program.command(name)
    .description(
      single
        ? "Merge one branch into a ref."
        : "Merge any number of branches into a ref: one Manifest, one move of the ref.",
    )
    .argument(
      single ? "[branch]" : "[branches...]",
      single ? "the branch" : "branches: names, lists a,b,c or ranges 'ingest-w-{0..63}'",
    );
  addMergeOptions(command, branches, single ? MERGE_EXAMPLES : MERGE_MANY_EXAMPLES);
  command.action(() => {
    const values = command.opts();
    const options = readMerge(values, effects.environment, branches, command.args, single);
    effects.invoke({
      command: name,
      options: readCommon(values),
      failed: (error) =>
        failedMergeDocument({
          backend: null,
          ref: options.ref,
          dryRun: options.dryRun,
        }, error),
      run: async (context) => await (await import("./run/merge.ts")).runMerge(options, context),
    });
  });
}

const MERGE_MANY_EXAMPLES = [
  "dreamdb merge-many --backend file:///data/store --ref trunk --branches w0,w1,w2",
  "dreamdb merge-many -b s3://lake/clips --ref trunk --branches 'ingest-w-{0..63}'",
  "dreamdb merge-many -b s3://lake/clips --branch-glob 'ingest-w-*' --dry-run --json",
  "dreamdb merge-many -b http://minio:9000/lake --ref-name trunk w0 w1 w2",
];

const MERGE_EXAMPLES = [
  "dreamdb merge --backend file:///data/store --ref trunk w0",
  "dreamdb merge -b s3://lake/clips w0 --pick constant.license=w0",
];
