/**
 * What an operating system's error means for a run.
 *
 * @module
 */

import { DreamDBError } from "../errors.ts";

/** The `code` of a system error (`ENOENT`, …), or undefined when `error` is none. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

const NOT_PERMITTED: ReadonlySet<string> = new Set(["EACCES", "EPERM", "EROFS"]);

const HINTS: Readonly<Record<string, string>> = {
  ENOSPC: "Free some space and run again; what was written stays usable.",
  EDQUOT: "Free some of your quota and run again; what was written stays usable.",
  EMFILE: "Raise the limit on open files (ulimit -n) or lower --concurrency, then run again.",
  ENFILE: "The machine has too many files open; run again later.",
  ENAMETOOLONG: "The file system cannot hold names of this length; use another one.",
  EXDEV: "refs/ and .dreamdb-cas-locks/ must lie on one file system.",
  EROFS: "The file system is mounted read-only; mount it writable and run again.",
};

/**
 * The fault for a failed file operation; errors that are already faults pass through.
 * @param action what was being done, as in "write an object"
 */
export function fileFailure(error: unknown, action: string, path: string): unknown {
  const code = systemCode(error);
  if (error instanceof DreamDBError || code === undefined) return error;
  const cause = { cause: error };
  const found = `${code} when trying to ${action} at ${path}`;
  if (NOT_PERMITTED.has(code)) {
    return new DreamDBError({
      code: "permission-denied",
      action,
      path,
      found,
      expected: "to be allowed to",
      next: HINTS[code] ?? "Check the owner and the mode of the file and of its folder, and the " +
          "user this runs as.",
    }, cause);
  }
  return new DreamDBError({
    code: "store-failure",
    action,
    path,
    found,
    expected: "the operating system to do it",
    next: HINTS[code] ?? "Nothing was published; look at the file system and run again.",
  }, cause);
}
