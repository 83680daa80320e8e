// Runs the Bun that package.json pins:  node scripts/bun.mjs FILE ARGUMENT...
//
// Where no install scripts were run, node_modules/.bin/bun is a placeholder that only prints an error; the real
// executable is then still in the package of this platform.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const smallestExecutable = 1 << 20;

function findBun() {
  const platforms = join(root, "node_modules/@oven");
  const names = existsSync(platforms) ? readdirSync(platforms).sort() : [];
  const candidates = [
    join(root, "node_modules/bun/bin/bun.exe"),
    ...names.flatMap((name) => [
      join(platforms, name, "bin/bun"),
      join(platforms, name, "bin/bun.exe"),
    ]),
  ];
  return candidates.find((path) =>
    existsSync(path) && statSync(path).size > smallestExecutable &&
    spawnSync(path, ["--version"]).status === 0
  );
}

const bun = findBun();
if (bun === undefined) {
  console.error("Bun was not found in node_modules; run npm ci first.");
  process.exit(1);
}
// These two change what every Bun executable does, ours included.
const { BUN_BE_BUN: _beBun, BUN_OPTIONS: _options, ...env } = process.env;
const { status, error } = spawnSync(bun, process.argv.slice(2), {
  cwd: root,
  stdio: "inherit",
  env,
});
if (error) console.error(`${bun} could not be run: ${error.message}`);
process.exitCode = status ?? 1;
