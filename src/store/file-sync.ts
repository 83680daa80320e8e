/**
 * Making files and folders durable, and creating files that appear whole or not at all.
 *
 * @module
 */

import type { FileHandle } from "node:fs/promises";
import { randomInt } from "node:crypto";
import { link, open, rename, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { systemCode } from "./file-errors.ts";

/** Waits until a file, or the entries of a folder, have reached the disk. */
export async function syncPath(path: string): Promise<void> {
  await withHandle(await open(path, "r"), async (handle) => {
    await handle.sync().catch((error: unknown) => {
      // File systems without syncable folders say so; there is nothing more to do on them.
      if (!["EINVAL", "ENOTSUP", "EBADF"].includes(systemCode(error) ?? "")) throw error;
    });
  });
}

/** Runs `work` with an open file and closes it. */
async function withHandle<T>(
  handle: FileHandle,
  work: (handle: FileHandle) => Promise<T>,
): Promise<T> {
  try {
    return await work(handle);
  } finally {
    await handle.close();
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
  readonly #live = new Set<string>();
  // Two containers on one volume may both be process 1, so the count starts anywhere.
  #counter = randomInt(2 ** 40);

  /**
   * Creates `path` with `bytes` unless it exists; no reader sees a part of it.
   * @param sync whether the bytes are synced now or by the caller, later
   */
  async create(
    path: string,
    temporaryStem: string,
    bytes: Uint8Array,
    sync: "now" | "later",
    signal?: AbortSignal,
  ): Promise<"written" | "present"> {
    return await this.#with(temporaryStem, bytes, sync, async (temporary) => {
      signal?.throwIfAborted();
      try {
        await link(temporary, path);
        return "written";
      } catch (error) {
        if (systemCode(error) === "EEXIST") return "present";
        throw error;
      } finally {
        await unlink(temporary);
      }
    });
  }

  /** Replaces `path` by a synced file with `bytes`, in one step. */
  async replace(
    path: string,
    temporaryStem: string,
    bytes: Uint8Array,
    signal?: AbortSignal,
  ): Promise<void> {
    await this.#with(temporaryStem, bytes, "now", async (temporary) => {
      signal?.throwIfAborted();
      await rename(temporary, path);
    });
  }

  /** Removes whatever interrupted calls have left. */
  async removeAll(): Promise<void> {
    for (const temporary of this.#live) await unlink(temporary).catch(() => {});
    this.#live.clear();
  }

  async #with<T>(
    stem: string,
    bytes: Uint8Array,
    sync: "now" | "later",
    place: (temporary: string) => Promise<T>,
  ): Promise<T> {
    // Named as the reference names them; the stem of an object ends in its address already.
    const address = stem.slice(stem.lastIndexOf("/") + 1);
    const temporary = `${stem}.tmp-${address}-${process.pid}-${this.#counter++}`;
    const handle = await open(temporary, "wx", 0o666);
    this.#live.add(temporary);
    try {
      await withHandle(handle, async () => {
        await handle.writeFile(bytes);
        if (sync === "now") await handle.sync();
      });
      const result = await place(temporary);
      this.#live.delete(temporary);
      return result;
    } catch (error) {
      await unlink(temporary).catch(() => {});
      this.#live.delete(temporary);
      throw error;
    }
  }
}
