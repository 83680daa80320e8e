/**
 * The job summary: what was merged, per branch and per field, and every refusal with its evidence.
 *
 * @module
 */

import type { Refusal, RefusalCode, Warning } from "../src/merge/refusal.ts";
import type { MergeReport } from "../src/merge/report.ts";
import { code, details, plain, table } from "./markdown.ts";

/** GitHub drops a step's summary above 1 MiB; what is cut here is in the report file. */
const MOST_ROWS = 200;
const MOST_REFUSALS = 50;
const MOST_ANCHORS = 20;

/** The refusals that the sharded-ingest document numbers. */
const RULES: { readonly [Code in RefusalCode]?: number } = {
  "field-missing": 1,
  "schema-differs": 1,
  "spatial-index-differs": 2,
  "duplicate-anchor": 3,
  "depth-bound": 4,
  "no-common-ancestor": 4,
  "constant-differs": 5,
};

/** The heading of a report, which is also its one-line summary. */
export function headline(report: MergeReport): string {
  const merged = report.branches.filter(({ state }) => state === "merged").length;
  const branches = `${merged} branch${merged === 1 ? "" : "es"}`;
  switch (report.status) {
    case "merged":
      return report.dryRun
        ? `Would merge ${branches} into ${report.ref}`
        : `Merged ${branches} into ${report.ref}`;
    case "fast-forwarded":
      return report.dryRun ? `Would fast-forward ${report.ref}` : `Fast-forwarded ${report.ref}`;
    case "already-merged":
      return `${report.ref} already contains all branches`;
    case "refused":
      return `Refused to merge into ${report.ref}: ${report.refusals.length} reason${
        report.refusals.length === 1 ? "" : "s"
      }`;
  }
}

/** The summary of a merge that came to a result. */
export function reportSummary(report: MergeReport): string {
  const parts = [
    `### ${plain(headline(report))}`,
    ...report.dryRun ? ["Dry run: nothing was written."] : [],
    facts(report),
    ...report.refusals.length > 0 ? [refusalTable(report.refusals)] : [],
    ...report.warnings.map(warningLine),
    branchTable(report),
    ...report.fields.length > 0 ? [fieldTable(report)] : [],
  ];
  return `${parts.join("\n\n")}\n`;
}

/** The summary of a run that failed. */
export function failureSummary(title: string, problems: readonly string[]): string {
  return `### ${plain(title)}\n\n${problems.map((problem) => `- ${plain(problem)}`).join("\n")}\n`;
}

function facts(report: MergeReport): string {
  const rows: (readonly [string, string])[] = [
    ["trunk before", code(report.trunk.before)],
    ...report.trunk.after === null ? [] : [["trunk after", code(report.trunk.after)] as const],
    ...report.mergeBase.map((base) => ["merge base", code(base)] as const),
    ["written", `${report.written.objects} objects, ${report.written.bytes} bytes`],
    ["read", `${report.read.bytes} bytes`],
    ...report.attempts > 1 ? [["attempts", String(report.attempts)] as const] : [],
  ];
  return table(["", ""], rows);
}

function branchTable({ branches }: MergeReport): string {
  return cut(
    ["branch", "what became of it", "tip"],
    branches.map(({ name, state, tip }) => [code(name), state.replaceAll("-", " "), code(tip)]),
  );
}

function fieldTable({ fields }: MergeReport): string {
  return cut(
    ["field", "kind", "action", "changed by", "entries", "added", "buckets fused"],
    fields.map((field) => [
      code(field.field),
      plain(field.kind),
      field.action,
      field.sides.slice(0, 8).map(code).join(" ") +
      (field.sides.length > 8 ? ` and ${field.sides.length - 8} more` : ""),
      field.entriesBefore === field.entriesAfter
        ? String(field.entriesBefore)
        : `${field.entriesBefore} → ${field.entriesAfter}`,
      String(field.entriesAdded),
      field.bucketsFused === 0 ? "" : `${field.bucketsFused} → ${field.bucketsWritten}`,
    ]),
  );
}

function cut(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length <= MOST_ROWS) return table(head, rows);
  return `${table(head, rows.slice(0, MOST_ROWS))}\n\n${
    rows.length - MOST_ROWS
  } more are in the report.`;
}

function refusalTable(refusals: readonly Refusal[]): string {
  const shown = refusals.slice(0, MOST_REFUSALS);
  const rows = shown.map((refusal) => {
    const rule = RULES[refusal.code];
    return [
      code(refusal.code) + (rule === undefined ? "" : ` (rule ${rule})`),
      refusal.field === undefined ? "" : code(refusal.field),
      refusal.sides.slice(0, 8).map(code).join(" "),
      plain(refusal.message),
      plain(refusal.next),
    ];
  });
  const parts = [
    table(["reason", "field", "between", "found", "what to do"], rows),
    ...shown.flatMap((refusal, index) => {
      const lines = evidence(refusal);
      return lines.length === 0
        ? []
        : [details(`Evidence ${index + 1}: ${code(refusal.code)}`, lines.join("\n"))];
    }),
  ];
  if (refusals.length > shown.length) {
    parts.push(`${refusals.length - shown.length} more are in the report.`);
  }
  return parts.join("\n\n");
}

function evidence(refusal: Refusal): readonly string[] {
  const list = (title: string, values: readonly (string | bigint)[] | undefined, count?: number) =>
    values === undefined || values.length === 0 ? [] : [
      `- ${title}: ${values.slice(0, MOST_ANCHORS).map((value) => code(String(value))).join(" ")}` +
      ((count ?? values.length) > MOST_ANCHORS
        ? ` and ${(count ?? values.length) - MOST_ANCHORS} more`
        : ""),
    ];
  return [
    ...list("anchors (ns)", refusal.anchors, refusal.anchorCount),
    ...list("cells", refusal.cells),
    ...list("values", refusal.values),
    ...list("objects", refusal.addresses),
    ...refusal.key === undefined ? [] : [`- registry key: ${code(refusal.key)}`],
  ];
}

function warningLine({ code: name, message }: Warning): string {
  return `> **Warning** ${code(name)}: ${plain(message)}`;
}
