/**
 * Large merges on request: `node scripts/bun.mjs tests/merge/scale/run.ts [reference|memory|cost]...`
 *
 * - reference: stores of 20,000 to 200,000 entries, merged with 3 and 16 branches, beside the
 *   reference's merges. Making the stores takes an hour; they stay in build/scale.
 * - memory: 2 million entries and 16 branches; ends with 1 when a merge needs 256 MB or more.
 * - cost: pages and bytes for 64 branches with entries in 80 places each, and with twice the trunk.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { projectRoot } from "../../support/fixtures.ts";
import { checkMerge, linkedStore, madeStore, roundTripPages } from "./check.ts";
import type { ScaleStore } from "./check.ts";

const MOST_MEGABYTES = 256;

const stores: readonly ScaleStore[] = [
  { kind: "spatial", keys: "random", entries: 20_000 },
  { kind: "spatial", keys: "clustered", entries: 60_000 },
  { kind: "fragment", keys: "random", entries: 200_000 },
  { kind: "scalar", keys: "clustered", entries: 20_000 },
  { kind: "scalar", keys: "random", entries: 60_000 },
];

const asked = process.argv.slice(2);
const wants = (name: string): boolean => asked.length === 0 || asked.includes(name);
if (wants("reference")) await reference();
if (wants("memory")) memory();
if (wants("cost")) cost();

async function reference(): Promise<void> {
  for (const store of stores) {
    const made = await madeStore(store);
    const name = `${store.kind} ${store.keys} ${store.entries}`;
    const { pages, differing } = roundTripPages(made);
    report(`${name}: ${pages} pages, ${differing.length} differ when written again`, differing);
    for (const count of [3, 16]) {
      const { problems, report: told, seconds } = await checkMerge(store, linkedStore(made), count);
      report(
        `${name}, N = ${count}: ${seconds.toFixed(2)} s, ${told.read.pages} pages read, ` +
          `${told.written.pages} written, ${problems.length} problems`,
        problems,
      );
    }
  }
}

function memory(): void {
  for (const kind of ["spatial", "scalar"]) {
    const folder = madeIndex(kind, 2_000_000, 16);
    for (const way of ["copy", "whole"]) {
      const told = merged(folder, kind, way, 16);
      const megabytes = told["peakMegabytes"] ?? Infinity;
      report(
        `${kind}, ${way}: ${JSON.stringify(told)}`,
        megabytes < MOST_MEGABYTES ? [] : [`${megabytes} MB`],
      );
    }
  }
}

function cost(): void {
  for (const entries of [60_000, 120_000]) {
    const told = merged(madeIndex("spatial", entries, 64), "spatial", "copy", 64);
    report(`spatial, ${entries} entries, N = 64: ${JSON.stringify(told)}`, []);
  }
}

function madeIndex(kind: string, entries: number, branches: number): string {
  const parent = join(tmpdir(), "dreamdb-scale");
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, `${kind}-`));
  run("make", folder, kind, String(entries), String(branches));
  return folder;
}

function merged(folder: string, kind: string, way: string, branches: number) {
  return run("merge", folder, kind, way, String(branches));
}

function run(...args: readonly string[]): Readonly<Record<string, number>> {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(projectRoot, "tests/merge/scale/memory.ts"), ...args],
    { encoding: "utf8" },
  );
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Readonly<Record<string, number>>;
}

function report(line: string, problems: readonly string[]): void {
  console.log([line, ...problems.slice(0, 5)].join("\n  "));
  if (problems.length > 0) process.exitCode = 1;
}
