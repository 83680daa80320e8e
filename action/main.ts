/**
 * The GitHub Action: what `dreamdb merge-many` does, as a step of a workflow.
 *
 * @module
 */

import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { VERSION } from "../src/cli/version.ts";
import { interruption } from "./interruption.ts";
import { progressLog } from "./progress.ts";
import { runAction } from "./run.ts";
import { githubRunner } from "./runner.ts";

const runner = githubRunner();
const stop = new AbortController();

// The runner cancels a step with SIGINT and, 7.5 seconds later, with SIGTERM.
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => stop.abort(interruption(signal, `stopped by ${signal}`)));
}
// Machines of GitHub have no role of ours to ask for; asking only delays what fails anyway.
if (process.env["RUNNER_ENVIRONMENT"] === "github-hosted") {
  process.env["AWS_EC2_METADATA_DISABLED"] ??= "true";
}

await runAction(
  runner,
  {
    now: () => BigInt(Date.now()) * 1_000_000n,
    random: Math.random,
    pause: (milliseconds, signal) =>
      delay(milliseconds, undefined, signal === undefined ? {} : { signal }),
    version: VERSION,
    onProgress: progressLog(runner.log, () => performance.now()),
  },
  stop.signal,
);
