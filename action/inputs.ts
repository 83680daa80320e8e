/**
 * The inputs of action.yml, read once into one record. Everything that is wrong is told together,
 * before anything is asked of the store.
 *
 * @module
 */

import { checkGlob, parseBranchList } from "../src/cli/branch-names.ts";
import {
  checkExpanded,
  parseCount,
  parseDuration,
  parsePick,
  usageError,
} from "../src/cli/values.ts";
import { DreamDBError } from "../src/errors.ts";
import type { BucketMode } from "../src/merge/request.ts";
import { DEFAULTS } from "../src/merge/request.ts";
import { checkRefName } from "../src/model/ref-name.ts";
import { linesOf, parseBoolean, parseChoice } from "./values.ts";

/** What makes the step fail besides errors, which always do. */
export type FailOn = "error" | "refusal" | "warning";

/** All inputs. */
export interface Inputs {
  readonly backend: string;
  readonly ref: string;
  readonly branches: readonly string[];
  /** A file with more branches, relative to the workspace. */
  readonly branchesFrom: string | undefined;
  readonly branchGlob: string | undefined;
  readonly dryRun: boolean;
  readonly buckets: BucketMode;
  readonly allowIdentical: boolean;
  readonly picks: ReadonlyMap<string, string>;
  readonly maxDepth: number;
  readonly attempts: number;
  readonly concurrency: number;
  /** In milliseconds. */
  readonly timeout: number | undefined;
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
  readonly profile: string | undefined;
  /** How long to wait for the lock of a ref in a folder, in milliseconds. */
  readonly lockTimeout: number | undefined;
  readonly failOn: FailOn;
  readonly reportFile: string | undefined;
  readonly summary: boolean;
}

/** Where inputs come from. */
export interface InputSource {
  /** The input's text, trimmed; empty when it is not given. */
  readonly input: (name: string) => string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether the run belongs to a pull request. */
  readonly pullRequest: boolean;
}

/** The inputs, or all that is wrong with them. */
export type InputResult =
  | { readonly ok: true; readonly inputs: Inputs }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Reads and checks all inputs. */
export function readInputs(source: InputSource): InputResult {
  const problems: string[] = [];

  /** An input's value; empty text counts as not given, a problem is noted and `otherwise` taken. */
  function take<Value>(
    name: string,
    otherwise: Value,
    parse: (name: string, text: string) => Value,
    variable?: string,
  ): Value {
    const given = source.input(name);
    const text = given || (variable && source.environment[variable]?.trim()) || "";
    if (text === "") return otherwise;
    try {
      return parse(given === "" && variable !== undefined ? variable : name, text);
    } catch (error) {
      if (!(error instanceof DreamDBError)) throw error;
      problems.push(error.message);
      return otherwise;
    }
  }
  const count = (name: string, otherwise: number, most: number) =>
    take(name, otherwise, (label, text) => parseCount(label, text, 1, most));
  const optional = (name: string) => take<string | undefined>(name, undefined, asGiven);

  const before = problems.length;
  const backend = take("backend", "", parseBackend, "DREAMDB_BACKEND");
  if (backend === "" && problems.length === before) {
    problems.push(
      usageError(
        "no backend",
        "the store's URL, in the input backend or the variable DREAMDB_BACKEND",
        "Write for example backend: s3://bucket/prefix.",
      ).message,
    );
  }
  const named = ["branches", "branches-from", "branch-glob"];
  if (named.every((name) => source.input(name) === "")) {
    problems.push(
      usageError(
        "no branch to merge",
        `names in ${named.join(", ")}`,
        "Write for example branches: ingest-w-{0..63}.",
      ).message,
    );
  }
  const inputs: Inputs = {
    backend,
    ref: take("ref", "trunk", parseRef, "DREAMDB_REF"),
    branches: take("branches", [], parseBranchList),
    branchesFrom: optional("branches-from"),
    branchGlob: take<string | undefined>("branch-glob", undefined, parseGlob),
    dryRun: take<boolean>(
      "dry-run",
      DEFAULTS.dryRun,
      (name, text) => text === "auto" ? source.pullRequest : parseDryRun(name, text),
    ),
    buckets: take<BucketMode>(
      "buckets",
      DEFAULTS.buckets,
      (name, text) => parseChoice(name, text, ["fuse", "keep"]),
    ),
    allowIdentical: take<boolean>("allow-identical", DEFAULTS.allowIdentical, parseBoolean),
    picks: take("pick", new Map(), (_name, text) => new Map(linesOf(text).map(parsePick))),
    maxDepth: count("max-depth", DEFAULTS.maxDepth, 1_000_000),
    attempts: count("attempts", DEFAULTS.attempts, 1000),
    concurrency: count("concurrency", DEFAULTS.concurrency, 1024),
    timeout: take<number | undefined>("timeout", undefined, parseDuration),
    endpoint: optional("endpoint"),
    region: optional("region"),
    profile: optional("profile"),
    lockTimeout: take<number | undefined>("lock-timeout", undefined, parseDuration),
    failOn: take<FailOn>(
      "fail-on",
      "refusal",
      (name, text) => parseChoice(name, text, ["error", "refusal", "warning"]),
    ),
    reportFile: optional("report-file"),
    summary: take("summary", true, parseBoolean),
  };
  return problems.length === 0 ? { ok: true, inputs } : { ok: false, problems };
}

function asGiven(_name: string, text: string): string {
  return text;
}

function parseBackend(name: string, text: string): string {
  checkExpanded(name, text);
  if (/^(?:file|s3|https?):\/\//.test(text)) return text;
  throw usageError(
    `${name} ${JSON.stringify(text)}`,
    "a URL that begins with s3://, file://, http:// or https://",
    "Write for example backend: s3://bucket/prefix.",
  );
}

function parseRef(_name: string, text: string): string {
  checkRefName(text);
  return text;
}

function parseGlob(_name: string, text: string): string {
  checkGlob(text);
  return text;
}

function parseDryRun(name: string, text: string): boolean {
  try {
    return parseBoolean(name, text);
  } catch {
    throw usageError(
      `${name} ${JSON.stringify(text)}`,
      "true, false or auto",
      "Write dry-run: auto to merge on pushes and only to look on pull requests.",
    );
  }
}
