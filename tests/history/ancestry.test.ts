import type { Address } from "../../src/encoding/address.ts";
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import { addressFor, Graph } from "./graph.ts";
import type { Line } from "./graph.ts";

setDefaultTimeout(60_000);

const chain = (prefix: string, from: string, length: number): Line[] =>
  Array.from({ length }, (_, step) => [
    `${prefix}${step + 1}`,
    step === 0 ? from : `${prefix}${step}`,
  ]);

describe("common ancestors", () => {
  const shapes: readonly {
    readonly name: string;
    readonly lines: readonly Line[];
    readonly tips: string;
    /** Of all tips, then of trunk and each branch. */
    readonly bases: readonly string[];
  }[] = [
    {
      name: "a branch ahead of trunk",
      lines: [["a", ""], ["b", "a"], ["c", "b"]],
      tips: "b c",
      bases: ["b", "b"],
    },
    {
      name: "a branch behind trunk",
      lines: [["a", ""], ["b", "a"], ["c", "b"]],
      tips: "c a",
      bases: ["a", "a"],
    },
    {
      name: "a fork",
      lines: [["r", ""], ["a", "r"], ["t", "a"], ["w0", "a"], ["w1", "a"]],
      tips: "t w0 w1",
      bases: ["a", "a", "a"],
    },
    {
      name: "forks from several Manifests of trunk",
      lines: [["a", ""], ["w0", "a"], ["b", "a"], ["w1", "b"], ["t", "b"]],
      tips: "t w0 w1",
      bases: ["a", "a", "b"],
    },
    {
      name: "a branch of a branch",
      lines: [["a", ""], ["x", "a"], ["w0", "x"], ["w1", "x"], ["t", "a"]],
      tips: "t w0 w1",
      bases: ["a", "a", "a"],
    },
    {
      name: "an octopus among the ancestors",
      lines: [
        ["a", ""],
        ["x", "a"],
        ["y", "a"],
        ["z", "a"],
        ["m", "a x y z"],
        ["t", "m"],
        ["w", "y"],
      ],
      tips: "t w",
      bases: ["y", "y"],
    },
    {
      name: "a second round of the same workers",
      lines: [
        ["a", ""],
        ["x1", "a"],
        ["y1", "a"],
        ["m", "a x1 y1"],
        ["x2", "x1"],
        ["y2", "y1"],
      ],
      tips: "m x2 y2",
      bases: ["a", "x1", "y1"],
    },
    {
      name: "a third round",
      lines: [
        ["a", ""],
        ["x1", "a"],
        ["y1", "a"],
        ["m1", "a x1 y1"],
        ["x2", "x1"],
        ["y2", "y1"],
        ["m2", "m1 x2 y2"],
        ["x3", "x2"],
        ["y3", "y2"],
      ],
      tips: "m2 x3 y3",
      bases: ["a", "x2", "y2"],
    },
    {
      name: "trunk was merged into a branch first",
      lines: [["a", ""], ["x", "a"], ["b", "a"], ["w", "x b"], ["t", "b"]],
      tips: "t w",
      bases: ["b", "b"],
    },
    {
      name: "a criss-cross",
      lines: [["a", ""], ["x", "a"], ["y", "a"], ["t", "x y"], ["w", "y x"]],
      tips: "t w",
      bases: ["x y", "x y"],
    },
    {
      name: "two common ancestors of which one is behind the other",
      lines: [
        ["c", ""],
        ["b", "c"],
        ["y", "c"],
        ["x", "c"],
        ["t", "b y"],
        ["w", "x b"],
      ],
      tips: "t w",
      bases: ["b", "b"],
    },
    {
      name: "unrelated histories",
      lines: [["a", ""], ["b", ""], ["t", "a"], ["w", "b"]],
      tips: "t w",
      bases: ["", ""],
    },
    {
      name: "one branch of two is unrelated",
      lines: [["a", ""], ["b", ""], ["t", "a"], ["w0", "a"], ["w1", "b"]],
      tips: "t w0 w1",
      bases: ["", "a", ""],
    },
    {
      name: "a parent named twice",
      lines: [["a", ""], ["t", "a a"], ["w", "a"]],
      tips: "t w",
      bases: ["a", "a"],
    },
  ];
  test.each(shapes.map((shape) => [shape.name, shape] as const))("%s", async (_, shape) => {
    expect(await new Graph(shape.lines).bases(shape.tips.split(" "))).toEqual([...shape.bases]);
  });

  test("times that run backwards change no answer", async () => {
    const lines: Line[] = [
      ["a", "", 50n],
      ["b", "a", 10n],
      ["t", "b", 5n],
      ["w0", "b", 99n],
      ["w1", "a", 1n],
    ];
    expect(await new Graph(lines).bases(["t", "w0", "w1"])).toEqual(["a", "b", "a"]);
  });

  test("of every random history the answer is that of looking at everything", async () => {
    const histories = fc.array(
      fc.record({
        parents: fc.array(fc.nat(), { maxLength: 3 }),
        ts: fc.option(fc.bigInt(0n, 20n), { nil: undefined }),
      }),
      { minLength: 2, maxLength: 14 },
    );
    await fc.assert(
      fc.asyncProperty(
        histories,
        fc.array(fc.nat(), { minLength: 2, maxLength: 4 }),
        async (drawn, picks) => {
          const lines = drawn.map(({ parents, ts }, index): Line => {
            const names = index === 0
              ? []
              : [...new Set(parents.map((parent) => `m${parent % index}`))];
            return ts === undefined
              ? [`m${index}`, names.join(" ")]
              : [`m${index}`, names.join(" "), ts];
          });
          const tips = [...new Set(picks.map((pick) => `m${pick % lines.length}`))];
          const graph = new Graph(lines);
          expect(await graph.bases(tips)).toEqual([
            graph.bestSlowly(tips),
            ...tips.slice(1).map((tip) => graph.bestSlowly([tips[0] ?? "", tip])),
          ]);
        },
      ),
      { numRuns: 600 },
    );
  });
});

describe("what is read", () => {
  test("nothing behind the base, and each Manifest once", async () => {
    const lines = [
      ...chain("old", "", 50),
      ...chain("t", "old50", 3),
      ...chain("x", "old50", 4),
      ...chain("y", "old50", 2),
    ];
    const graph = new Graph(lines);
    expect(await graph.bases(["t3", "x4", "y2"])).toEqual(["old50", "old50", "old50"]);
    expect([...graph.read].sort()).toEqual(["old50", "t1", "t2", "x1", "x2", "x3", "y1"]);
  });

  test("a branch that forked long ago is followed to its fork and no further", async () => {
    const lines = [...chain("old", "", 20), ...chain("t", "old20", 30), ...chain("x", "old20", 1)];
    const graph = new Graph(lines);
    await graph.bases(["t30", "x1"]);
    expect(graph.read).not.toContain("old19");
    expect(graph.read).toHaveLength(30);
  });
});

describe("missing Manifests", () => {
  const lines: readonly Line[] = [
    ["a", ""],
    ["b", "a"],
    ["x", "b"],
    ["t", "b x"],
    ["w", "b"],
  ];
  test("behind the base they are not noticed", async () => {
    expect(await new Graph(lines).collect("a").bases(["t", "w"])).toEqual(["b", "b"]);
  });
  test("a missing second parent is a dead end", async () => {
    expect(await new Graph(lines).collect("x").bases(["t", "w"])).toEqual(["b", "b"]);
  });
  test("without the base there is none", async () => {
    expect(await new Graph(lines).collect("b").bases(["t", "w"])).toEqual(["", ""]);
  });
});

describe("the bound", () => {
  const lines = [...chain("t", "", 1), ...chain("x", "t1", 1001)];
  test.each(
    [
      ["1,000 steps", "x1000", 1000, ["t1", "t1"]],
      ["1,001 steps", "x1001", 1000, ["too far: 1"]],
      ["1,001 steps with a larger bound", "x1001", 1001, ["t1", "t1"]],
    ] as const,
  )("%s", async (_, tip, maxDepth, expected) => {
    expect(await new Graph(lines).bases(["t1", tip], maxDepth)).toEqual([...expected]);
  });
  test("steps count on trunk too, each side for itself", async () => {
    const both = [...chain("a", "", 1), ...chain("t", "a1", 6), ...chain("x", "a1", 3)];
    expect(await new Graph(both).bases(["t6", "x3"], 5)).toEqual(["too far: 0"]);
    expect(await new Graph(both).bases(["t6", "x3"], 6)).toEqual(["a1", "a1"]);
  });
  test("two unrelated long histories end at the bound", async () => {
    const apart = [...chain("t", "", 30), ...chain("x", "", 30)];
    const [answer] = await new Graph(apart).bases(["t30", "x30"], 10);
    expect(answer).toStartWith("too far");
  });
});

describe("history that branches share and trunk lacks", () => {
  const shared = async (lines: readonly Line[], tips: readonly string[]) => {
    const graph = new Graph(lines);
    const walked = await graph.walk(tips);
    if (walked.status !== "walked") throw new Error("the walk did not end");
    const names = (addresses: readonly Address[]) =>
      addresses.map((one) => graph.name(one)).sort().join();
    return walked.sharedApart.map(({ address, positions, bases, older }) =>
      [
        `${graph.name(address)}: ${positions.join(" ")} from ${names(bases)}`,
        ...older.length === 0 ? [] : [`over ${names(older)}`],
      ].join(" ")
    ).sort();
  };
  test.each(
    [
      ["none", [["a", ""], ["t", "a"], ["x", "a"], ["y", "a"]], "t x y", []],
      ["two branches of one", [["a", ""], ["s", "a"], ["x", "s"], ["y", "s"]], "a x y", [
        "s: 1 2 from a",
      ]],
      ["a branch of a branch", [["a", ""], ["x", "a"], ["y", "x"]], "a x y", ["x: 1 2 from a"]],
      [
        "an older base than that of the branches, which have merged trunk since",
        [["a", ""], ["t", "a"], ["s", "a"], ["x", "s t"], ["y", "s t"]],
        "t x y",
        ["s: 1 2 from a"],
      ],
      [
        "a base behind a merge, and not the one behind that",
        [["a", ""], ["b", "a"], ["p", "a"], ["s", "p b"], ["x", "s"], ["y", "s"]],
        "b x y",
        ["s: 1 2 from b"],
      ],
      [
        "two bases, neither behind the other",
        [["a", ""], ["b", "a"], ["c", "a"], ["t", "b c"], ["s", "b c"], ["x", "s t"], ["y", "s t"]],
        "t x y",
        ["s: 1 2 from b,c"],
      ],
      [
        "three, two of them longer",
        [["a", ""], ["s", "a"], ["u", "s"], ["x", "u"], ["y", "u"], ["z", "s"]],
        "a x y z",
        ["s: 1 2 3 from a", "u: 1 2 from a over s"],
      ],
    ] as const,
  )("%s", async (_, lines, tips, expected) => {
    expect(await shared(lines, tips.split(" "))).toEqual([...expected]);
  });
});

test("a tip reaches itself and its ancestors", async () => {
  const walked = await new Graph([["a", ""], ["t", "a"], ["x", "a"]]).walk(["t", "x"]);
  if (walked.status !== "walked") throw new Error("the walk did not end");
  expect(walked.reaches(1, addressFor("x"))).toBe(true);
  expect(walked.reaches(1, addressFor("a"))).toBe(true);
  expect(walked.reaches(1, addressFor("t"))).toBe(false);
});
