/**
 * The options of `merge-many` and `merge`: definition and reading. Everything here is pure.
 *
 * @module
 */

import { Command, Option } from "commander";
import { DEFAULTS } from "../merge/request.ts";
import type { BucketMode, MergeRequest } from "../merge/request.ts";
import { checkRefName } from "../model/ref-name.ts";
import type { BranchArgument } from "./branch-names.ts";
import { checkGlob, checkLength, parseBranchList } from "./branch-names.ts";
import {
  addCommonOptions,
  addRefOption,
  addStoreOptions,
  readRef,
  readStore,
} from "./common-options.ts";
import type { StoreOptions, Values } from "./common-options.ts";
import type { Environment } from "./values.ts";
import { parseCount, parsePick, usageError } from "./values.ts";

/** A merge as the command line asks for it; files and globs are not yet looked at. */
export interface MergeOptions extends StoreOptions, Omit<MergeRequest, "branches"> {
  readonly branches: readonly BranchArgument[];
  /** `merge` takes one branch only. */
  readonly single: boolean;
}

const MOST_DEPTH = 10_000_000;
const MOST_ATTEMPTS = 1_000;

/**
 * Adds the options to `command`. Branches are collected into `branches` in the order in which they
 * stand on the command line, whatever option names them.
 */
export function addMergeOptions(
  command: Command,
  branches: BranchArgument[],
  examples: readonly string[],
): Command {
  const list = (flag: string) => (text: string): string => {
    branches.push({ form: "list", flag, text });
    return text;
  };
  addStoreOptions(command, true);
  addRefOption(command, "the ref to merge into (default: trunk)");
  command
    .addOption(
      new Option("--branches <list>", "branches: a,b,c or ranges such as 'ingest-w-{0..63}'")
        .argParser(list("--branches")),
    )
    .addOption(
      new Option("--branch <name>", "a branch; may be repeated").argParser(list("--branch")),
    )
    .addOption(
      new Option("--branches-from <file>", "names from a file, one a line; - for standard input")
        .argParser((path) => {
          branches.push({ form: "file", path });
          return path;
        }),
    )
    .addOption(
      new Option("--branch-glob <glob>", "all branches whose names match, as in 'ingest-w-*'")
        .argParser((pattern) => {
          checkGlob(pattern);
          branches.push({ form: "glob", pattern });
          return pattern;
        }),
    )
    .option("-n, --dry-run", "plan and check everything, write nothing")
    .addOption(
      new Option(
        "--buckets <mode>",
        "cells that several sides changed: one new bucket, or buckets side by side",
      ).choices(["fuse", "keep"]).default(DEFAULTS.buckets),
    )
    .option("--allow-identical", "accept Items that several sides hold with equal bytes, once")
    .addOption(
      new Option("--pick <modality=ref>", "whose constant wins where they differ; may be repeated")
        .argParser((text: string, before: readonly (readonly [string, string])[] | undefined) => [
          ...before ?? [],
          parsePick(text),
        ]),
    )
    .addOption(
      new Option("--max-depth <n>", "steps from a tip to the merge base")
        .argParser((text) => parseCount("--max-depth", text, 1, MOST_DEPTH))
        .default(DEFAULTS.maxDepth),
    )
    .addOption(
      new Option("--attempts <n>", "how often to try when the ref moves meanwhile")
        .argParser((text) => parseCount("--attempts", text, 1, MOST_ATTEMPTS))
        .default(DEFAULTS.attempts),
    );
  return addCommonOptions(command, examples);
}

/**
 * Reads what `addMergeOptions` defined. All names that stand on the command line are checked here,
 * before any store is opened.
 *
 * @param named branches from options, in their order
 * @param positional branches without an option
 * @throws DreamDBError usage, invalid-ref-name
 */
export function readMerge(
  values: Values,
  environment: Environment,
  named: readonly BranchArgument[],
  positional: readonly string[],
  single: boolean,
): MergeOptions {
  const store = readStore(values, environment);
  const ref = readRef(values, environment);
  checkRefName(ref);
  const branches = [
    ...named,
    ...positional.map((text): BranchArgument => ({ form: "list", flag: "branch", text })),
  ];
  if (branches.length === 0) {
    throw usageError(
      "no branch to merge",
      single ? "the name of one branch" : "at least one branch",
      single
        ? "Name it: dreamdb merge --ref trunk BRANCH."
        : "Name the branches with --branches, --branch, --branches-from or --branch-glob, or " +
          "just write their names.",
    );
  }
  const inputs = branches.filter((argument) => argument.form === "file" && argument.path === "-");
  if (inputs.length > 1) {
    throw usageError(
      "--branches-from - more than once",
      "standard input to be read once",
      "Leave one of them out.",
    );
  }
  const names = branches.flatMap((argument) =>
    argument.form === "list" ? parseBranchList(argument.flag, argument.text) : []
  );
  checkLength(names.length);
  checkMergedApart(ref, names);
  const picks = (values["pick"] ?? []) as readonly (readonly [string, string])[];
  for (const [, from] of picks) checkRefName(from);
  return {
    ...store,
    ref,
    branches,
    buckets: values["buckets"] as BucketMode,
    allowIdentical: values["allowIdentical"] === true,
    picks: new Map(picks),
    maxDepth: values["maxDepth"] as number,
    attempts: values["attempts"] as number,
    dryRun: values["dryRun"] === true,
    single,
  };
}

/** @throws DreamDBError usage when a ref is to be merged into itself */
export function checkMergedApart(ref: string, branches: readonly string[]): void {
  if (!branches.includes(ref)) return;
  throw usageError(
    `${ref} both as the ref to merge into and as a branch`,
    "branches other than the ref they are merged into",
    `Take ${ref} out of the branches.`,
  );
}
