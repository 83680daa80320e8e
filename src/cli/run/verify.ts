/**
 * Runs `verify`.
 *
 * @module
 */

import { verifyManifest } from "../../verify/verify.ts";
import type { VerifyReport } from "../../verify/verify.ts";
import type { StoreOptions } from "../common-options.ts";
import { EXIT } from "../exit-codes.ts";
import { withStore } from "../open-store.ts";
import type { Outcome, RunContext } from "../outcome.ts";
import { createProgressView } from "../progress.ts";
import { resolveStart } from "../resolve-start.ts";
import { bytesText, counted, table, wrap } from "../style.ts";
import type { Sample } from "../values.ts";

/** What `verify` was asked. */
export interface VerifyOptions extends StoreOptions {
  /** A ref or an address. */
  readonly start: string;
  readonly data: boolean;
  readonly sample: Sample | undefined;
  readonly history: boolean;
}

const DEFAULT_CONCURRENCY = 64;
const WIDTH = 80;

/** Verifies what a ref reaches; problems end with the exit code for damage. */
export async function runVerify(options: VerifyOptions, context: RunContext): Promise<Outcome> {
  return await withStore(options, context, async (connector) => {
    const { signal } = context;
    const start = await resolveStart(connector, options.start, { signal });
    const progress = createProgressView(context, Date.now);
    let report: VerifyReport;
    try {
      report = await verifyManifest(connector, start.address, {
        data: options.data || options.sample !== undefined,
        sample: options.sample,
        history: options.history,
        concurrency: options.concurrency ?? DEFAULT_CONCURRENCY,
        signal,
        onProgress: (done) => progress.show({ stage: "verify", done, total: 0 }),
      });
    } finally {
      progress.finish();
    }
    const sound = report.problemCount === 0;
    return {
      exitCode: sound ? EXIT.done : EXIT.damaged,
      document: {
        status: sound ? "ok" : "damaged",
        backend: connector.url,
        ref: start.ref ?? null,
        data: options.data || options.sample !== undefined,
        sample: options.sample ?? null,
        ...report,
        error: null,
      },
      text: verifyText(report, start.ref ?? start.address, context),
    };
  });
}

function verifyText(report: VerifyReport, name: string, { style }: RunContext): string {
  const { problems, problemCount, payloadSkipped } = report;
  const total = Object.values(report.objects).reduce((sum, count) => sum + count, 0);
  const lines = [
    problemCount === 0
      ? `${style.green("sound")}: ${name}, ${counted(total, "object")}, ${bytesText(report.bytes)}`
      : `${style.red("damaged")}: ${name}, ${counted(problemCount, "problem")} in ${
        counted(total, "object")
      }`,
    "",
    ...table(
      ["OBJECTS", "KIND"],
      Object.entries(report.objects).map(([kind, count]) => [String(count), kind]),
    ).map((line) => `  ${line}`),
  ];
  if (payloadSkipped > 0) {
    lines.push(
      "",
      `  ${counted(payloadSkipped, "payload object")} not read; --data reads them`,
    );
  }
  if (report.missingHistory.length > 0) {
    lines.push("", `  ${counted(report.missingHistory.length, "older Manifest")} collected`);
  }
  for (const field of report.unknownFields) {
    lines.push("", `  the field ${field} is of a kind this program does not know`);
  }
  for (const problem of problems) {
    lines.push(
      "",
      `${style.red(problem.code)}  ${problem.kind}${
        problem.field === undefined ? "" : `, field ${problem.field}`
      }`,
      `   ${problem.path}`,
      ...wrap(problem.message, WIDTH, "   "),
    );
  }
  if (problemCount > problems.length) {
    lines.push("", `… and ${problemCount - problems.length} more problems`);
  }
  return `${lines.join("\n")}\n`;
}
