/**
 * A real merge to look at: `npm run demo`. Builds the executable, takes a store that three workers
 * have ingested into with the published reference, merges their branches into trunk, and lets the
 * reference count what is there before and after, where Python 3 is at hand.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { FileConnector } from "../src/store/file.ts";
import { backendUrl, unpackFixture } from "../tests/support/fixtures.ts";
import { oracle, referenceMissing, referenceRelease } from "../tests/support/reference.ts";

const executable = "build/dreamdb";
const store = "build/demo-store";
const backend = backendUrl(resolve(store));
const workers = ["w0", "w1", "w2"];
const colours = process.stdout.isTTY && process.env["NO_COLOR"] === undefined;

await main();
process.exit();

async function main(): Promise<void> {
  title("Build");
  mustRun(process.execPath, ["scripts/build.ts"]);
  console.log();
  mustRun(executable, ["--version"]);

  title("A store that three workers have filled");
  rmSync(store, { recursive: true, force: true });
  cpSync(unpackFixture("demo-store"), store, { recursive: true });
  console.log(
    `A night of camera pictures in ${store}: vectors, images, animals, brightness, place.\n` +
      `Each worker forked its branch from trunk and took an hour; trunk went on meanwhile.\n`,
  );
  const before = await showRefs();

  title("Merge");
  showCommand(["merge-many", "--ref", "trunk", "--branches", workers.join(",")]);

  title("The history of trunk");
  showCommand(["log", "-n", "2", "trunk"]);

  title("The refs now");
  const after = await showRefs();
  console.log(`\n${verdict(before, after)}`);
  console.log(`\nOnce more: nothing is left to do.`);
  showCommand(["merge-many", "--ref", "trunk", "--branches", workers.join(",")]);
  console.log(
    `\nThe store stays in ${store}. Have a look:\n\n` +
      `  ${executable} show --backend ${backend} trunk\n`,
  );
}

/** Prints each ref with its Manifest and, with Python 3, its records; returns the anchors by ref. */
async function showRefs(): Promise<ReadonlyMap<string, readonly string[]>> {
  const connector = new FileConnector(backend);
  const anchors = new Map<string, readonly string[]>();
  for (const name of await connector.listRefs()) {
    const manifest = await connector.readRef(name);
    let records = "";
    if (referenceMissing === undefined) {
      const summary = await oracle("summary", backend, name);
      anchors.set(name, summary.anchors);
      records = `${String(summary.count).padStart(6)} records`;
    }
    console.log(`  ${name.padEnd(6)} ${manifest} ${records}`);
  }
  await connector.close();
  if (referenceMissing === undefined) {
    console.log(`  (counted by the reference, PyPI dreamdb ${referenceRelease})`);
  }
  return anchors;
}

/** Whether trunk holds what all refs held, in the words of the one who counted. */
function verdict(
  before: ReadonlyMap<string, readonly string[]>,
  after: ReadonlyMap<string, readonly string[]>,
): string {
  if (referenceMissing !== undefined) return `The reference did not count: ${referenceMissing}.`;
  const expected = new Set([...before.values()].flat());
  const found = after.get("trunk") ?? [];
  const right = found.length === expected.size && found.every((anchor) => expected.has(anchor));
  if (!right) {
    console.error(`The reference finds ${found.length} records, expected ${expected.size}.`);
    process.exit(1);
  }
  return `The reference reads ${found.length} records on trunk: every record of trunk and of the ` +
    `${workers.length} branches, each once.`;
}

function title(text: string): void {
  const line = `\n== ${text} ==\n`;
  console.log(colours ? `\x1b[1m${line}\x1b[0m` : line);
}

function showCommand(args: readonly string[]): void {
  console.log(
    `$ ${[executable, args[0], "--backend", `file://$PWD/${store}`, ...args.slice(1)].join(" ")}`,
  );
  mustRun(executable, [...args, "--backend", backend]);
}

function mustRun(program: string, args: readonly string[]): void {
  const { status, error } = spawnSync(program, args, { stdio: "inherit" });
  if (error !== undefined) throw error;
  if (status !== 0) {
    console.error(`${program} ended with ${status}`);
    process.exit(1);
  }
}
