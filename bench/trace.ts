/**
 * What a program reads of a store, by strace: the reference does not count for us, and one measure
 * for both is fair.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Kinds of files in a store, as far as their paths tell. */
export type FileKind = "ref" | "manifest" | "track" | "page" | "payload" | "other";

/** Files that were opened for reading, and their bytes: a file opened twice counts twice. */
export interface Reads {
  readonly opened: Readonly<Record<FileKind, number>>;
  readonly bytes: number;
}

/** Whether there is a strace to trace with. */
export function canTrace(): boolean {
  return spawnSync("strace", ["-V"]).status === 0;
}

/** Runs `argv` to its end under strace; what it adds to the store in `folder` stays there. */
export function traceReads(argv: readonly string[], folder: string): Reads {
  const scratch = mkdtempSync(join(tmpdir(), "dreamdb-bench-"));
  try {
    const log = join(scratch, "strace");
    const { status, stderr } = spawnSync(
      "strace",
      // -s: paths are longer than the 32 letters strace shows; -z: only calls that succeeded.
      ["-f", "-qq", "-z", "-s", "4096", "-e", "trace=openat", "-o", log, ...argv],
      { encoding: "utf8", maxBuffer: 1 << 28 },
    );
    if (status !== 0) throw new Error(`strace ${argv.join(" ")} ended with ${status}: ${stderr}`);
    return countReads(readFileSync(log, "utf8"), folder, (path) => {
      const entry = statSync(path, { throwIfNoEntry: false });
      return entry?.isFile() === true ? entry.size : undefined;
    });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/**
 * Counts the reads in what strace wrote.
 *
 * @param sizeOf bytes of a file; undefined when it is none (any more)
 */
export function countReads(
  log: string,
  folder: string,
  sizeOf: (path: string) => number | undefined,
): Reads {
  const opened = { ref: 0, manifest: 0, track: 0, page: 0, payload: 0, other: 0 };
  let bytes = 0;
  for (const [, path, flags] of log.matchAll(/openat\(AT_FDCWD, "([^"]+)", (\S+)/g)) {
    if (path?.startsWith(`${folder}/`) !== true || flags?.startsWith("O_RDONLY") !== true) continue;
    const size = sizeOf(path);
    if (size === undefined) continue;
    opened[kindOf(path.slice(folder.length + 1))]++;
    bytes += size;
  }
  return { opened, bytes };
}

function kindOf(path: string): FileKind {
  const [top, , folder, address] = path.split("/");
  if (top === "refs") return "ref";
  if (top === "manifests") return "manifest";
  if (address === undefined) return "other";
  if (folder === "track") return "track";
  return folder === "index" ? "page" : "payload";
}
