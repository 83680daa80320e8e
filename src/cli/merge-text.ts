/**
 * A merge report for people.
 *
 * @module
 */

import type { Refusal, Warning } from "../merge/refusal.ts";
import type { FieldReport, MergeReport } from "../merge/report.ts";
import type { Style } from "./style.ts";
import { bytesText, counted, shortList, table, wrap } from "./style.ts";

const WIDTH = 80;
const SHOWN_SIDES = 3;
const SHOWN_ANCHORS = 5;
const SHOWN_BRANCHES = 8;

/** The whole report. */
export function mergeText(report: MergeReport, style: Style): string {
  const lines = [...headline(report, style)];
  if (report.status !== "refused") {
    lines.push(...facts(report));
    if (report.fields.length > 0) lines.push("", ...fieldTable(report.fields, style));
  }
  report.refusals.forEach((refusal, index) => {
    lines.push("", ...refusalLines(refusal, index + 1, style));
  });
  for (const warning of report.warnings) lines.push("", ...warningLines(warning, style));
  return `${lines.join("\n")}\n`;
}

function headline(report: MergeReport, style: Style): string[] {
  const { ref, branches, dryRun } = report;
  const merged = branches.filter(({ state }) => state === "merged").map(({ name }) => name);
  const names = shortList(merged, SHOWN_BRANCHES);
  const which = merged.length > 1 ? `${counted(merged.length, "branch", "branches")}: ` : "";
  switch (report.status) {
    case "merged":
      return wrap(
        dryRun
          ? `${style.yellow("dry run")}: ${ref} would be merged with ${which}${names}`
          : `${style.green("merged")} into ${ref}: ${which}${names}`,
        WIDTH,
      );
    case "fast-forwarded":
      return wrap(
        dryRun
          ? `${style.yellow("dry run")}: ${ref} would be fast-forwarded to ${names}`
          : `${style.green("fast-forwarded")} ${ref} to ${names}`,
        WIDTH,
      );
    case "already-merged":
      return wrap(
        `${style.green("already merged")}: ${ref} contains ${
          shortList(branches.map(({ name }) => name), SHOWN_BRANCHES)
        }; nothing was written`,
        WIDTH,
      );
    case "refused":
      return wrap(
        `${style.red("refused")}: ${ref} was not merged, for ${
          counted(report.refusals.length, "reason")
        }; nothing was written`,
        WIDTH,
      );
  }
}

function facts(report: MergeReport): string[] {
  const { trunk, written, read } = report;
  const requests = Object.values(read.requests).reduce((sum, count) => sum + count, 0);
  const names = [
    report.ref,
    ...report.branches.filter(({ state }) => state === "merged").map(({ name }) => name),
  ];
  const skipped = report.branches.filter(({ state }) => state !== "merged");
  const rows: [string, string][] = [["before", trunk.before]];
  if (report.manifest !== null) rows.push(["manifest", report.manifest]);
  report.parents.forEach((parent, index) => {
    rows.push([index === 0 ? "parents" : "", `${parent}  ${names[index] ?? ""}`.trimEnd()]);
  });
  report.mergeBase.forEach((base, index) => rows.push([index === 0 ? "base" : "", base]));
  if (report.status !== "already-merged") {
    skipped.forEach(({ name, state }, index) => {
      rows.push([index === 0 ? "skipped" : "", `${name} (${state})`]);
    });
  }
  rows.push(
    ["written", `${counted(written.objects, "object")}, ${bytesText(written.bytes)}`],
    ["read", `${bytesText(read.bytes)} in ${counted(requests, "request")}`],
  );
  if (report.attempts > 1) rows.push(["attempts", String(report.attempts)]);
  if (report.resolvedByReading) {
    rows.push(["note", "the answer to the ref write was lost; reading the ref showed our merge"]);
  }
  return rows.map(([name, value]) => `  ${name.padEnd(10)}${value}`);
}

function fieldTable(fields: readonly FieldReport[], style: Style): string[] {
  const sorted = [...fields].sort((a, b) => a.field < b.field ? -1 : a.field > b.field ? 1 : 0);
  const [head = "", ...rows] = table(
    ["FIELD", "KIND", "RESULT", "CHANGED BY", "ENTRIES", "ADDED", "GONE", "FUSED"],
    sorted.map((field) => [
      field.field,
      field.kind,
      field.action,
      field.sides.length === 0 ? "-" : shortList(field.sides, SHOWN_SIDES),
      field.entriesAfter === null ? "" : String(field.entriesAfter),
      field.entriesAdded === 0 ? "" : `+${field.entriesAdded}`,
      field.entriesRemoved === 0 ? "" : `-${field.entriesRemoved}`,
      field.bucketsFused === 0 ? "" : `${field.bucketsFused} -> ${field.bucketsWritten}`,
    ]),
  );
  return [style.bold(head), ...rows];
}

function refusalLines(refusal: Refusal, position: number, style: Style): string[] {
  const about = refusal.field === undefined
    ? refusal.modality ?? refusal.key ?? ""
    : refusal.modality === undefined
    ? `field ${refusal.field}`
    : `field ${refusal.field} (${refusal.modality})`;
  return [
    `${position}. ${style.red(refusal.code)}${about === "" ? "" : `  ${about}`}`,
    ...wrap(refusal.message, WIDTH, "   "),
    ...evidence("cells", refusal.cells, refusal.cells?.length),
    ...evidence("values", refusal.values, refusal.values?.length),
    ...evidence("anchors", refusal.anchors?.map(String), refusal.anchorCount),
    ...evidence("sides", refusal.sides.length === 0 ? undefined : refusal.sides, undefined),
    ...(refusal.addresses ?? []).slice(0, SHOWN_BRANCHES).map((address, index) =>
      `   ${(index === 0 ? "address:" : "").padEnd(9)}${address}`
    ),
    ...wrap(`next: ${refusal.next}`, WIDTH, "   "),
  ];
}

function warningLines(warning: Warning, style: Style): string[] {
  return [
    `${style.yellow("warning")}: ${warning.code}${
      warning.field === undefined ? "" : `  field ${warning.field}`
    }`,
    ...wrap(warning.message, WIDTH, "   "),
    ...evidence("anchors", warning.anchors?.map(String), warning.anchorCount),
  ];
}

/** `items` is what is listed, `count` how many there are. */
function evidence(
  name: string,
  items: readonly string[] | undefined,
  count: number | undefined,
): string[] {
  if (items === undefined || items.length === 0) return [];
  const total = count ?? items.length;
  const shown = items.slice(0, SHOWN_ANCHORS).join(", ");
  const more = total > SHOWN_ANCHORS ? ` … (${SHOWN_ANCHORS} of ${total})` : "";
  return wrap(`${name}: ${shown}${more}`, WIDTH, "   ");
}
