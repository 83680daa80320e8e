/**
 * Making files and folders durable, and creating files that appear whole or not at all.
 *
 * @module
 */

import { randomInt } from "node:crypto";
import { close, fsync, open } from "node:fs";
import { link, rename, unlink, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { systemCode } from "./file-errors.ts";
import { mapConcurrent } from "./limit.ts";

// Calls on descriptors: a FileHandle for each of thousands of files costs more than its file.
const openFile = promisify(open);
const syncFile = promisify(fsync);
const closeFile = promisify(close);

/** Waits until a file, or the entries of a folder, have reached the disk. */
export async function syncPath(path: string): Promise<void> {
  const descriptor = await openFile(path, "r");
  try {
    await syncFile(descriptor);
  } catch (error) {
    // File systems without syncable folders say so; there is nothing more to do on them.
    if (!["EINVAL", "ENOTSUP", "EBADF"].includes(systemCode(error) ?? "")) throw error;
  } finally {
    await closeFile(descriptor);
  }
}

/** The folders from the one of `path` up to `root`, which is included. */
export function foldersUpTo(root: string, path: string): string[] {
  const folders: string[] = [];
  for (let folder = dirname(path); folder.length > root.length; folder = dirname(folder)) {
    folders.push(folder);
  }
  folders.push(root);
  return folders;
}

/** Writes temporary files and puts them in their place; knows those that are left. */
export class TemporaryFiles {
  readonly #left = new Set<string>();
  // Two containers on one volume may both be process 1, so the count starts anywhere.
  #counter = randomInt(2 ** 40);

  /**
   * Writes a temporary file, named as the reference names it (FORMAT 1.5).
   * @param stem its path up to the suffix; ends in the address or name of what it will be
   * @param sync whether the bytes are synced now or by the caller, later
   * @returns its path
   */
  async write(stem: string, bytes: Uint8Array, sync: "now" | "later"): Promise<string> {
    const address = stem.slice(stem.lastIndexOf("/") + 1);
    const temporary = `${stem}.tmp-${address}-${process.pid}-${this.#counter++}`;
    this.#left.add(temporary);
    try {
      await writeFile(temporary, bytes, { flag: "wx", mode: 0o666 });
      if (sync === "now") await syncPath(temporary);
      return temporary;
    } catch (error) {
      await this.discard(temporary);
      throw error;
    }
  }

  /** Gives a temporary file the name `path`, unless that exists: then it is left as it is. */
  async link(temporary: string, path: string): Promise<"written" | "present"> {
    try {
      await link(temporary, path);
    } catch (error) {
      if (systemCode(error) === "EEXIST") return "present";
      throw error;
    }
    await this.remove(temporary);
    return "written";
  }

  /** Puts a temporary file in the place of `path`, in one step. */
  async rename(temporary: string, path: string): Promise<void> {
    await rename(temporary, path);
    this.#left.delete(temporary);
  }

  /** Removes a temporary file. */
  async remove(temporary: string): Promise<void> {
    await unlink(temporary);
    this.#left.delete(temporary);
  }

  /** Removes a temporary file unless it has got its place. */
  async discard(temporary: string): Promise<void> {
    if (this.#left.delete(temporary)) await unlink(temporary).catch(() => {});
  }

  /** Removes all that have not got their place. */
  async discardAll(): Promise<void> {
    await mapConcurrent([...this.#left], 64, (temporary) => this.discard(temporary));
  }
}
