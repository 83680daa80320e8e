/**
 * `syncfs(2)` through Bun's foreign function interface: one turn for all files of a file system,
 * where syncing each of thousands would cost a turn of the disk for every few.
 *
 * @module
 */

import { closeSync, openSync } from "node:fs";
import { release } from "node:os";
import { foreignFunctions, LIBRARIES } from "./flock-bun.ts";

/** Since this version of Linux syncfs reports data that could not be written. */
const REPORTS_ERRORS = [5, 8] as const;

/** Waits until everything written to the file system of a folder has reached the disk. */
export type SyncFileSystem = (folder: string) => void;

function reportsErrors(): boolean {
  if (process.platform !== "linux") return false;
  const [major = 0, minor = 0] = release().split(/[.-]/).map(Number);
  return major > REPORTS_ERRORS[0] || (major === REPORTS_ERRORS[0] && minor >= REPORTS_ERRORS[1]);
}

/** The call, or undefined where there is none that says whether it succeeded. */
export function findSyncFileSystem(): SyncFileSystem | undefined {
  if (!reportsErrors()) return undefined;
  const foreign = foreignFunctions();
  if (foreign === undefined) return undefined;
  for (const library of LIBRARIES) {
    try {
      const { symbols } = foreign.dlopen(library, { syncfs: { args: ["i32"], returns: "i32" } });
      const syncfs = symbols["syncfs"];
      if (syncfs === undefined) continue;
      return (folder) => {
        const descriptor = openSync(folder, "r");
        try {
          if (syncfs(descriptor) !== 0) {
            throw Object.assign(new Error(`syncfs of ${folder} failed`), { code: "EIO" });
          }
        } finally {
          closeSync(descriptor);
        }
      };
    } catch {
      // Not this system's C library: try the next name.
    }
  }
  return undefined;
}
