import { afterAll, beforeAll, expect, test } from "bun:test";
import { dreamdbCommand } from "../support/dreamdb.ts";
import { describeWithReference } from "../support/describe-reference.ts";
import { Checker } from "./checker.ts";
import { expectations } from "./expectation.ts";
import { folders } from "./placed-store.ts";
import { runScenario } from "./scenario.ts";

describeWithReference("conformance", () => {
  let checker: Checker;
  beforeAll(async () => {
    checker = await Checker.start();
  }, 300_000);
  afterAll(() => checker.stop());

  for (const expected of expectations()) {
    test(`${expected.name}: ${expected.rule}`, async () => {
      const { problems } = await runScenario(
        expected,
        dreamdbCommand(),
        checker,
        folders(),
      );
      expect(problems).toEqual([]);
    }, 300_000);
  }
});
