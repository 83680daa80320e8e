/**
 * Makes fixtures anew with the published reference: `npm run fixtures [-- NAME...]`, all of them
 * when nothing is named. The reference draws random numbers and reads the clock, so that the new
 * files differ from the committed ones; fixtures/README.md tells which tests then need a look.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pythonEnvironment, referencePython } from "../tests/support/reference.ts";

const makers: Readonly<Record<string, () => Promise<void>>> = {
  demo: () => makeAndPack("fixtures/demo/make.py", "fixtures/demo-store.tar.gz"),
  refusals: () => makeAndPack("fixtures/refusals/make.py", "fixtures/refusals.tar.gz"),
  golden: makeGolden,
};

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(makers);
const unknown = names.filter((name) => makers[name] === undefined);
if (unknown.length > 0) {
  console.error(
    `unknown: ${unknown.join(", ")}; expected some of ${Object.keys(makers).join(", ")}`,
  );
  process.exit(2);
}
for (const name of names) await makers[name]?.();

async function makeAndPack(script: string, archive: string): Promise<void> {
  mkdirSync("build", { recursive: true });
  const folder = mkdtempSync("build/fixture-");
  const made = join(folder, "made");
  mustRun(await referencePython(), [script, made]);
  mustRun(process.execPath, ["scripts/pack.mjs", made, archive]);
  rmSync(folder, { recursive: true });
}

async function makeGolden(): Promise<void> {
  const requirements = ["-r", "fixtures/golden/requirements.txt"];
  const probe = "import dreamdb, numpy, cbor2, blake3";
  mustRun(await pythonEnvironment("golden", requirements, probe), ["fixtures/golden/make.py"]);
}

function mustRun(program: string, args: readonly string[]): void {
  const { status, error } = spawnSync(program, args, { stdio: "inherit" });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${args[0]} ended with ${status}`);
}
