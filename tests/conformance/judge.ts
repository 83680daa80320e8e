import type { Expectation, ExpectedRefusal } from "./expectation.ts";
import type { MergeDocument, ReportedRefusal, Run } from "./document.ts";

/** Tips of the refs before the run, by name. */
export type Tips = ReadonlyMap<string, string>;

/** What is wrong with the document of a run; empty when it says what the scenario expects. */
export function judge(
  expected: Expectation,
  run: Run,
  tips: Tips,
  dryRun: boolean,
): readonly string[] {
  const { document } = run;
  if (document === undefined) {
    return [`exit ${run.exit} and no single JSON document on stdout: ${run.output}`];
  }
  const problems: string[] = [];
  const same = (what: string, got: unknown, want: unknown): void => {
    if (JSON.stringify(got) !== JSON.stringify(want)) {
      problems.push(`${what} is ${JSON.stringify(got)}, expected ${JSON.stringify(want)}`);
    }
  };
  same("exit", run.exit, expected.exit);
  same("status", document.status, expected.status);
  if (problems.length > 0) {
    const said = document.error ??
      document.refusals?.map(({ code, field, message }) => ({ code, field, message }));
    return [`${problems.join("; ")}; it said ${JSON.stringify(said)?.slice(0, 900)}`];
  }
  same("version", document.version, 1);
  same("command", document.command, "merge-many");
  same("dryRun", document.dryRun, dryRun);
  if (expected.status === "refused") {
    problems.push(...judgeRefusals(expected, document.refusals));
  } else same("refusals", document.refusals ?? [], []);
  if (expected.status === "failed") problems.push(...judgeError(expected, document));
  else same("error", document.error, null);
  if (expected.warnings !== undefined) problems.push(...judgeWarnings(expected, document));
  if (!dryRun && problems.length === 0) problems.push(...judgeOutcome(expected, document, tips));
  return problems;
}

function judgeOutcome(expected: Expectation, document: MergeDocument, tips: Tips): string[] {
  const problems: string[] = [];
  const address = (name: string): string => tips.get(name) ?? `(no ref ${name})`;
  if (expected.status === "merged" && expected.parents) {
    const want = expected.parents.map(address);
    if (JSON.stringify(document.parents) !== JSON.stringify(want)) {
      problems.push(
        `parents are ${JSON.stringify(document.parents)}, expected ${expected.parents}`,
      );
    }
  }
  if (expected.status === "fast-forwarded" && expected.after !== undefined) {
    if (document.trunk?.after !== address(expected.after)) {
      problems.push(
        `trunk.after is ${document.trunk?.after}, expected the tip of ${expected.after}`,
      );
    }
  }
  if (expected.status === "refused" || expected.status === "already-merged") {
    if (document.manifest !== null) {
      problems.push(`manifest is ${document.manifest}, expected null`);
    }
    if (document.written?.objects) {
      problems.push(`it says it wrote ${document.written.objects} objects`);
    }
  }
  const states = document.branches?.map(({ state }) => state);
  if (
    expected.statesInOrder !== undefined &&
    JSON.stringify(states) !== JSON.stringify(expected.statesInOrder)
  ) {
    problems.push(`branch states are ${states}, expected ${expected.statesInOrder}`);
  }
  for (const [name, want] of Object.entries(expected.branchStates ?? {})) {
    const got = document.branches?.find((branch) => branch.name === name)?.state;
    if (got !== want) problems.push(`the state of ${name} is ${got}, expected ${want}`);
  }
  return problems;
}

function judgeError(expected: Expectation, { error }: MergeDocument): string[] {
  if (error === null || error === undefined) return ["error is absent"];
  const problems: string[] = [];
  if (!expected.errorAny && !expected.error?.code.includes(error.code)) {
    problems.push(
      `error is ${error.code} (${error.message}), expected ${expected.error?.code.join(" or ")}`,
    );
  }
  const names = expected.error?.names;
  if (names !== undefined && [...error.names ?? []].sort().join() !== [...names].sort().join()) {
    problems.push(`error names ${error.names}, expected ${names}`);
  }
  if (!error.message) problems.push("error has no message");
  return problems;
}

function judgeWarnings(expected: Expectation, { warnings }: MergeDocument): string[] {
  const got = [...new Set(warnings?.map(({ code }) => code))].sort();
  const may = expected.warningsMay ?? [];
  const want = [...expected.warnings ?? []].sort();
  const judged = got.filter((code) => !may.includes(code) || want.includes(code));
  return judged.join() === want.join() ? [] : [`warnings are [${got}], expected [${want}]`];
}

function judgeRefusals(
  expected: Expectation,
  reported: readonly ReportedRefusal[] | undefined,
): string[] {
  if (!Array.isArray(reported) || reported.length === 0) return ["no refusal is reported"];
  const problems: string[] = [];
  const matched = new Set<ReportedRefusal>();
  for (const want of expected.refusals ?? []) {
    const found = reported.filter((refusal) => matches(want, refusal));
    found.forEach((refusal) => matched.add(refusal));
    problems.push(...judgeRefusal(expected, want, found));
  }
  for (const refusal of reported) {
    if (!refusal.message || !refusal.next || !Array.isArray(refusal.sides)) {
      problems.push(`refusal ${refusal.code} lacks its message, what to do next or the sides`);
    }
    if (!matched.has(refusal) && !expected.also?.includes(refusal.code)) {
      problems.push(`refusal ${label(refusal)} is not expected: ${refusal.message?.slice(0, 300)}`);
    }
  }
  return problems;
}

function judgeRefusal(
  expected: Expectation,
  want: ExpectedRefusal,
  found: readonly ReportedRefusal[],
): string[] {
  const name = label(want);
  if (found.length === 0) return [`refusal ${name} is not reported`];
  const problems: string[] = [];
  const compare = (
    what: "anchors" | "sides" | "cells" | "addresses",
    atLeast: boolean | undefined,
  ): void => {
    const wanted = want[what];
    if (wanted === undefined) return;
    const got = new Set(found.flatMap((refusal) => refusal[what] ?? []));
    const lost = wanted.filter((value) => !got.has(value));
    const extra = [...got].filter((value) => !wanted.includes(value));
    if (lost.length > 0 || (!atLeast && extra.length > 0)) {
      problems.push(`refusal ${name} has ${what} [${[...got].slice(0, 6)}], expected [${wanted}]`);
    }
  };
  compare("anchors", expected.anchorsAtLeast);
  compare("sides", expected.sidesAtLeast);
  compare("cells", false);
  compare("addresses", true);
  const anchors = found.flatMap((refusal) => refusal.anchors ?? []);
  if (anchors.some((anchor) => typeof anchor !== "string")) {
    problems.push(`refusal ${name} has anchors that are not decimal text`);
  }
  const [only] = found;
  if (
    found.length === 1 && only?.anchors !== undefined && only.anchorCount !== only.anchors.length
  ) {
    problems.push(
      `refusal ${name} counts ${only.anchorCount} anchors and lists ${only.anchors.length}`,
    );
  }
  return problems;
}

function matches(want: ExpectedRefusal, refusal: ReportedRefusal): boolean {
  const codes = typeof want.code === "string" ? [want.code] : want.code;
  if (!codes.includes(refusal.code)) return false;
  if (want.field === undefined || refusal.field === want.field) return true;
  return refusal.field === undefined && want.modality !== undefined &&
    refusal.modality?.startsWith(want.modality) === true;
}

function label(
  refusal: { readonly code: string | readonly string[]; readonly field?: string },
): string {
  const field = refusal.field === undefined ? "" : ` of ${refusal.field}`;
  return `${typeof refusal.code === "string" ? refusal.code : refusal.code.join("|")}${field}`;
}
