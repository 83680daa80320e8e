/**
 * Doing something while holding the lock of one ref of a file store.
 *
 * @module
 */

import type { FileHandle } from "node:fs/promises";
import { constants } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { DreamDBError } from "../errors.ts";
import { fileFailure } from "./file-errors.ts";
import type { FileLock } from "./flock.ts";
import { findFileLock } from "./flock.ts";

/** How locks are waited for. */
export interface LockOptions {
  /** Milliseconds until the fault lock-timeout; default 60,000. */
  readonly lockTimeout?: number;
  /** Milliseconds until `onWait` is told that somebody else holds the lock; default 2,000. */
  readonly lockNotice?: number;
  readonly onWait?: (message: string) => void;
  /** Goes on without a lock where none can be had: other writers may then lose updates. */
  readonly unsafeNoLock?: boolean;
  /** How to lock; default: the best way this runtime has. */
  readonly fileLock?: FileLock;
}

let found: Promise<FileLock | undefined> | undefined;

/**
 * Runs `work` while holding the exclusive lock on the file at `path`, which is created when needed
 * and left behind, as the reference does (FORMAT 1.5).
 * @throws DreamDBError lock-timeout, lock-unavailable, permission-denied, store-failure
 */
export async function withRefLock<T>(
  path: string,
  options: LockOptions,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const fileLock = options.fileLock ?? await (found ??= findFileLock());
  if (fileLock === undefined && options.unsafeNoLock !== true) throw unavailable(path);
  let handle: FileHandle | undefined;
  try {
    try {
      await mkdir(dirname(path), { recursive: true });
      handle = await open(path, constants.O_WRONLY | constants.O_CREAT, 0o666);
      if (fileLock !== undefined) await acquire(fileLock, handle.fd, path, options, signal);
    } catch (error) {
      throw fileFailure(error, "lock a ref", path);
    }
    return await work();
  } finally {
    // Closing releases the lock. Its failure would hide the outcome of the work.
    await handle?.close().catch(() => {});
  }
}

async function acquire(
  fileLock: FileLock,
  descriptor: number,
  path: string,
  options: LockOptions,
  signal: AbortSignal | undefined,
): Promise<void> {
  const timeout = options.lockTimeout ?? 60_000;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeout);
  const notice = setTimeout(
    () => options.onWait?.(`waiting for the lock ${path}, which another writer holds`),
    options.lockNotice ?? 2_000,
  );
  try {
    await fileLock.acquire(
      descriptor,
      signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]),
    );
  } catch (error) {
    signal?.throwIfAborted();
    if (!late.signal.aborted) throw error;
    throw new DreamDBError({
      code: "lock-timeout",
      path,
      found: `the lock ${path} held by another writer for ${timeout} ms`,
      expected: "every writer to hold it for a moment only",
      next: "Find the process that holds it (lsof, or `fuser` on the lock file) and run again; " +
        "removing the file would not help and is dangerous.",
    });
  } finally {
    clearTimeout(timer);
    clearTimeout(notice);
  }
}

function unavailable(path: string): DreamDBError {
  return new DreamDBError({
    code: "lock-unavailable",
    path,
    found: "no way to call flock(2) in this runtime",
    expected: "Bun, or the command flock(1) on the PATH",
    next:
      "Install util-linux, use the compiled executable, or say that no other writer is active " +
      "with --unsafe-no-lock.",
  });
}
