/**
 * `flock(2)` through the command `flock(1)` of util-linux or busybox, for runtimes that cannot call
 * the C library.
 *
 * The command inherits our open file and locks that. The lock belongs to the open file description,
 * which we share with the command, so it stays ours when the command has ended.
 *
 * @module
 */

import { spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import type { FileLock } from "./flock.ts";

/** The place at which the command finds the file; 0 to 2 are the standard streams. */
const DESCRIPTOR_OF_COMMAND = 3;

/** The lock through `flock(1)`; undefined where there is no such command. */
export async function commandFileLock(): Promise<FileLock | undefined> {
  const { failure } = await run(["--help"], [], AbortSignal.timeout(10_000));
  if (failure !== undefined) return undefined;
  return {
    kind: "flock(1)",
    async acquire(descriptor, signal) {
      signal.throwIfAborted();
      for (;;) {
        const { status, message, failure } = await run(
          ["-x", `${DESCRIPTOR_OF_COMMAND}`],
          [descriptor],
          signal,
        );
        signal.throwIfAborted();
        if (failure !== undefined) throw failure;
        if (status === 0) return;
        // Ended by somebody else's signal: not an answer.
        if (status === null) await delay(10);
        else throw Object.assign(new Error(message), { code: `flock exit ${status}` });
      }
    },
  };
}

interface CommandEnd {
  /** Exit status; null when a signal ended the command. */
  readonly status: number | null;
  readonly message: string;
  readonly failure?: Error;
}

function run(
  parameters: readonly string[],
  descriptors: readonly number[],
  signal: AbortSignal,
): Promise<CommandEnd> {
  return new Promise((resolve) => {
    const command = spawn("flock", parameters, {
      stdio: ["ignore", "ignore", "pipe", ...descriptors],
    });
    let message = "";
    const kill = () => command.kill("SIGKILL");
    signal.addEventListener("abort", kill, { once: true });
    const end = (result: CommandEnd) => {
      signal.removeEventListener("abort", kill);
      resolve(result);
    };
    command.stderr?.on("data", (chunk: Uint8Array) => {
      message += new TextDecoder().decode(chunk);
    });
    command.on("error", (failure) => end({ status: null, message, failure }));
    command.on("close", (status) => end({ status, message: message.trim() }));
  });
}
