/**
 * The runner as the Action sees it: what it can say, and what it is told.
 *
 * @module
 */

import * as core from "@actions/core";
import { readFile, writeFile } from "node:fs/promises";
import process from "node:process";
import type { Annotation } from "./annotations.ts";

/** What the Action needs from its runner. */
export interface Runner {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** An input's text, trimmed; empty when it is not given. */
  input(name: string): string;
  setOutput(name: string, value: string): void;
  /** Replaces `secret` by `***` in everything that is logged from now on. */
  mask(secret: string): void;
  log(line: string): void;
  annotate(annotation: Annotation): void;
  /** Appends to the job summary. */
  writeSummary(markdown: string): Promise<void>;
  /** Marks the step as failed; the run goes on. */
  fail(message: string): void;
  readFile(path: string): Promise<string>;
  writeFile(path: string, text: string): Promise<void>;
}

/**
 * The line with everything taken apart that the runner would take for a command of its own. What is
 * logged has names in it that anybody who writes to the store can choose.
 */
export function harmless(line: string): string {
  return line.replace(/^(\s*)(::|##\[)/gm, "$1\u200b$2");
}

/** The real runner. */
export function githubRunner(): Runner {
  return {
    environment: process.env,
    input: (name) => core.getInput(name),
    setOutput: (name, value) => core.setOutput(name, value),
    mask: (secret) => core.setSecret(secret),
    log: (line) => core.info(harmless(line)),
    annotate: ({ level, title, message }) => core[level](message, { title }),
    async writeSummary(markdown) {
      // Absent outside of GitHub, where there is nobody to read it.
      if (process.env["GITHUB_STEP_SUMMARY"] === undefined) return;
      await core.summary.addRaw(markdown, true).write();
    },
    fail: (message) => core.setFailed(message),
    readFile: (path) => readFile(path, "utf8"),
    writeFile: (path, text) => writeFile(path, text),
  };
}
