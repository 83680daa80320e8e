/**
 * Starting the executable once more, without the last of JavaScriptCore's compilers.
 *
 * Where there are few cores, that compiler (FTL) takes more time from a merge than its code gives
 * back, even from one of ten seconds: without it merges of 64 branches take a tenth to a fifth less
 * time and a quarter less CPU. Bun can only be told by the environment, before the program starts. The
 * start costs some ten milliseconds; the process stays the same one.
 *
 * @module
 */

import { accessSync, constants } from "node:fs";
import { availableParallelism } from "node:os";
import process from "node:process";
import { COMMIT } from "./version.ts";

/** What Bun reads; whoever sets it decides. */
const VARIABLE = "BUN_JSC_useFTLJIT";
/** With more cores the compiler has one to itself. */
const FEW_CORES = 4;
const EXECUTABLE = "/proc/self/exe";

/** What the decision depends on. */
export interface StartConditions {
  /** The command line without the program's name. */
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
  readonly cores: number;
  /** Whether this is the compiled executable. */
  readonly compiled: boolean;
}

/** Whether to start again: for a merge of the compiled executable on Linux, where cores are few. */
export function shouldRestart(start: StartConditions): boolean {
  return start.compiled && start.platform === "linux" && start.args[0] === "merge-many" &&
    start.cores <= FEW_CORES && start.environment[VARIABLE] === undefined;
}

/** Starts again if that is worth it; returns when it is not, or when it cannot be done. */
export function restart(args: readonly string[]): void {
  const { env: environment, platform, execPath, execve } = process;
  const start = {
    args,
    environment,
    platform,
    cores: availableParallelism(),
    compiled: COMMIT !== "source",
  };
  if (!shouldRestart(start) || execve === undefined) return;
  try {
    accessSync(EXECUTABLE, constants.X_OK);
    execve.call(process, EXECUTABLE, [execPath, ...args], { ...environment, [VARIABLE]: "0" });
  } catch {
    // It is only about time: the merge goes on as it was started.
  }
}
