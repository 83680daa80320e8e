/**
 * Merges the same stores with the published reference and with our executable, by turns:
 * `npm run bench -- --help`.
 *
 * @module
 */

import { writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg, release, totalmem, type } from "node:os";
import { resolve } from "node:path";
import { referencePython, referenceRelease } from "../tests/support/reference.ts";
import { BenchStore } from "./bench-store.ts";
import { Case } from "./case.ts";
import { help, type Options, parseOptions, repeatCommand } from "./options.ts";
import { buildMissing, firstLine, makeStores, Programs, projectRoot } from "./programs.ts";
import { resultsDocument } from "./results.ts";
import { ratiosOf } from "./spread.ts";
import { canTrace } from "./trace.ts";

await main();

async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  if (options === undefined) return console.log(help);
  if (options.trace && !canTrace()) throw new Error("--trace needs strace, which was not found");
  const began = performance.now();
  const minutes = () => (performance.now() - began) / 60_000;
  const executable = resolve(projectRoot, options.executable);
  buildMissing(executable);
  const python = await referencePython();
  const folders = makeStores(python, options.stores);
  tell(`the stores are ready after ${minutes().toFixed(1)} minutes`);

  const loadBefore = loadavg()[0] ?? 0;
  const programs = new Programs(python, executable);
  const cases = folders.flatMap((folder, index) => {
    const files = new BenchStore(folder);
    const store = options.stores[index] ?? "";
    return options.branches.map((branches) =>
      new Case(programs, files, { store, branches, modes: options.modes })
    );
  });
  try {
    await measure(cases, options, minutes);
  } finally {
    programs.close();
  }
  const document = resultsDocument(cases, {
    lines: [
      `${new Date().toISOString().slice(0, 10)}; ${
        firstLine(executable, "--version")
      }; reference ` +
      `dreamdb ${referenceRelease} on ${
        firstLine(python, "--version")
      }; Bun ${process.versions.bun}`,
      `${
        cpus()[0]?.model.trim() ?? "unknown processor"
      }, ${availableParallelism()} of its threads, ` +
      `${Math.round(totalmem() / 2 ** 30)} GiB of memory, ${type()} ${release()}, local disk`,
      `one-minute load ${loadBefore.toFixed(1)} before and ${
        (loadavg()[0] ?? 0).toFixed(1)
      } after ` +
      `(this bench makes about 1 of it)`,
      ...options.note === undefined ? [] : [options.note],
    ],
    command: repeatCommand(process.argv.slice(2)),
  });
  console.log(document);
  if (options.out !== undefined) writeFileSync(resolve(projectRoot, options.out), document);
  tell(`done after ${minutes().toFixed(1)} minutes`);
}

/** Goes through all merges again and again, so that a busy minute does not hit one of them alone. */
async function measure(
  cases: readonly Case[],
  options: Options,
  minutes: () => number,
): Promise<void> {
  for (let round = 1; round <= options.pairs; round++) {
    for (const merge of cases) {
      const name = `${merge.store} N=${merge.branches}`;
      if (round > 1 && minutes() + merge.roundSeconds / 60 > options.minutes) {
        tell(
          `${name}: left out in round ${round}, or it would take more than ${options.minutes} minutes`,
        );
        continue;
      }
      await merge.runOnce();
      tell(`${name}, round ${round}: ${roundText(merge)}`);
    }
  }
  if (options.trace) { for (const merge of cases) merge.trace(); }
}

function roundText(merge: Case): string {
  const wallOf = (way: typeof merge.ways[number]) =>
    merge.measured.get(way)?.costs.at(-1)?.wall ?? Number.NaN;
  return merge.ways.map((way) => {
    const ratio = ratiosOf([wallOf("reference")], [wallOf(way)]).median;
    return `${way} ${wallOf(way).toFixed(2)} s${
      way === "reference" ? "" : ` (${ratio.toFixed(1)})`
    }`;
  }).join(", ");
}

function tell(message: string): void {
  console.error(message);
}
