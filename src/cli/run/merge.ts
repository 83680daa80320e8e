/**
 * Runs `merge-many` and `merge`.
 *
 * @module
 */

import { setTimeout as wait } from "node:timers/promises";
import { DreamDBError } from "../../errors.ts";
import { mergeMany } from "../../merge/merge-many.ts";
import { DEFAULTS } from "../../merge/request.ts";
import { isReservedRefName } from "../../model/ref-name.ts";
import type { Connector } from "../../store/connector.ts";
import { withStatistics } from "../../store/statistics.ts";
import {
  checkLength,
  globPrefix,
  matchGlob,
  parseBranchFile,
  parseBranchList,
} from "../branch-names.ts";
import { EXIT, exitCodeOf } from "../exit-codes.ts";
import { toFault } from "../failure.ts";
import { failedMergeDocument, mergeDocument } from "../merge-document.ts";
import { checkMergedApart } from "../merge-options.ts";
import type { MergeOptions } from "../merge-options.ts";
import { mergeText } from "../merge-text.ts";
import { withStore } from "../open-store.ts";
import type { Outcome, RunContext } from "../outcome.ts";
import { createProgressView } from "../progress.ts";
import { abortable } from "../stop.ts";
import { usageError } from "../values.ts";
import { VERSION } from "../version.ts";

/** Merges as the command line asks. Failures become documents that tell what had been done. */
export async function runMerge(options: MergeOptions, context: RunContext): Promise<Outcome> {
  return await withStore(options, context, async (connector) => {
    const counted = withStatistics(connector);
    const progress = createProgressView(context, Date.now);
    try {
      const report = await mergeMany({
        ref: options.ref,
        branches: await branchNames(options, counted.connector, context),
        buckets: options.buckets,
        allowIdentical: options.allowIdentical,
        picks: options.picks,
        maxDepth: options.maxDepth,
        attempts: options.attempts,
        dryRun: options.dryRun,
      }, {
        connector: counted.connector,
        concurrency: options.concurrency ?? DEFAULTS.concurrency,
        now: () => BigInt(Date.now()) * 1_000_000n,
        random: Math.random,
        pause: async (milliseconds, signal) => await wait(milliseconds, undefined, { signal }),
        version: VERSION,
        signal: context.signal,
        onProgress: (now) => {
          context.movingRef(now.stage === "publish" ? options.ref : undefined);
          progress.show(now);
        },
      });
      progress.finish();
      return {
        exitCode: report.status === "refused" ? EXIT.refused : EXIT.done,
        document: mergeDocument(connector.url, report),
        text: mergeText(report, context.style),
      };
    } catch (error) {
      progress.finish();
      const fault = toFault(error, context.signal);
      return {
        exitCode: exitCodeOf(fault.fault),
        document: failedMergeDocument({
          backend: connector.url,
          ref: options.ref,
          dryRun: options.dryRun,
          statistics: counted.statistics,
        }, fault),
        text: "",
        error: fault,
      };
    }
  });
}

/** All branches in the order in which the command line names them. */
async function branchNames(
  options: MergeOptions,
  connector: Connector,
  context: RunContext,
): Promise<readonly string[]> {
  const names: string[] = [];
  for (const argument of options.branches) {
    switch (argument.form) {
      case "list":
        names.push(...parseBranchList(argument.flag, argument.text));
        break;
      case "file":
        names.push(...parseBranchFile(
          argument.path === "-" ? "standard input" : argument.path,
          await readNames(argument.path, context),
        ));
        break;
      case "glob":
        names.push(...await globNames(argument.pattern, options.ref, connector, context));
    }
    checkLength(names.length);
  }
  checkMergedApart(options.ref, names);
  if (options.single && names.length !== 1) {
    throw usageError(
      `${names.length} branches`,
      "one branch for merge",
      "Use merge-many for several branches.",
    );
  }
  for (const [modality, from] of options.picks) {
    if (from === options.ref || names.includes(from)) continue;
    throw usageError(
      `--pick ${modality}=${from}, which is none of the refs of this merge`,
      `${options.ref} or one of the branches`,
      "Name the ref whose value wins.",
    );
  }
  return names;
}

async function readNames(path: string, context: RunContext): Promise<string> {
  try {
    if (path !== "-") return await context.terminal.readFile(path);
    context.note("reading branch names from standard input");
    return await abortable(context.terminal.readInput(), context.signal);
  } catch (error) {
    context.signal.throwIfAborted();
    throw usageError(
      `--branches-from ${path}: ${error instanceof Error ? error.message : String(error)}`,
      "a text file that can be read",
      "Check the path.",
    );
  }
}

/** The refs that match, without the one that is merged into and without tags. */
async function globNames(
  pattern: string,
  ref: string,
  connector: Connector,
  context: RunContext,
): Promise<readonly string[]> {
  const listed = await connector.listRefs(globPrefix(pattern), { signal: context.signal });
  const names = matchGlob(
    pattern,
    listed.filter((name) => name !== ref && !isReservedRefName(name)),
  );
  if (names.length > 0) return names;
  throw new DreamDBError({
    code: "ref-missing",
    names: [pattern],
    found: `no ref that matches ${pattern} in ${connector.url}`,
    expected: "at least one",
    next: "See which refs there are with `dreamdb branch list`; nothing has been changed.",
  });
}
