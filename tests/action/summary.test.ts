import { describe, expect, test } from "bun:test";
import { annotationsOf } from "../../action/annotations.ts";
import { code, plain } from "../../action/markdown.ts";
import { reportOutputs } from "../../action/outputs.ts";
import { harmless } from "../../action/runner.ts";
import { reportSummary } from "../../action/summary.ts";
import { addressOf } from "../../src/encoding/address.ts";
import type { Refusal } from "../../src/merge/refusal.ts";
import type { MergeReport } from "../../src/merge/report.ts";

const tip = addressOf(new Uint8Array(1));

const report = (change: Partial<MergeReport>): MergeReport => ({
  status: "refused",
  dryRun: false,
  ref: "trunk",
  trunk: { before: tip, after: tip },
  manifest: null,
  parents: [],
  mergeBase: [tip],
  branches: [{ name: "w0", tip, state: "merged" }],
  recordsAdded: 0,
  fields: [],
  refusals: [],
  warnings: [],
  written: { objects: 0, pages: 0, bytes: 0 },
  read: {
    bytes: 0,
    pages: 0,
    requests: { ref: 0, manifest: 0, track: 0, page: 0, bucket: 0, other: 0 },
  },
  attempts: 1,
  resolvedByReading: false,
  ...change,
});

const refusal = (index: number): Refusal => ({
  code: "duplicate-anchor",
  message: `reason ${index} ${"x".repeat(2000)}`,
  next: "Ingest again.",
  sides: ["w0", "w1"],
  field: `field${index}`,
  anchors: Array.from({ length: 100 }, (_, place) => 1_800_000_000_000_000_000n + BigInt(place)),
  anchorCount: 1_000_000,
});

describe("text from a store", () => {
  const hostile: readonly (readonly [string, string])[] = [
    ["a|b", "a&#124;b"],
    ["<script>", "&#60;script&#62;"],
    ["`code`", "&#96;code&#96;"],
    ["[a](http://b)", "&#91;a&#93;&#40;http://b&#41;"],
    ["a\n\n# b", "a &#35; b"],
    ["a&amp;b", "a&#38;amp;b"],
    ["&#42;", "&#38;&#35;42;"],
    ["*_~!", "&#42;&#95;&#126;&#33;"],
    ["Größe 3 → 4", "Größe 3 &#8594; 4"],
    ["\u202eabc", "&#8238;abc"],
  ];
  for (const [text, expected] of hostile) {
    test(`shows as itself: ${JSON.stringify(text)}`, () => {
      expect(plain(text)).toBe(expected);
      expect(code(text)).toBe(`<code>${expected}</code>`);
    });
  }
});

describe("a log line", () => {
  const lines: readonly (readonly [string, string])[] = [
    ["::set-output name=a::b", "\u200b::set-output name=a::b"],
    ["  ::add-mask::x", "  \u200b::add-mask::x"],
    ["field a\n::error::b", "field a\n\u200b::error::b"],
    ["##[command]rm", "\u200b##[command]rm"],
    ["a::b", "a::b"],
  ];
  for (const [line, expected] of lines) {
    test(`is no command to the runner: ${JSON.stringify(line)}`, () => {
      expect(harmless(line)).toBe(expected);
    });
  }
});

describe("a report with thousands of reasons", () => {
  const large = report({
    refusals: Array.from({ length: 5000 }, (_, index) => refusal(index)),
    branches: Array.from({ length: 5000 }, (_, index) => ({
      name: `ingest-w-${index}`,
      tip,
      state: "merged" as const,
    })),
  });

  test("fits into a job summary of 1 MiB and says what is left out", () => {
    const summary = reportSummary(large);
    expect(summary.length).toBeLessThan(2 ** 20);
    expect(summary).toContain("4950 more are in the report.");
    expect(summary).toContain("4800 more are in the report.");
  });

  test("gives ten annotations, the last of which counts the others", () => {
    const annotations = annotationsOf(large);
    expect(annotations).toHaveLength(10);
    expect(annotations.at(-1)?.message).toStartWith("4991 more");
  });

  test("gives outputs that fit into a job's 1 MiB", () => {
    const outputs = reportOutputs(large, "/report.json");
    expect(JSON.stringify(outputs).length).toBeLessThan(2 ** 19);
    expect(outputs["refusal-count"]).toBe("5000");
  });
});
