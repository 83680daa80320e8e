/**
 * Builds everything of a release into build/release:
 *
 *     npm run release [-- TARGET...]        all targets when none is named
 *
 * Executables (compressed, but for Windows), the container image when its executables are among them,
 * shell completions, the bill of materials, install.sh and SHA256SUMS. Equal commits give equal
 * bytes; sizes and the start-up time of this machine's executable are printed.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { commitName, compile, packageVersion } from "./build.ts";
import { makeImage } from "./image.ts";
import { runtimeFolder } from "./image/runtime-files.ts";
import { billOfMaterials, type LockFile } from "./release/bill-of-materials.ts";
import { pinnedBun, stage } from "./release/stage.ts";
import { executableName, type Target, TARGETS } from "./release/targets.ts";

const folder = "build/release";
const work = "build/release-work";
const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

main(process.argv.slice(2));

function main(asked: readonly string[]): void {
  const unknown = asked.filter((name) => !TARGETS.some((target) => target.name === name));
  if (unknown.length > 0) {
    console.error(
      `unknown: ${unknown.join(", ")}; there are: ${TARGETS.map(({ name }) => name).join(", ")}`,
    );
    process.exitCode = 2;
    return;
  }
  const targets = TARGETS.filter(({ name }) => asked.length === 0 || asked.includes(name));
  for (const path of [folder, work]) {
    rmSync(path, { recursive: true, force: true });
    mkdirSync(path, { recursive: true });
  }
  // What is built is what is committed, whatever lies in the folder besides.
  const commit = commitName().replace(/-dirty$/, "");
  const executables = new Map(targets.map((target) => [target.name, build(target, commit)]));
  const own = TARGETS.find(({ os, cpu, name }) =>
    executables.has(name) && os === process.platform && cpu === process.arch
  );
  const executable = own === undefined ? undefined : executables.get(own.name);
  if (executable !== undefined) {
    writeCompletions(executable);
    console.log(`start-up: ${startUp(executable)} ms (median of 11, dreamdb --version)`);
  }
  const arm = executables.get("linux-arm64");
  if (arm !== undefined && process.arch !== "arm64") tryUnderEmulation(arm);
  // The image runs on every processor of its architecture, so it takes the baseline.
  const [amd64, arm64] = ["linux-x64-baseline", "linux-arm64"].map((name) => executables.get(name));
  if (amd64 !== undefined && arm64 !== undefined) {
    makeImage(
      join(folder, "dreamdb-image.tar"),
      new Map([["amd64", amd64], ["arm64", arm64]]),
      commit,
    );
  }
  const lock: LockFile = JSON.parse(readFileSync("package-lock.json", "utf8"));
  const bill = billOfMaterials(lock, { name: "dreamdb", version: packageVersion() });
  writeFileSync(join(folder, "dreamdb.cdx.json"), `${JSON.stringify(bill, null, 2)}\n`);
  const repository = process.env["GITHUB_REPOSITORY"];
  const installer = readFileSync("install.sh", "utf8");
  writeFileSync(
    join(folder, "install.sh"),
    repository === undefined ? installer : installer.replace("OWNER/dreamdb", repository),
  );
  writeSums();
}

/** Builds one executable; returns its path. */
function build(target: Target, commit: string): string {
  const sources = join(work, `${target.os}-${target.cpu}-${target.name}`);
  const runtime = stage(target, sources, pinnedBun());
  const name = executableName(target);
  const outfile = resolve(work, name);
  const built = compile(outfile, {
    version: packageVersion(),
    commit,
    sources,
    target: { name: target.bunTarget, runtime },
  });
  if (!built) throw new Error(`${name} was not built`);
  const bytes = readFileSync(outfile);
  const windows = target.os === "win32";
  const published = windows ? bytes : gzipSync(bytes, { level: 6 });
  writeFileSync(join(folder, windows ? name : `${name}.gz`), published);
  rmSync(sources, { recursive: true, force: true });
  console.log(
    `${name}: ${megabytes(bytes.length)}${
      windows ? "" : `, ${megabytes(published.length)} to load`
    }`,
  );
  return outfile;
}

function writeCompletions(executable: string): void {
  for (const shell of ["bash", "zsh", "fish", "powershell"]) {
    const { status, stdout, stderr } = spawnSync(executable, ["completion", shell], {
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`completion ${shell}: ${stderr}`);
    const ending = shell === "powershell" ? "ps1" : shell;
    writeFileSync(join(folder, `dreamdb-completion.${ending}`), stdout);
  }
}

/** Starts the executable for ARM once, where the machine can. */
function tryUnderEmulation(executable: string): void {
  const emulator = "qemu-aarch64-static";
  if (spawnSync(emulator, ["--version"]).status !== 0) {
    console.log(`linux-arm64 was not run: ${emulator} is missing`);
    return;
  }
  const library = runtimeFolder("arm64", ".cache/image");
  const { status, stdout, stderr } = spawnSync(emulator, ["-L", library, executable, "--version"], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`linux-arm64 does not run: ${stderr}`);
  console.log(`linux-arm64 runs under emulation: ${stdout.trim()}`);
}

function startUp(executable: string): number {
  const times = Array.from({ length: 11 }, () => {
    const start = performance.now();
    spawnSync(executable, ["--version"]);
    return performance.now() - start;
  });
  return Math.round(times.sort((a, b) => a - b)[5] ?? Number.NaN);
}

function writeSums(): void {
  const names = readdirSync(folder).sort();
  const lines = names.map((name) =>
    `${createHash("sha256").update(readFileSync(join(folder, name))).digest("hex")}  ${name}\n`
  );
  writeFileSync(join(folder, "SHA256SUMS"), lines.join(""));
  for (const name of names) console.log(`${folder}/${name}: ${statSync(join(folder, name)).size}`);
}
