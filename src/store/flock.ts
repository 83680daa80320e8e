/**
 * The lock that DreamDB writers take on a file store: BSD `flock(2)`, exclusive (FORMAT 1.5).
 * `fcntl` locks would not do: on Linux the two do not see each other.
 *
 * The lock belongs to the open file description, so it lasts until the file is closed and is
 * released by the kernel when the process dies.
 *
 * @module
 */

import { bunFileLock } from "./flock-bun.ts";
import { commandFileLock } from "./flock-command.ts";

/** One way to call `flock(2)`. */
export interface FileLock {
  readonly kind: "bun:ffi" | "flock(1)";
  /**
   * Resolves when the exclusive lock on the open file `descriptor` is held.
   * @throws the reason of `signal`; a system error when the file system has no locks
   */
  acquire(descriptor: number, signal: AbortSignal): Promise<void>;
}

/** The best way to lock in this runtime, or undefined when there is none. */
export async function findFileLock(): Promise<FileLock | undefined> {
  return bunFileLock() ?? await commandFileLock();
}
