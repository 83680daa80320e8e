/**
 * Options that several commands share, and how they are read. Everything here is pure.
 *
 * @module
 */

import { Command, Option } from "commander";
import { EXIT_CODE_HELP } from "./exit-codes.ts";
import type { CommonOptions, ProgressMode } from "./outcome.ts";
import type { ColorMode } from "./style.ts";
import type { Environment } from "./values.ts";
import { checkExpanded, parseCount, parseDuration, setting, usageError } from "./values.ts";

/** Values as the parser of options gives them. */
export type Values = Readonly<Record<string, unknown>>;

/** How a command reaches its store. */
export interface StoreOptions {
  readonly backend: string;
  readonly concurrency: number | undefined;
  /** Milliseconds to wait for the lock of a ref. */
  readonly lockTimeout: number | undefined;
  readonly unsafeNoLock: boolean;
  /** Of an object store; before what the AWS variables say. */
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
  readonly profile: string | undefined;
}

/** The ref a command is about when nothing names one. */
const DEFAULT_REF = "trunk";

const MOST_CONCURRENCY = 4096;

/** Adds what every command takes, with examples, exit codes and variables below the help. */
export function addCommonOptions(command: Command, examples: readonly string[]): Command {
  return command
    .option("--json", "print exactly one JSON document, also on failure")
    .option("-q, --quiet", "no messages and no progress on stderr, only errors")
    .addOption(
      new Option("--progress <mode>", "progress on stderr; auto: only where a person sees it")
        .choices(["auto", "plain", "json", "none"]).default("auto"),
    )
    .addOption(
      new Option("--color <mode>", "colour").choices(["auto", "always", "never"]).default("auto"),
    )
    .addOption(
      new Option("--timeout <time>", "stop after this time: seconds, or 90s, 10m, 2h")
        .argParser((text) => parseDuration("--timeout", text)),
    )
    .option("--debug", "show where an internal error came from")
    .addHelpText(
      "after",
      `\nExamples:\n${examples.map((line) => `  ${line}`).join("\n")}\n\n${EXIT_CODE_HELP}\n\n` +
        ENVIRONMENT_HELP,
    );
}

const ENVIRONMENT_HELP = `Environment (a flag wins over a variable, a variable over the default):
  DREAMDB_BACKEND     backend URL
  DREAMDB_REF         the ref to merge into or to read (default: ${DEFAULT_REF})
  AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_PROFILE,
  AWS_REGION, AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL and the other AWS names
                      access to s3:// and http(s):// backends
  NO_COLOR, FORCE_COLOR, CLICOLOR
                      colour`;

/** Adds the options by which a command finds its store. */
export function addStoreOptions(command: Command, writes: boolean): Command {
  command
    .option(
      "-b, --backend <url>",
      "file:///FOLDER, s3://BUCKET[/PREFIX] or http(s)://HOST/BUCKET[/PREFIX]",
    )
    .addOption(
      new Option("--concurrency <n>", "objects read or written at once (default: 64)")
        .argParser((text) => parseCount("--concurrency", text, 1, MOST_CONCURRENCY)),
    )
    .option("--endpoint <url>", "endpoint of an S3 store (before AWS_ENDPOINT_URL_S3)")
    .option("--region <name>", "region of an S3 store (before AWS_REGION)")
    .option("--profile <name>", "profile of the shared AWS configuration");
  if (!writes) return command;
  return command
    .addOption(
      new Option("--lock-timeout <time>", "how long to wait for the lock of a ref (default: 60s)")
        .argParser((text) => parseDuration("--lock-timeout", text)),
    )
    .option(
      "--unsafe-no-lock",
      "move refs of a file store without a lock where none can be taken",
    );
}

/** Adds `--ref` and its other name. */
export function addRefOption(command: Command, description: string): Command {
  return command
    .option("-r, --ref <name>", description)
    .addOption(new Option("--ref-name <name>", "the same as --ref"));
}

/** Reads the options of `addCommonOptions`. */
export function readCommon(values: Values): CommonOptions {
  return {
    json: values["json"] === true,
    quiet: values["quiet"] === true,
    debug: values["debug"] === true,
    color: values["color"] as ColorMode,
    progress: values["progress"] as ProgressMode,
    timeout: values["timeout"] as number | undefined,
  };
}

/**
 * Reads the options of `addStoreOptions`.
 * @throws DreamDBError usage
 */
export function readStore(values: Values, environment: Environment): StoreOptions {
  const backend = setting(
    values["backend"] as string | undefined,
    environment["DREAMDB_BACKEND"],
    undefined,
  );
  if (backend === undefined || backend === "") {
    throw usageError(
      backend === undefined ? "no backend" : "an empty --backend",
      "the URL of a store",
      "Give --backend URL, as in --backend file:///data/store, or set DREAMDB_BACKEND.",
    );
  }
  checkExpanded("the backend", backend);
  return {
    backend,
    concurrency: values["concurrency"] as number | undefined,
    lockTimeout: values["lockTimeout"] as number | undefined,
    unsafeNoLock: values["unsafeNoLock"] === true,
    endpoint: values["endpoint"] as string | undefined,
    region: values["region"] as string | undefined,
    profile: values["profile"] as string | undefined,
  };
}

/**
 * The ref that `--ref`, `--ref-name`, DREAMDB_REF or the default names.
 * @throws DreamDBError usage
 */
export function readRef(values: Values, environment: Environment): string {
  const first = values["ref"] as string | undefined;
  const second = values["refName"] as string | undefined;
  if (first !== undefined && second !== undefined && first !== second) {
    throw usageError(
      `--ref ${first} and --ref-name ${second}`,
      "one ref",
      "Give one of both; they mean the same.",
    );
  }
  const ref = setting(first ?? second, environment["DREAMDB_REF"], DEFAULT_REF) ?? DEFAULT_REF;
  checkExpanded("the ref", ref);
  return ref;
}
