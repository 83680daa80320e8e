import { describe, expect, test } from "bun:test";
import {
  checkGlob,
  globPrefix,
  matchGlob,
  MOST_BRANCHES,
  parseBranchFile,
  parseBranchList,
} from "../../src/cli/branch-names.ts";
import { DreamDBError } from "../../src/errors.ts";

function faultOf(work: () => unknown): DreamDBError["fault"] {
  try {
    work();
  } catch (error) {
    if (error instanceof DreamDBError) return error.fault;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("a list names", () => {
  const lists: readonly [text: string, names: readonly string[]][] = [
    ["a", ["a"]],
    ["a,b,c", ["a", "b", "c"]],
    ["a, b ,\n c", ["a", "b", "c"]],
    ["a b", ["a", "b"]],
    ["w-{0..3}", ["w-0", "w-1", "w-2", "w-3"]],
    ["w-{3..1}", ["w-3", "w-2", "w-1"]],
    ["w-{8..11}", ["w-8", "w-9", "w-10", "w-11"]],
    ["w-{08..11}", ["w-08", "w-09", "w-10", "w-11"]],
    ["w-{000..2}", ["w-000", "w-001", "w-002"]],
    ["w-{5..5}", ["w-5"]],
    ["x,w-{0..1},y", ["x", "w-0", "w-1", "y"]],
    ["{eu,us}-w{0..1}", ["eu-w0", "eu-w1", "us-w0", "us-w1"]],
    ["w{a, b}", ["wa", "wb"]],
    ["team/w-{0..1}@x", ["team/w-0@x", "team/w-1@x"]],
  ];
  test.each(lists)("%j", (text, names) => {
    expect(parseBranchList("--branches", text)).toEqual(names);
  });

  test("as many as a merge takes, and not one more", () => {
    expect(parseBranchList("--branches", `w{1..${MOST_BRANCHES}}`)).toHaveLength(MOST_BRANCHES);
    expect(faultOf(() => parseBranchList("--branches", `w{0..${MOST_BRANCHES}}`)).code)
      .toBe("usage");
  });

  test("a range of a thousand million is refused before it is made", () => {
    expect(faultOf(() => parseBranchList("--branches", "w{0..999999999}")).code).toBe("usage");
    expect(faultOf(() => parseBranchList("--branches", "{0..9999}{0..9999}{0..9999}")).code)
      .toBe("usage");
  });
});

describe("a list is refused, with a hint", () => {
  const refused: readonly [text: string, code: string, hint: string][] = [
    ["", "usage", "unset variable"],
    ["a,,b", "usage", "comma"],
    ["a,", "usage", "comma"],
    ["w-0,w-1,...,w-63", "usage", "w-{0..63}"],
    ["w-0,…,w-63", "usage", "w-{0..63}"],
    ["w-0..63", "usage", "w-{0..63}"],
    ["w-[0..63]", "usage", "w-{0..63}"],
    ["w-[0-63]", "usage", "w-{0..63}"],
    ["w-{0..}", "usage", "range"],
    ["w-{a..f}", "usage", "range"],
    ["w-{}", "usage", "range"],
    ["w-{1}", "usage", "range"],
    ["w-{0..1", "usage", "{0..63}"],
    ["w-{a,{b,c}}", "usage", "{0..63}"],
    ["w-$JOB_COMPLETION_INDEX", "usage", "$(JOB_COMPLETION_INDEX)"],
    ["w-$(JOB_COMPLETION_INDEX)", "usage", "container's env"],
    ["w-${INDEX}", "usage", "No shell"],
    ["W-1", "invalid-ref-name", "lower case"],
    ["../x", "invalid-ref-name", ".."],
    ["refs/heads/x.y", "invalid-ref-name", "dot"],
  ];
  test.each(refused)("%j", (text, code, hint) => {
    const fault = faultOf(() => parseBranchList("--branches", text));
    expect(fault.code as string).toBe(code);
    expect(fault.next.toLowerCase()).toContain(hint.toLowerCase());
  });
});

describe("a file", () => {
  test("names branches line by line, with comments and ranges", () => {
    const text = "\uFEFF# made by the ingest\r\nw-{0..1}\n\n  a, b # two\nlast";
    expect(parseBranchFile("names.txt", text)).toEqual(["w-0", "w-1", "a", "b", "last"]);
  });

  test("says in which line it is wrong", () => {
    expect(faultOf(() => parseBranchFile("names.txt", "a\n$X\n")).found).toContain(
      "line 2 of names.txt",
    );
  });

  test("without a name is refused", () => {
    expect(faultOf(() => parseBranchFile("names.txt", "# nothing\n")).code).toBe("usage");
  });
});

describe("a glob matches", () => {
  const names = ["trunk", "w-1", "w-2", "w-10", "w-10/x", "team/w-1", "team/a/w-1"];
  const globs: readonly [glob: string, prefix: string, matched: readonly string[]][] = [
    ["w-*", "w-", ["w-1", "w-2", "w-10"]],
    ["w-?", "w-", ["w-1", "w-2"]],
    ["*/w-1", "", ["team/w-1"]],
    ["**/w-1", "", ["team/a/w-1", "team/w-1"]],
    ["w-1", "w-1", ["w-1"]],
    ["x*", "x", []],
  ];
  test.each(globs)("%s", (glob, prefix, matched) => {
    checkGlob(glob);
    expect(globPrefix(glob)).toBe(prefix);
    expect(matchGlob(glob, names)).toEqual(matched);
  });

  test.each(["", "w-$X", "w-[0-9]", "W*"])("%j is refused", (glob) => {
    expect(faultOf(() => checkGlob(glob)).code).toBe("usage");
  });
});
