/**
 * The conformance suite as a program: runs a command against every golden store and prints a table
 * scenario × result. Any implementation with the same command line can be tested:
 *
 *     DREAMDB=/path/to/dreamdb npm run conformance [-- --only PART] [--backend WHERE] [--docs]
 *
 * `--only PART` takes the scenarios whose name contains PART; `--docs` writes docs/conformance.md.
 * `--backend s3` puts every store into a bucket of gofakes3, `--backend versitygw` into one of
 * versitygw (both installed by scripts/install-s3-servers.sh); otherwise they are folders.
 * The exit code is 1 when anything differs.
 *
 * @module
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { projectRoot } from "../support/fixtures.ts";
import { referenceMissing } from "../support/reference.ts";
import { Checker } from "./checker.ts";
import { commandUnderTest } from "./document.ts";
import { expectations, referenceAnswers } from "./expectation.ts";
import { type Outcome, runScenario } from "./scenario.ts";
import { buckets, folders, type StorePlaces } from "./placed-store.ts";
import { conformancePage, printed } from "./table.ts";

/** The reference answers one question at a time; while it does, another scenario can merge. */
const workers = 2;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      only: { type: "string", multiple: true },
      backend: { type: "string", default: "file" },
      docs: { type: "boolean", default: false },
    },
  });
  if (referenceMissing !== undefined) {
    console.error(referenceMissing);
    return 1;
  }
  const parts = values.only ?? [];
  const chosen = expectations().filter(({ name }) =>
    parts.length === 0 || parts.some((part) => name.includes(part))
  );
  const command = commandUnderTest();
  console.log(`command: ${command.join(" ")}`);
  const places = await placesFor(values.backend);
  const checker = await Checker.start(places.environment);
  const outcomes: Outcome[] = [];
  const queue = chosen.entries();
  const worker = async (): Promise<void> => {
    for (const [position, expected] of queue) {
      const started = performance.now();
      const outcome = await runScenario(expected, command, checker, places);
      outcomes[position] = outcome;
      console.log(printed(outcome, performance.now() - started));
    }
  };
  await Promise.all(Array.from({ length: workers }, worker));
  checker.stop();
  await places.stop();
  const failed = outcomes.filter(({ problems }) => problems.length > 0).length;
  console.log(`\n${outcomes.length - failed} scenarios as expected, ${failed} not`);
  if (values.docs) {
    const page = conformancePage(outcomes, referenceAnswers());
    writeFileSync(join(projectRoot, "docs/conformance.md"), page);
  }
  return failed > 0 || outcomes.length === 0 ? 1 : 0;
}

async function placesFor(backend: string): Promise<StorePlaces> {
  switch (backend) {
    case "file":
      return folders();
    case "s3":
    case "gofakes3":
      return await buckets("gofakes3");
    case "versitygw":
      return await buckets("versitygw");
    default:
      throw new Error(`--backend ${backend}: expected file, s3, gofakes3 or versitygw`);
  }
}

process.exitCode = await main();
