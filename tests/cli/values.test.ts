import { describe, expect, test } from "bun:test";
import { exitCodeOf } from "../../src/cli/exit-codes.ts";
import { graphColumns } from "../../src/cli/graph.ts";
import { redactor } from "../../src/cli/redact.ts";
import { bytesText, table, usesColor, wrap } from "../../src/cli/style.ts";
import { timeText } from "../../src/cli/time.ts";
import {
  parseCount,
  parseDuration,
  parsePick,
  parseSample,
  setting,
} from "../../src/cli/values.ts";
import type { Fault } from "../../src/errors.ts";

describe("durations", () => {
  test.each([
    ["90", 90_000],
    ["90s", 90_000],
    ["1.5", 1_500],
    ["10m", 600_000],
    ["2h", 7_200_000],
    ["250ms", 250],
  ])("%s", (text, milliseconds) => {
    expect(parseDuration("--timeout", text)).toBe(milliseconds);
  });

  test.each(["", "0", "-1", "10 minutes", "1d", "soon", "9999h"])("%j is refused", (text) => {
    expect(() => parseDuration("--timeout", text)).toThrow("--timeout");
  });
});

describe("numbers, picks and samples", () => {
  test("a count within its bounds", () => {
    expect(parseCount("-n", "20", 1, 100)).toBe(20);
  });
  test.each(["0", "101", "1e1", "-1", "", "0x10", "99999999999999999999"])(
    "the count %j is refused",
    (text) => expect(() => parseCount("-n", text, 1, 100)).toThrow("-n"),
  );
  test("a pick is cut at the last =, since modalities hold some", () => {
    expect(parsePick("array.f32.kind=constant.shape=2=trunk"))
      .toEqual(["array.f32.kind=constant.shape=2", "trunk"]);
  });
  test.each(["", "title.text", "=trunk", "title.text="])("the pick %j is refused", (text) => {
    expect(() => parsePick(text)).toThrow("--pick");
  });
  test("a sample", () => expect(parseSample("3/30")).toEqual({ part: 3, parts: 30 }));
  test.each(["0/3", "4/3", "1", "1/0", "a/b"])("the sample %j is refused", (text) => {
    expect(() => parseSample(text)).toThrow("--sample");
  });
});

test("a flag wins over a variable, a variable over the default, and empty variables are unset", () => {
  expect(setting("flag", "variable", "default")).toBe("flag");
  expect(setting(undefined, "variable", "default")).toBe("variable");
  expect(setting(undefined, "", "default")).toBe("default");
  expect(setting(undefined, undefined, undefined)).toBeUndefined();
});

describe("exit codes", () => {
  const told = { found: "", expected: "", next: "" };
  const codes: readonly [Fault, number][] = [
    [{ ...told, code: "malformed-cbor", offset: 0 }, 9],
    [{ ...told, code: "malformed-address" }, 9],
    [{ ...told, code: "malformed-object", kind: "track" }, 9],
    [{ ...told, code: "hash-mismatch", path: "" }, 9],
    [{ ...told, code: "object-missing", path: "" }, 9],
    [{ ...told, code: "malformed-ref", name: "" }, 9],
    [{ ...told, code: "invalid-ref-name", name: "" }, 2],
    [{ ...told, code: "usage" }, 2],
    [{ ...told, code: "conditions-ignored", url: "" }, 2],
    [{ ...told, code: "lock-unavailable", path: "" }, 2],
    [{ ...told, code: "ref-missing", names: [] }, 4],
    [{ ...told, code: "store-missing", url: "" }, 4],
    [{ ...told, code: "publish-conflict", ref: "", attempts: 1 }, 5],
    [{ ...told, code: "permission-denied", action: "", path: "" }, 6],
    [{ ...told, code: "store-failure", action: "", path: "" }, 7],
    [{ ...told, code: "lock-timeout", path: "" }, 7],
    [{ ...told, code: "publish-unknown", ref: "", manifest: "" }, 8],
    [{ ...told, code: "internal" }, 1],
    [{ ...told, code: "interrupted", signal: "SIGINT", refMoved: false }, 130],
    [{ ...told, code: "interrupted", signal: "SIGTERM", refMoved: false }, 143],
    [{ ...told, code: "interrupted", signal: "timeout", refMoved: false }, 143],
  ];
  test.each(codes)("%o", (fault, code) => expect(exitCodeOf(fault) as number).toBe(code));
});

test("credentials are taken out of what is printed", () => {
  const redact = redactor({ AWS_SECRET_ACCESS_KEY: "s3cr3t-s3cr3t", AWS_SESSION_TOKEN: "" });
  expect(redact("ftp://me:pass@host/x and s3cr3t-s3cr3t")).toBe("ftp://***@host/x and ***");
  expect(redact("https://h/b?X-Amz-Credential=AKIA%2F1&X-Amz-Signature=ab12&x=1"))
    .toBe("https://h/b?X-Amz-Credential=***&X-Amz-Signature=***&x=1");
  expect(redact("file:///a@b and w0@v1")).toBe("file:///a@b and w0@v1");
});

describe("colour", () => {
  const cases: readonly [Parameters<typeof usesColor>, boolean][] = [
    [["auto", {}, true], true],
    [["auto", {}, false], false],
    [["auto", { NO_COLOR: "1" }, true], false],
    [["auto", { NO_COLOR: "" }, true], true],
    [["auto", { FORCE_COLOR: "1" }, false], true],
    [["auto", { FORCE_COLOR: "1", NO_COLOR: "1" }, false], false],
    [["auto", { CLICOLOR: "0" }, true], false],
    [["auto", { TERM: "dumb" }, true], false],
    [["always", { NO_COLOR: "1" }, false], true],
    [["never", { FORCE_COLOR: "1" }, true], false],
  ];
  test.each(cases)("%j", (parameters, colored) => expect(usesColor(...parameters)).toBe(colored));
});

test("sizes, times, paragraphs and tables for people", () => {
  expect([0, 999, 1_000, 1_540_000, 999_999, 5e12].map(bytesText))
    .toEqual(["0 B", "999 B", "1.0 kB", "1.5 MB", "1.0 MB", "5.0 TB"]);
  expect(timeText(1_800_000_000_123_456_789n)).toBe("2027-01-15T08:00:00.123456789Z");
  expect(timeText(2n ** 64n - 1n)).toBe("2554-07-21T23:34:33.709551615Z");
  expect(wrap("one two three", 8, "  ")).toEqual(["  one", "  two", "  three"]);
  expect(table(["NAME", "N"], [["a", "5"], ["bbbbb", "10"]]))
    .toEqual(["NAME    N", "a       5", "bbbbb  10"]);
});

test("the lines of history beside a log", () => {
  const entries = [
    { address: "m", parents: ["a", "b"] },
    { address: "b", parents: ["base"] },
    { address: "a", parents: ["base"] },
    { address: "base", parents: [] },
  ];
  expect(graphColumns(entries).map(({ head }) => head)).toEqual(["M ", "| * ", "* | ", "* "]);
});
