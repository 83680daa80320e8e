import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
} from "node:fs";
import { join, resolve } from "node:path";

/** The project's root folder, whatever folder the tests were started in. */
export const projectRoot = resolve(import.meta.dirname, "../..");

/**
 * Unpacks `fixtures/NAME.tar.gz` and returns the folder that holds its files. The work is done once
 * per archive content; processes that do it at the same moment end with the same folder. The folder
 * is shared: take `copyStore` of a store in it before anything writes there.
 */
export function unpackFixture(name: string): string {
  const archive = join(projectRoot, "fixtures", `${name}.tar.gz`);
  const digest = createHash("sha256").update(readFileSync(archive)).digest("hex");
  const parent = join(projectRoot, "build/fixtures");
  const label = name.replaceAll("/", "-");
  const target = join(parent, `${label}-${digest.slice(0, 12)}`);
  if (existsSync(target)) return target;
  mkdirSync(parent, { recursive: true });
  const partial = mkdtempSync(join(parent, `.${label}-`));
  const tar = spawnSync("tar", ["--extract", "--gzip", "--file", archive, "--directory", partial]);
  if (tar.status !== 0) {
    rmSync(partial, { recursive: true, force: true });
    throw new Error(`${archive} cannot be unpacked: ${tar.error?.message ?? String(tar.stderr)}`);
  }
  try {
    renameSync(partial, target);
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    if (!existsSync(target)) throw error;
  }
  return target;
}

let scratch: string | undefined;

/**
 * An empty folder of this process alone, below build/scratch. It stays until a later run finds that
 * the process has ended: the test runner tells nobody when it exits.
 */
export function scratchFolder(): string {
  scratch ??= newScratch();
  return mkdtempSync(join(scratch, "folder-"));
}

function newScratch(): string {
  const parent = join(projectRoot, "build/scratch");
  const own = join(parent, String(process.pid));
  mkdirSync(own, { recursive: true });
  for (const name of readdirSync(parent)) {
    if (!isRunning(Number(name))) rmSync(join(parent, name), { recursive: true, force: true });
  }
  return own;
}

function isRunning(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch {
    return false;
  }
}

/** A copy of a store that a test may change, in a scratch folder. */
export function copyStore(from: string): string {
  const folder = join(scratchFolder(), "store");
  cpSync(from, folder, { recursive: true });
  return folder;
}

/** The backend URL of a store folder. DreamDB does not percent-decode `file://` paths. */
export function backendUrl(folder: string): string {
  return `file://${folder}`;
}

/** Every file below `folder`, as sorted paths relative to it with `/` between the parts. */
export function listFiles(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

/**
 * A digest over the name and content of every file and folder below `folder`. Two equal digests
 * mean that nothing was added, removed, renamed or changed in between; times and modes do not count.
 */
export function treeDigest(folder: string): string {
  const hash = createHash("sha256");
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => ({ entry, path: join(entry.parentPath, entry.name) }))
    .sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  for (const { entry, path } of entries) {
    const name = path.slice(folder.length + 1);
    if (entry.isDirectory()) hash.update(`folder ${name}\0`);
    else if (entry.isSymbolicLink()) hash.update(`link ${name}\0${readlinkSync(path)}\0`);
    else {
      const bytes = readFileSync(path);
      hash.update(`file ${name}\0${bytes.length}\0`).update(bytes);
    }
  }
  return hash.digest("hex");
}
