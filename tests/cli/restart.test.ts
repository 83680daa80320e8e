import { describe, expect, test } from "bun:test";
import { shouldRestart } from "../../src/cli/restart.ts";
import type { StartConditions } from "../../src/cli/restart.ts";

describe("the executable starts again without the last compiler", () => {
  const merge: StartConditions = {
    args: ["merge-many", "--ref", "trunk"],
    environment: { HOME: "/home/somebody" },
    platform: "linux",
    cores: 2,
    compiled: true,
  };
  const rows: readonly [string, Partial<StartConditions>, boolean][] = [
    ["for a merge", {}, true],
    ["with as many cores as are few", { cores: 4 }, true],
    ["not with many cores", { cores: 5 }, false],
    ["not for another command", { args: ["log"] }, false],
    ["not for a command that is completed", { args: ["complete", "--", "merge-many"] }, false],
    ["not without a command", { args: [] }, false],
    ["not when it has been started so", { environment: { BUN_JSC_useFTLJIT: "0" } }, false],
    ["not against the user's wish", { environment: { BUN_JSC_useFTLJIT: "1" } }, false],
    ["not from source", { compiled: false }, false],
    ["not elsewhere", { platform: "darwin" }, false],
  ];
  test.each(rows)("%s", (_name, conditions, expected) => {
    expect(shouldRestart({ ...merge, ...conditions })).toBe(expected);
  });
});
