/**
 * Folders to build for another platform from: the committed sources with that platform's packages.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Target } from "./targets.ts";

const SOURCES = ["package.json", "package-lock.json", "bunfig.toml", "src"];

/**
 * Makes `folder` a copy of what is committed, with the packages of `target` as package-lock.json pins them,
 * and returns the path of Bun's executable for it.
 */
export function stage(target: Target, folder: string, bunVersion: string): string {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const archive = resolve(folder, "sources.tar");
  run(".", "git", ["archive", `--output=${archive}`, "HEAD", ...SOURCES]);
  run(folder, "tar", ["-xf", archive]);
  run(folder, "npm", [
    ...["ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"],
    ...[`--os=${target.os}`, `--cpu=${target.cpu}`, "--libc=glibc"],
  ]);
  const wanted = `${target.runtimePackage}@${bunVersion}`;
  const packed = run(folder, "npm", ["pack", "--silent", wanted]).trim();
  run(folder, "tar", ["-xzf", packed, "package/bin"]);
  const runtime = ["bun", "bun.exe"].map((name) => join(folder, "package/bin", name))
    .find((path) => existsSync(path));
  if (runtime === undefined) throw new Error(`${packed} holds no executable`);
  return resolve(runtime);
}

/** The version of Bun that package.json pins. */
export function pinnedBun(): string {
  const { devDependencies } = JSON.parse(readFileSync("package.json", "utf8")) as {
    devDependencies: Readonly<Record<string, string>>;
  };
  const version = devDependencies["bun"];
  if (version === undefined || !/^\d+\.\d+\.\d+$/.test(version)) {
    throw new Error(`package.json pins bun as ${version}, expected an exact version`);
  }
  return version;
}

function run(folder: string, program: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: folder,
    encoding: "utf8",
  });
  if (status !== 0) {
    throw new Error(`${program} ${args.join(" ")}: ${error?.message ?? stderr}`);
  }
  return stdout;
}
