/**
 * Defines the commands that only read: `log`, `show`, `diff`, `verify`.
 *
 * @module
 */

import type { Command } from "commander";
import { Option } from "commander";
import { addCommonOptions, addRefOption, addStoreOptions, readRef } from "../common-options.ts";
import type { ProgramEffects } from "../outcome.ts";
import { parseCount, parseSample } from "../values.ts";
import { act } from "./act.ts";

const MOST_LINES = 1_000_000;
const DEFAULT_LINES = 20;

/** Adds the commands. */
export function defineReadCommands(program: Command, effects: ProgramEffects): void {
  defineLog(program, effects);
  defineShow(program, effects);
  defineDiff(program, effects);
  defineVerify(program, effects);
}

function defineLog(program: Command, effects: ProgramEffects): void {
  const command = program.command("log")
    .description("List the Manifests behind a ref, newest first, over all parents.")
    .argument("[start]", "a ref or an address (default: $DREAMDB_REF, then trunk)")
    .addOption(
      new Option("-n, --count <n>", "how many at most")
        .argParser((text) => parseCount("-n", text, 1, MOST_LINES)).default(DEFAULT_LINES),
    )
    .option("--graph", "draw the lines of history; M is a merge");
  addStoreOptions(command, false);
  addCommonOptions(command, [
    "dreamdb log --backend file:///data/store",
    "dreamdb log -b s3://lake/clips ingest-w-3 -n 5 --graph",
  ]);
  act("log", command, effects, (values, start: string | undefined) => ({
    start: start ?? readRef(values, effects.environment),
    count: values["count"] as number,
    graph: values["graph"] === true,
  }), async (options, context) => await (await import("../run/log.ts")).runLog(options, context));
}

function defineShow(program: Command, effects: ProgramEffects): void {
  const command = program.command("show")
    .description("Show any object as JSON: a ref's Manifest, an address, or a path.")
    .argument("[what]", "a ref, an address or a path (default: $DREAMDB_REF, then trunk)");
  addStoreOptions(command, false);
  addRefOption(command, "the ref whose fields tell where an address may lie (default: trunk)");
  addCommonOptions(command, [
    "dreamdb show --backend file:///data/store trunk",
    "dreamdb show -b s3://lake/clips d3m7yab7yclf45ey4pbhuhl6f37beqiwyruvvytit7uhryijd5arq",
    "dreamdb show -b s3://lake/clips refs/ingest-w-3",
  ]);
  act("show", command, effects, (values, what: string | undefined) => {
    const ref = readRef(values, effects.environment);
    return { what: what ?? ref, ref };
  }, async (options, context) => await (await import("../run/show.ts")).runShow(options, context));
}

function defineDiff(program: Command, effects: ProgramEffects): void {
  const command = program.command("diff")
    .description("Compare two states: index entries added and removed per field, registry.")
    .argument("<from>", "a ref or an address")
    .argument("<to>", "a ref or an address");
  addStoreOptions(command, false);
  addCommonOptions(command, [
    "dreamdb diff --backend file:///data/store trunk ingest-w-3",
  ]);
  act(
    "diff",
    command,
    effects,
    (_values, from: string, to: string) => ({ from, to }),
    async (options, context) => await (await import("../run/diff.ts")).runDiff(options, context),
  );
}

function defineVerify(program: Command, effects: ProgramEffects): void {
  const command = program.command("verify")
    .description("Check everything a ref reaches: existence, hashes, form, and that it agrees.")
    .argument("[start]", "a ref or an address (default: $DREAMDB_REF, then trunk)")
    .option("--data", "also read payload: hashes, anchors against the index, Bao outboards")
    .addOption(
      new Option("--sample <n/t>", "as --data, but only part n of t of the payload, as in 1/10")
        .argParser(parseSample),
    )
    .option("--history", "also everything that older Manifests reach");
  addStoreOptions(command, false);
  addCommonOptions(command, [
    "dreamdb verify --backend file:///data/store",
    "dreamdb verify -b s3://lake/clips trunk --data --json",
    "dreamdb verify -b s3://lake/clips trunk --sample 3/30    # another part every day",
  ]);
  act(
    "verify",
    command,
    effects,
    (values, start: string | undefined) => ({
      start: start ?? readRef(values, effects.environment),
      data: values["data"] === true,
      sample: values["sample"] as ReturnType<typeof parseSample> | undefined,
      history: values["history"] === true,
    }),
    async (options, context) =>
      await (await import("../run/verify.ts")).runVerify(options, context),
  );
}
