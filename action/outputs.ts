/**
 * The outputs of action.yml. All of them are set on every run, also when it failed.
 *
 * @module
 */

import type { MergeReport } from "../src/merge/report.ts";

/** Names as in action.yml. */
export type OutputName =
  | "status"
  | "error"
  | "manifest"
  | "trunk-before"
  | "trunk-after"
  | "merged"
  | "merged-count"
  | "already-merged"
  | "records-added"
  | "entries-added"
  | "refusals"
  | "refusal-count"
  | "warnings"
  | "report";

/** Every output's text. */
export type Outputs = Readonly<Record<OutputName, string>>;

/** All outputs of a job together may be 1 MiB; the report file has everything. */
const MOST_LISTED = 20;
const MOST_ANCHORS = 5;

/** The outputs of a run that failed; `error` is the fault's code. */
export function failureOutputs(error: string, reportPath = ""): Outputs {
  return {
    status: "failed",
    error,
    manifest: "",
    "trunk-before": "",
    "trunk-after": "",
    merged: "[]",
    "merged-count": "0",
    "already-merged": "[]",
    "records-added": "0",
    "entries-added": "0",
    refusals: "[]",
    "refusal-count": "0",
    warnings: "[]",
    report: reportPath,
  };
}

/** The outputs of a result; `reportPath` is where the whole report was written. */
export function reportOutputs(report: MergeReport, reportPath: string): Outputs {
  const inState = (...states: readonly string[]) =>
    report.branches.filter(({ state }) => states.includes(state)).map(({ name }) => name);
  const merged = report.status === "refused" ? [] : inState("merged");
  const short = <Told extends { readonly anchors?: readonly bigint[] }>(told: readonly Told[]) =>
    toJson(
      told.slice(0, MOST_LISTED).map((one) =>
        one.anchors === undefined ? one : { ...one, anchors: one.anchors.slice(0, MOST_ANCHORS) }
      ),
    );
  return {
    status: report.status,
    error: "",
    manifest: report.manifest ?? "",
    "trunk-before": report.trunk.before,
    "trunk-after": report.trunk.after ?? "",
    merged: toJson(merged),
    "merged-count": String(merged.length),
    "already-merged": toJson(inState("already-merged", "same-tip", "repeated")),
    "records-added": report.status === "refused" ? "0" : String(report.recordsAdded ?? ""),
    "entries-added": String(
      report.status === "refused"
        ? 0
        : report.fields.reduce((sum, { entriesAdded }) => sum + entriesAdded, 0),
    ),
    refusals: short(report.refusals),
    "refusal-count": String(report.refusals.length),
    warnings: short(report.warnings),
    report: reportPath,
  };
}

/** JSON on one line; 64-bit numbers are decimal text, as in the report. */
function toJson(value: unknown): string {
  return JSON.stringify(
    value,
    (_key, part: unknown) => typeof part === "bigint" ? part.toString() : part,
  );
}
