/**
 * What each way of ending means to a shell, a script or a Kubernetes Job (DESIGN 4).
 *
 * @module
 */

import type { Fault, FaultCode } from "../errors.ts";

/** Exit codes by name. */
export const EXIT = {
  done: 0,
  internal: 1,
  usage: 2,
  refused: 3,
  missing: 4,
  conflict: 5,
  notAllowed: 6,
  storeFailure: 7,
  unknownOutcome: 8,
  damaged: 9,
  interrupted: 130,
  terminated: 143,
} as const;

/** One of the exit codes. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

const BY_FAULT: Readonly<Record<Exclude<FaultCode, "interrupted">, ExitCode>> = {
  "malformed-cbor": EXIT.damaged,
  "malformed-address": EXIT.damaged,
  "malformed-object": EXIT.damaged,
  "hash-mismatch": EXIT.damaged,
  "object-missing": EXIT.damaged,
  "malformed-ref": EXIT.damaged,
  "invalid-ref-name": EXIT.usage,
  usage: EXIT.usage,
  // The store cannot publish safely: running again does not help, another store or a flag does.
  "conditions-ignored": EXIT.usage,
  "lock-unavailable": EXIT.usage,
  "ref-missing": EXIT.missing,
  "store-missing": EXIT.missing,
  "permission-denied": EXIT.notAllowed,
  "store-failure": EXIT.storeFailure,
  "lock-timeout": EXIT.storeFailure,
  "publish-conflict": EXIT.conflict,
  "publish-unknown": EXIT.unknownOutcome,
  internal: EXIT.internal,
};

/** The exit code for a fault. A time limit counts as SIGTERM. */
export function exitCodeOf(fault: Fault): ExitCode {
  if (fault.code !== "interrupted") return BY_FAULT[fault.code];
  return fault.signal === "SIGINT" ? EXIT.interrupted : EXIT.terminated;
}

/** The table for the help text. */
export const EXIT_CODE_HELP = `Exit codes:
  0    done: merged, already merged, a dry run without refusals
  1    internal error (a bug)
  2    usage: flags, names, backend URL; a store that cannot publish safely
  3    refused by a merge rule; nothing was written
  4    a ref, an object asked for, or the store does not exist
  5    lost the race for the ref after all tries; safe to run again
  6    not allowed (credentials, 403, file permissions)
  7    store or network failure, nothing published; run again
  8    outcome unknown, even after reading the ref again
  9    damaged or missing object
  130  interrupted (SIGINT)
  143  terminated (SIGTERM) or out of time (--timeout)`;
