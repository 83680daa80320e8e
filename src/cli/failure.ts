/**
 * Failures: from whatever was thrown to a fault, and from a fault to text.
 *
 * @module
 */

import { DreamDBError } from "../errors.ts";
import { faultJson } from "./json.ts";
import type { Style } from "./style.ts";
import { wrap } from "./style.ts";
import { COMMIT, VERSION } from "./version.ts";

const WIDTH = 80;

/** The fault behind `error`; what nobody foresaw is a bug of ours. */
export function toFault(error: unknown, signal?: AbortSignal): DreamDBError {
  if (error instanceof DreamDBError) return error;
  const reason: unknown = signal?.aborted === true ? signal.reason : undefined;
  const aborted = error instanceof Error && error.name === "AbortError";
  if (reason instanceof DreamDBError && aborted) return reason;
  return new DreamDBError({
    code: "internal",
    found: error instanceof Error ? `${error.name}: ${error.message}` : String(error),
    expected: "none: this is a bug",
    next: `Please report it with the command line and version ${VERSION} (${COMMIT}); --debug ` +
      "shows where it came from.",
  }, { cause: error });
}

/** The document of a command that failed and has no fuller one. */
export function failedDocument(error: DreamDBError): Readonly<Record<string, unknown>> {
  return { status: "failed", error: faultJson(error.fault) };
}

/** A fault for people. */
export function failureText(error: DreamDBError, style: Style, debug: boolean): string {
  const { found, expected, next } = error.fault;
  const lines = [
    ...wrap(`error: ${found}`, WIDTH),
    ...wrap(`expected: ${expected}`, WIDTH, "  "),
    ...wrap(`next: ${next}`, WIDTH, "  "),
  ];
  const [first = "", ...rest] = lines;
  const text = [first.replace(/^error:/, style.red("error:")), ...rest].join("\n");
  return debug ? `${text}\n${traces(error)}\n` : `${text}\n`;
}

function traces(error: unknown): string {
  const parts: string[] = [];
  for (let at = error; at instanceof Error; at = at.cause) parts.push(at.stack ?? String(at));
  return parts.join("\ncaused by ");
}
