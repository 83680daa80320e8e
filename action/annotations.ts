/**
 * What of a report is shown beside the step. GitHub shows about ten annotations of a kind; the last
 * one says how many more there are.
 *
 * @module
 */

import type { MergeReport } from "../src/merge/report.ts";

/** One annotation. */
export interface Annotation {
  readonly level: "error" | "warning" | "notice";
  readonly title: string;
  readonly message: string;
}

const MOST = 9;

/** The annotations of a result. */
export function annotationsOf(report: MergeReport): readonly Annotation[] {
  const refusals = report.refusals.map(({ code, field, message, next }): Annotation => ({
    level: "error",
    title: `refused: ${code}${field === undefined ? "" : ` in ${field}`}`,
    message: `${message}. ${next}`,
  }));
  const warnings = report.warnings.map(({ code, message }): Annotation => ({
    level: "warning",
    title: code,
    message,
  }));
  return [...shorten(refusals), ...shorten(warnings)];
}

function shorten(annotations: readonly Annotation[]): readonly Annotation[] {
  const [first] = annotations;
  if (annotations.length <= MOST || first === undefined) return annotations;
  return [...annotations.slice(0, MOST), {
    level: first.level,
    title: "and more",
    message: `${annotations.length - MOST} more are in the job summary and in the report.`,
  }];
}
