import { describe, expect, test } from "bun:test";
import { DreamDBError } from "../../src/errors.ts";
import {
  checkRefName,
  checkWritableRefName,
  isRefName,
  isReservedRefName,
  quoteRefName,
} from "../../src/model/ref-name.ts";

const longest = Array.from({ length: 4 }, () => "a".repeat(63)).join("/") + "b";

const accepted = [
  "trunk",
  "ingest-w-0",
  "-x",
  "_",
  "@",
  "a@v1",
  "a@@b",
  "team/a/b",
  "a".repeat(64),
  longest,
  "con",
  "tags",
  "tags/v1",
  "0",
];

const refused: readonly (readonly [string, RegExp])[] = [
  ["", /empty/],
  ["$BRANCH", /unexpanded/],
  ["ingest-w-$(JOB_COMPLETION_INDEX)", /unexpanded/],
  ["ingest-w-${I}", /unexpanded/],
  ["ingest-w-{0..63}", /unexpanded/],
  ["Trunk", /lower case/],
  ["DOCS/x", /lower case/],
  ["..", /\.\./],
  ["../x", /\.\./],
  ["a/../b", /\.\./],
  [".x", /dots/],
  ["x.lock", /dots/],
  ["a.b", /dots/],
  ["/x", /"\/"/],
  ["x/", /"\/"/],
  ["a//b", /"\/"/],
  ["/", /"\/"/],
  ["a b", /white space/],
  ["a,b", /white space or comma/],
  ["a\n", /white space/],
  ["a\0b", /allowed/],
  ["a\\b", /allowed/],
  ["a:b", /allowed/],
  ["a~1", /allowed/],
  ["a^", /allowed/],
  ["a?b", /allowed/],
  ["*", /allowed/],
  ["a%2fb", /allowed/],
  ["a+b", /allowed/],
  ["é", /allowed/],
  ["日本", /allowed/],
  ["a\u202eb", /allowed/],
  ["a\u200bb", /allowed/],
  ["ａ", /allowed/],
  ["a".repeat(65), /segment of 65/],
  [`${longest}c`, /257 characters/],
  ["a/".repeat(200) + "a", /401 characters/],
];

describe("ref names", () => {
  test("have 256 characters at most", () => {
    expect(longest).toHaveLength(256);
  });

  for (const name of accepted) {
    test(`accepts ${quoteRefName(name)}`, () => {
      expect(isRefName(name)).toBe(true);
      checkRefName(name);
    });
  }

  for (const [name, hint] of refused) {
    test(`refuses ${quoteRefName(name)} and says why`, () => {
      expect(isRefName(name)).toBe(false);
      const error = thrownBy(() => checkRefName(name));
      expect(error.fault).toMatchObject({ code: "invalid-ref-name", name });
      expect(error.fault.next).toMatch(hint);
      expect(error.message).toMatch(/^[\x20-\x7e…]*$/);
    });
  }

  test("below tags are read but not written", () => {
    for (const name of ["tags", "tags/v1"]) {
      expect(isReservedRefName(name)).toBe(true);
      expect(thrownBy(() => checkWritableRefName(name)).code).toBe("invalid-ref-name");
    }
    for (const name of ["tagsx", "a/tags", "tag"]) {
      expect(isReservedRefName(name)).toBe(false);
      checkWritableRefName(name);
    }
  });

  test("are cut when shown", () => {
    expect(quoteRefName("x".repeat(1000))).toBe(`"${"x".repeat(80)}"… (1000 characters)`);
  });
});

function thrownBy(call: () => void): DreamDBError {
  try {
    call();
  } catch (error) {
    if (error instanceof DreamDBError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}
