/**
 * The tables of `bench/RESULTS.md`.
 *
 * @module
 */

import type { Case, Measured } from "./case.ts";
import type { Cost } from "./programs.ts";
import type { Spread } from "./spread.ts";
import { ratiosOf, spreadOf } from "./spread.ts";
import { reached, targets } from "./targets.ts";

/** Where and with what was measured: lines of text. */
export interface Circumstances {
  readonly lines: readonly string[];
  /** The command that repeats the run. */
  readonly command: string;
}

type Row = readonly (string | number)[];

/** The whole document. */
export function resultsDocument(cases: readonly Case[], circumstances: Circumstances): string {
  const traced = cases.filter(({ measured }) => measured.get("reference")?.reads !== undefined);
  const parts = [
    "# Merging beside the reference",
    introduction,
    bulleted(circumstances.lines),
    `Repeat it with \`${circumstances.command}\`; \`npm run bench -- --help\` tells the choices.`,
    "## Targets",
    "Reference / ours, the median over all pairs.",
    targetTable(cases),
    "## Time and memory",
    "Seconds of the whole process as the median with [least–greatest]; ratios are reference / ours, pair by pair. " +
    "CPU is user and system time, memory the largest resident set.",
    timeTable(cases),
    "## What is written and asked for",
    "Objects with their outboards, MB = 1,000,000 bytes. Requests are ours, by kind, writes included.",
    writeTable(cases),
    ...traced.length === 0 ? [] : [
      "## What is read",
      "Files of the store opened for reading, counted with strace in a run of its own, and the sum of their sizes.",
      readTable(traced),
    ],
  ];
  return `${parts.join("\n\n")}\n`;
}

const introduction =
  "`merge_many` of the published reference and `dreamdb merge-many` merge the same branches into the same trunk, " +
  "by turns; the store is put back after each run, and of each kind of merge the reference reads all records and finds " +
  "the same ones. Both are measured as whole processes, the start of Python and of our executable included. " +
  "The reference has one way to merge, which `--buckets=keep` does too; `--buckets=fuse` also rewrites the cells that " +
  "several sides changed. We make everything durable (fsync) before the ref moves, the reference never does.\n\n" +
  "Stores (`bench/make.py`): trunk has one entry per cell and append. Each branch appended 100 records in 80 of " +
  "trunk's cells. e… have one embedding field; m… also an image, a categorical and a string field. " +
  "The index is inline in the 1k and 16k stores (1.03 MB in 16k, which are 14,800 records: with 16,000 and anchors of " +
  "today the branches would have paged ones) and paged in the larger ones.";

function targetTable(cases: readonly Case[]): string {
  const rows = targets.map((target): Row => {
    const value = reached(target, cases);
    return [
      `${target.mode} ${target.store} N = ${target.branches}`,
      target.quantity,
      `≥ ${target.least}`,
      value === undefined ? "not measured" : value.toFixed(1),
      value === undefined ? "" : value >= target.least ? "yes" : "**no**",
    ];
  });
  return table(["merge", "of", "target", "reached", "met"], rows);
}

function timeTable(cases: readonly Case[]): string {
  const header = [
    ...["store", "N", "way", "pairs", "wall s", "reference / ours"],
    ...["CPU s", "reference / ours", "memory MB"],
  ];
  return table(
    header,
    rowsOf(cases, (measured, reference) => [
      measured.costs.length,
      seconds(spreadOf(pick(measured, "wall"))),
      ratio(measured, reference, "wall"),
      seconds(spreadOf(pick(measured, "cpu"))),
      ratio(measured, reference, "cpu"),
      (spreadOf(pick(measured, "rss")).median / 1e6).toFixed(0),
    ]),
  );
}

function writeTable(cases: readonly Case[]): string {
  const header = [
    ...["store", "N", "way", "objects", "MB", "reference / ours (bytes)"],
    ...["ref", "Manifest", "Track", "page", "bucket", "other", "MB read"],
  ];
  const kinds = ["ref", "manifest", "track", "page", "bucket", "other"];
  return table(
    header,
    rowsOf(cases, ({ added, report }, reference) => [
      added.objects,
      megabytes(added.bytes),
      report === undefined ? "" : (reference.added.bytes / added.bytes).toFixed(1),
      ...kinds.map((kind) => report?.read.requests[kind] ?? ""),
      report === undefined ? "" : megabytes(report.read.bytes),
    ]),
  );
}

function readTable(cases: readonly Case[]): string {
  const kinds = ["ref", "manifest", "track", "page", "payload", "other"] as const;
  return table(
    [
      ...["store", "N", "way", "ref", "Manifest", "Track", "page", "payload", "other", "all"],
      ...["ours / reference", "MB"],
    ],
    rowsOf(cases, ({ reads }, reference) => {
      if (reads === undefined || reference.reads === undefined) return [];
      const all = total(reads.opened);
      const share = 100 * all / total(reference.reads.opened);
      return [
        ...kinds.map((kind) => reads.opened[kind]),
        all,
        reads === reference.reads ? "" : `${share.toFixed(1)} %`,
        megabytes(reads.bytes),
      ];
    }),
  );
}

function rowsOf(
  cases: readonly Case[],
  cells: (measured: Measured, reference: Measured) => Row,
): readonly Row[] {
  return cases.flatMap((merge) =>
    merge.ways.flatMap((way): Row[] => {
      const measured = merge.measured.get(way);
      const reference = merge.measured.get("reference");
      if (measured === undefined || reference === undefined) return [];
      return [[merge.store, merge.branches, way, ...cells(measured, reference)]];
    })
  );
}

function pick({ costs }: Measured, name: keyof Cost): readonly number[] {
  return costs.map((cost) => cost[name]);
}

function ratio(measured: Measured, reference: Measured, name: keyof Cost): string {
  if (measured === reference) return "";
  const { median, min, max } = ratiosOf(pick(reference, name), pick(measured, name));
  return `**${median.toFixed(1)}** [${min.toFixed(1)}–${max.toFixed(1)}]`;
}

function seconds({ median, min, max }: Spread): string {
  return `${median.toFixed(2)} [${min.toFixed(2)}–${max.toFixed(2)}]`;
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(bytes < 1e6 ? 3 : 1);
}

function total(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

function bulleted(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join("\n");
}

function table(header: Row, rows: readonly Row[]): string {
  return [header, header.map(() => "---"), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
