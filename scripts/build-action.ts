/**
 * Bundles the GitHub Action into one file that needs no installed packages:
 * `npm run build:action [-- OUTFILE]`; dist/index.js when no file is named.
 *
 * The same sources and package-lock.json give the same bytes in every folder, which
 * `npm run check:dist` relies on. The bundle is not minified: people read it before they run it.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";

const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };

/** Bundles action/main.ts into `outfile`; returns whether it worked. */
export function buildAction(outfile: string): boolean {
  mkdirSync(dirname(outfile), { recursive: true });
  const { status } = spawnSync(process.execPath, [
    "build",
    "--target=node",
    "--format=esm",
    // An addon of this machine would be of no use on the runner's; the portable hash takes over.
    "--external",
    "@napi-rs/blake-hash",
    "--define",
    `DREAMDB_VERSION=${JSON.stringify(version)}`,
    "--define",
    `DREAMDB_COMMIT="action"`,
    "--outfile",
    outfile,
    "action/main.ts",
  ], { stdio: ["ignore", "ignore", "inherit"] });
  return status === 0;
}

if (import.meta.main) {
  const outfile = process.argv[2] ?? "dist/index.js";
  if (buildAction(outfile)) {
    console.log(`${outfile}: ${(statSync(outfile).size / 1e6).toFixed(2)} MB, version ${version}`);
  } else process.exitCode = 1;
}
