import { afterAll, beforeAll, expect, test } from "bun:test";
import { compiledExecutable } from "../support/dreamdb.ts";
import { describeWithReference } from "../support/describe-reference.ts";
import { Checker } from "./checker.ts";
import { expectations } from "./expectation.ts";
import { folders } from "./placed-store.ts";
import { runScenario } from "./scenario.ts";

describeWithReference("conformance", () => {
  let checker: Checker;
  let executable: string;
  beforeAll(async () => {
    // The suite starts the program some two thousand times, and the sources take ten times as long
    // to start as what is shipped.
    executable = await compiledExecutable();
    checker = await Checker.start();
  }, 300_000);
  afterAll(() => checker.stop());

  for (const expected of expectations()) {
    test(`${expected.name}: ${expected.rule}`, async () => {
      const { problems } = await runScenario(
        expected,
        [executable],
        checker,
        folders(),
      );
      expect(problems).toEqual([]);
    }, 300_000);
  }
});
