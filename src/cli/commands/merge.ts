/**
 * Defines `merge-many` and `merge`.
 *
 * @module
 */

import type { Command } from "commander";
import type { BranchArgument } from "../branch-names.ts";
import { readCommon } from "../common-options.ts";
import { failedMergeDocument } from "../merge-document.ts";
import { addMergeOptions, readMerge } from "../merge-options.ts";
import type { ProgramEffects } from "../outcome.ts";

const MERGE_MANY_EXAMPLES = [
  "dreamdb merge-many --backend file:///data/store --ref trunk --branches w0,w1",
  "dreamdb merge-many -b s3://lake/clips --branches 'ingest-w-{0..63}'",
  "dreamdb merge-many -b s3://lake/clips --branch-glob 'ingest-w-*' --dry-run",
  "dreamdb merge-many -b http://minio:9000/lake --ref-name trunk w0 w1 w2",
];

const MERGE_EXAMPLES = [
  "dreamdb merge --backend file:///data/store --ref trunk w0",
  "dreamdb merge -b s3://lake/clips w0 --pick license.spdx=w0",
];

/** Adds both commands. */
export function defineMergeCommands(program: Command, effects: ProgramEffects): void {
  defineMerge(program, effects, false);
  defineMerge(program, effects, true);
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
    const { ref, dryRun } = options;
    effects.invoke({
      command: name,
      options: readCommon(values),
      failed: (error) => failedMergeDocument({ backend: null, ref, dryRun }, error),
      run: async (context) => await (await import("../run/merge.ts")).runMerge(options, context),
    });
  });
}
