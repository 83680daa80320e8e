/**
 * Stopping a run: by a signal, or because its time is over.
 *
 * @module
 */

import { DreamDBError } from "../errors.ts";
import { exitCodeOf } from "./exit-codes.ts";
import type { Terminal } from "./terminal.ts";

/** What stops a run, and what must be known to say whether a ref has moved. */
export interface Stopper {
  readonly signal: AbortSignal;
  /** The ref whose write is under way, undefined when none is. */
  moving: string | undefined;
  /** Ends listening. */
  dispose(): void;
}

/**
 * The first signal aborts the run in an orderly way: a ref write under way is brought to its end. A
 * second one ends the process at once.
 * @param timeout milliseconds, undefined for no limit
 */
export function createStopper(terminal: Terminal, timeout: number | undefined): Stopper {
  const controller = new AbortController();
  const stop = (name: string): void => {
    if (stopper.moving !== undefined) {
      terminal.err(`${name}: ${stopper.moving} is being moved; waiting for the store's answer\n`);
    }
    controller.abort(interrupted(name, false));
  };
  const unlisten = terminal.onSignal((name) => {
    if (!controller.signal.aborted) return stop(name);
    const ref = stopper.moving;
    terminal.err(
      ref === undefined
        ? `${name} again: stopped at once; no ref had moved\n`
        : `${name} again: stopped at once while ${ref} was being moved; whether it has moved is ` +
          "not known: run the same command again, it is safe\n",
    );
    terminal.abandon(exitCodeOf(interrupted(name, false).fault));
  });
  const timer = timeout === undefined ? undefined : setTimeout(() => stop("timeout"), timeout);
  const stopper: Stopper = {
    signal: controller.signal,
    moving: undefined,
    dispose() {
      clearTimeout(timer);
      unlisten();
    },
  };
  return stopper;
}

/** Waits for `work`, which cannot be stopped itself, until `signal` is aborted. */
export async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  return await new Promise<T>((resolve, reject) => {
    const leave = (): void => reject(signal.reason);
    signal.addEventListener("abort", leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
}

function interrupted(signal: string, refMoved: boolean): DreamDBError {
  return new DreamDBError({
    code: "interrupted",
    signal,
    refMoved,
    found: signal === "timeout" ? "the time limit (--timeout) was reached" : `stopped by ${signal}`,
    expected: "to come to the end",
    next: "No ref has moved. It is safe to run the same command again; what was written is reused.",
  });
}
