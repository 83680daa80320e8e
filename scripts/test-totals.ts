/** How many tests of a run passed, failed and were skipped. */
export interface Totals {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** What is known of one run of `bun test`. */
export interface TestRun {
  /** The content of its JUnit file; empty when there is none. */
  readonly xml: string;
  readonly exitCode: number;
  /** What it wrote to stderr. */
  readonly output: string;
}

/**
 * What one run of `bun test` amounts to. A test file that does not load is an error on the console
 * and in no JUnit file; a run that failed with nothing to show for it is one failure.
 */
export function countRun({ xml, exitCode, output }: TestRun): Totals {
  const head = /<testsuites\b[^>]*>/.exec(xml)?.[0] ?? "";
  const numberOf = (name: string) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(head)?.[1] ?? 0);
  const failures = numberOf("failures");
  const skipped = numberOf("skipped");
  const unloaded = Number(/^\s*(\d+) errors?\s*$/m.exec(withoutColours(output))?.[1] ?? 0);
  const failed = failures + unloaded;
  return {
    passed: numberOf("tests") - failures - skipped,
    failed: failed === 0 && exitCode !== 0 ? 1 : failed,
    skipped,
  };
}

/** All runs together. */
export function sumTotals(runs: readonly Totals[]): Totals {
  const sumOf = (key: keyof Totals) => runs.reduce((sum, run) => sum + run[key], 0);
  return { passed: sumOf("passed"), failed: sumOf("failed"), skipped: sumOf("skipped") };
}

function withoutColours(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replace(/\x1b\[[0-9;]*m/g, "");
}
