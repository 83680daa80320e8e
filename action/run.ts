/**
 * One run of the Action, from inputs to outputs.
 *
 * @module
 */

import { resolve } from "node:path";
import process from "node:process";
import { checkLength, globPrefix, matchGlob, parseBranchFile } from "../src/cli/branch-names.ts";
import { toFault } from "../src/cli/failure.ts";
import { DOCUMENT_VERSION, documentText } from "../src/cli/json.ts";
import { failedMergeDocument, mergeDocument } from "../src/cli/merge-document.ts";
import { mergeText } from "../src/cli/merge-text.ts";
import { redactor } from "../src/cli/redact.ts";
import { createStyle } from "../src/cli/style.ts";
import { usageError } from "../src/cli/values.ts";
import { DreamDBError } from "../src/errors.ts";
import { mergeMany } from "../src/merge/merge-many.ts";
import type { MergeReport } from "../src/merge/report.ts";
import type { MergeEnvironment } from "../src/merge/request.ts";
import type { Connector } from "../src/store/connector.ts";
import { openConnector } from "../src/store/open.ts";
import { annotationsOf } from "./annotations.ts";
import { hasCredentials, secretsIn } from "./credentials.ts";
import { readEvent } from "./event.ts";
import type { WorkflowEvent } from "./event.ts";
import type { Inputs } from "./inputs.ts";
import { readInputs } from "./inputs.ts";
import { interruption } from "./interruption.ts";
import type { Outputs } from "./outputs.ts";
import { failureOutputs, reportOutputs } from "./outputs.ts";
import type { Runner } from "./runner.ts";
import { failureSummary, headline, reportSummary } from "./summary.ts";

/** What a run needs besides its runner. */
export type Effects = Pick<
  MergeEnvironment,
  "now" | "random" | "pause" | "version" | "onProgress"
>;

/**
 * Runs the Action. It never throws: whatever happens is told to the runner.
 * @param signal stops the run, with a fault as its reason
 */
export async function runAction(
  runner: Runner,
  effects: Effects,
  signal: AbortSignal,
): Promise<void> {
  const { environment } = runner;
  for (const secret of secretsIn(environment, runner.input("backend"))) runner.mask(secret);
  const redact = redactor(environment);
  const event = await readEventOf(runner);
  const read = readInputs({
    input: (name) => runner.input(name),
    environment,
    pullRequest: event.pullRequest,
  });
  if (!read.ok) {
    const problems = read.problems.map(redact);
    await giveUp(runner, failureOutputs("usage"), "These inputs need another look", problems);
    return;
  }
  const { inputs } = read;
  const limit = new AbortController();
  const timer = inputs.timeout === undefined ? undefined : setTimeout(
    () => limit.abort(interruption("timeout", "out of time (the input timeout)")),
    inputs.timeout,
  );
  const stop = AbortSignal.any([signal, limit.signal]);
  try {
    checkAccess(runner, inputs, event);
    const { url, report } = await merge(runner, inputs, effects, stop);
    await tell(runner, inputs, url, report);
  } catch (thrown) {
    const error = toFault(thrown, stop);
    if (error.code === "internal" && thrown instanceof Error) runner.log(redact(`${thrown.stack}`));
    const title = `The merge into ${inputs.ref} failed: ${error.code}`;
    const { ref, dryRun } = inputs;
    const failed = failedMergeDocument({ backend: redact(inputs.backend), ref, dryRun }, error);
    const path = await writeReport(runner, inputs, failed).catch(() => "");
    await giveUp(runner, failureOutputs(error.code, path), title, [redact(error.message)]);
  } finally {
    clearTimeout(timer);
  }
}

async function readEventOf({ environment, readFile }: Runner): Promise<WorkflowEvent> {
  const path = environment["GITHUB_EVENT_PATH"];
  const payload = path ? await readFile(path).catch(() => "") : "";
  return readEvent(environment["GITHUB_EVENT_NAME"], payload);
}

/**
 * Says at once what would otherwise fail late: a store on the network and nothing to sign with.
 * @throws DreamDBError permission-denied when a pull request from a fork is to write
 */
function checkAccess(runner: Runner, inputs: Inputs, event: WorkflowEvent): void {
  if (inputs.backend.startsWith("file:") || inputs.profile !== undefined) return;
  if (hasCredentials(runner.environment)) return;
  if (event.fromFork && !inputs.dryRun) {
    throw new DreamDBError({
      code: "permission-denied",
      action: "merge",
      path: inputs.backend,
      found: "no credentials, since GitHub gives no secrets to pull requests from forks",
      expected: "credentials in the environment when refs are to be moved",
      next: "Use dry-run: auto, which only plans on pull requests, against a readable store.",
    });
  }
  runner.annotate({
    level: "notice",
    title: "no credentials",
    message: "The environment has no AWS credentials; requests may go out without a signature. " +
      "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or log in with OpenID Connect first.",
  });
}

async function merge(
  runner: Runner,
  inputs: Inputs,
  effects: Effects,
  signal: AbortSignal,
): Promise<{ readonly url: string; readonly report: MergeReport }> {
  const connector = await openConnector(inputs.backend, {
    environment: withoutEmpty(runner.environment),
    concurrency: inputs.concurrency,
    onWait: (message) => runner.log(message),
    ...inputs.endpoint === undefined ? {} : { endpoint: inputs.endpoint },
    ...inputs.region === undefined ? {} : { region: inputs.region },
    ...inputs.profile === undefined ? {} : { profile: inputs.profile },
    ...inputs.lockTimeout === undefined ? {} : { lockTimeout: inputs.lockTimeout },
  });
  try {
    const branches = await branchesOf(runner, inputs, connector, signal);
    runner.log(
      `${inputs.dryRun ? "planning to merge" : "merging"} ${branches.length} ` +
        `branch${branches.length === 1 ? "" : "es"} into ${inputs.ref} in ${connector.url}`,
    );
    const { ref, buckets, allowIdentical, picks, maxDepth, attempts, dryRun } = inputs;
    const report = await mergeMany(
      { ref, branches, buckets, allowIdentical, picks, maxDepth, attempts, dryRun },
      { ...effects, connector, concurrency: inputs.concurrency, signal },
    );
    return { url: connector.url, report };
  } finally {
    await connector.close();
  }
}

async function branchesOf(
  runner: Runner,
  inputs: Inputs,
  connector: Connector,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const names = [...inputs.branches];
  const { branchesFrom, branchGlob } = inputs;
  if (branchesFrom !== undefined) {
    const path = resolve(runner.environment["GITHUB_WORKSPACE"] || ".", branchesFrom);
    const text = await runner.readFile(path).catch((cause: unknown) => {
      throw usageError(
        `branches-from ${JSON.stringify(branchesFrom)}, which cannot be read: ${cause}`,
        "a file in the workspace",
        "Check out or write the file in an earlier step.",
      );
    });
    names.push(...parseBranchFile(branchesFrom, text));
  }
  if (branchGlob !== undefined) {
    const refs = await connector.listRefs(globPrefix(branchGlob), { signal });
    const found = matchGlob(branchGlob, refs).filter((name) => name !== inputs.ref);
    if (found.length === 0) {
      throw usageError(
        `branch-glob ${branchGlob}, which no ref of ${connector.url} matches`,
        "at least one ref",
        "Correct the pattern, or see the refs with `dreamdb branch list`.",
      );
    }
    names.push(...found);
  }
  checkLength(names.length);
  return names;
}

/** Writes the JSON document that `merge-many --json` would print; returns where. */
async function writeReport(
  runner: Runner,
  inputs: Inputs,
  document: Readonly<Record<string, unknown>>,
): Promise<string> {
  const { RUNNER_TEMP, GITHUB_WORKSPACE } = runner.environment;
  const path = inputs.reportFile === undefined
    ? resolve(RUNNER_TEMP || ".", `dreamdb-merge-${process.pid}.json`)
    : resolve(GITHUB_WORKSPACE || ".", inputs.reportFile);
  const envelope = { version: DOCUMENT_VERSION, command: "merge-many", ...document };
  await runner.writeFile(path, documentText(envelope));
  return path;
}

async function tell(
  runner: Runner,
  inputs: Inputs,
  url: string,
  report: MergeReport,
): Promise<void> {
  for (const line of mergeText(report, createStyle(false)).trimEnd().split("\n")) runner.log(line);
  for (const annotation of annotationsOf(report)) runner.annotate(annotation);
  const path = await writeReport(runner, inputs, mergeDocument(url, report)).catch((cause) => {
    // The merge is done; a report that cannot be written must not make it look undone.
    const message = `the report cannot be written: ${cause}`;
    runner.annotate({ level: "warning", title: "no report", message });
    return "";
  });
  setOutputs(runner, reportOutputs(report, path));
  if (inputs.summary) await runner.writeSummary(reportSummary(report));
  const failed = report.status === "refused"
    ? inputs.failOn !== "error"
    : inputs.failOn === "warning" && report.warnings.length > 0;
  if (!failed) return;
  runner.fail(
    report.status === "refused"
      ? `${headline(report)}. Nothing was written; the job summary has the evidence.`
      : `${headline(report)}, with warnings, and fail-on is warning.`,
  );
}

async function giveUp(
  runner: Runner,
  outputs: Outputs,
  title: string,
  problems: readonly string[],
): Promise<void> {
  setOutputs(runner, outputs);
  await runner.writeSummary(failureSummary(title, problems));
  runner.fail([title, ...problems].join("\n"));
}

function setOutputs(runner: Runner, outputs: Outputs): void {
  for (const [name, value] of Object.entries(outputs)) runner.setOutput(name, value);
}

function withoutEmpty(
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
}
