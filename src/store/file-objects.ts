/**
 * The objects of a file store, from the call that writes them to their name on the disk.
 *
 * An object is written to a temporary file beside its place and gets its name in `flush`, once its
 * bytes are on the disk: a loss of power leaves temporary files, never a part of an object under an
 * address. All objects are synced together, then named, then their folders are synced; one by one
 * would cost a turn of the disk each.
 *
 * @module
 */

import { exists, statSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { equalBytes } from "../encoding/bytes.ts";
import { differentBytes } from "./faults.ts";
import { fileFailure, systemCode } from "./file-errors.ts";
import type { TemporaryFiles } from "./file-sync.ts";
import { foldersUpTo, syncPath } from "./file-sync.ts";
import { mapConcurrent, Semaphore } from "./limit.ts";
import { findSyncFileSystem } from "./sync-file-system.ts";
import type { SyncFileSystem } from "./sync-file-system.ts";

/** From so many files on, syncing the file system once is quicker than syncing each. */
const MANY = 128;

/** An object whose bytes are in a temporary file. */
interface UnnamedObject {
  /** Its path in the store, for messages. */
  readonly path: string;
  readonly file: string;
  readonly temporary: string;
}

/** Reads, writes and names objects; `file` is the absolute name that an object has or will have. */
export class FileObjects {
  readonly #temporary: TemporaryFiles;
  readonly #concurrency: number;
  /** Objects without a name, by the one they will have; each promise is kept once it is whole. */
  readonly #unnamed = new Map<string, Promise<UnnamedObject>>();
  /** Objects of other writers that ours rely on, and that may not have reached the disk yet. */
  #unsynced = new Set<string>();
  /** Folders in which names are new. */
  #unsyncedFolders = new Set<string>();
  /** Folders that are known to exist; nobody deletes folders of a store while it is in use. */
  readonly #made = new Set<string>();
  readonly #flushing = new Semaphore(1);

  readonly #root: string;
  #syncFileSystem: SyncFileSystem | "none" | undefined;

  /**
   * @param root the store's folder
   * @param concurrency files that are synced or named at once
   */
  constructor(temporary: TemporaryFiles, root: string, concurrency: number) {
    this.#temporary = temporary;
    this.#root = root;
    this.#concurrency = concurrency;
  }

  /** Whether objects wait for `flush`. */
  get hasUnnamed(): boolean {
    return this.#unnamed.size > 0;
  }

  /** The bytes of an object, with a name or without, or undefined when there is none. */
  async read(file: string): Promise<Uint8Array | undefined> {
    const whole = this.#unnamed.get(file);
    const unnamed = whole === undefined ? undefined : await whole.catch(() => undefined);
    const bytes = unnamed === undefined ? undefined : await readIfPresent(unnamed.temporary);
    // It may have got its name since.
    return bytes ?? await readIfPresent(file);
  }

  /**
   * Writes an object unless it is there already.
   * @throws DreamDBError hash-mismatch when other bytes are there
   */
  async write(path: string, file: string, bytes: Uint8Array): Promise<"written" | "present"> {
    const found = this.#unnamed.has(file) || !await isThere(file)
      ? undefined
      : await readIfPresent(file);
    if (found !== undefined && isObject(path, found, bytes)) {
      this.#unsynced.add(file);
      this.#unsyncedFolders.add(dirname(file));
      return "present";
    }
    await this.#makeFolder(dirname(file));
    const earlier = this.#unnamed.get(file);
    if (earlier !== undefined) {
      await earlier;
      return "present";
    }
    const whole = this.#temporary.write(file, bytes, "later")
      .then((temporary) => ({ path, file, temporary }));
    this.#unnamed.set(file, whole);
    try {
      await whole;
      return "written";
    } catch (error) {
      this.#unnamed.delete(file);
      throw error;
    }
  }

  /**
   * Makes everything written so far durable and gives it its name.
   * @throws DreamDBError hash-mismatch when somebody has put other bytes in an object's place
   */
  async flush(signal: AbortSignal | undefined): Promise<void> {
    await this.#flushing.run(async () => {
      const objects = await this.#wholeObjects();
      const [files, folders] = [this.#unsynced, this.#unsyncedFolders];
      this.#unsynced = new Set();
      this.#unsyncedFolders = new Set();
      try {
        await this.#sync([...objects.map(({ temporary }) => temporary), ...files], signal);
        for (const { file } of objects) folders.add(dirname(file));
        await mapConcurrent(objects, this.#concurrency, (object) => this.#name(object), signal);
        await this.#sync(folders, signal);
      } catch (error) {
        for (const file of files) this.#unsynced.add(file);
        for (const folder of folders) this.#unsyncedFolders.add(folder);
        throw error;
      }
    }, signal);
  }

  /** The objects without a name, but for those that could not be written. */
  async #wholeObjects(): Promise<readonly UnnamedObject[]> {
    const outcomes = await Promise.allSettled(this.#unnamed.values());
    return outcomes.flatMap((outcome) => outcome.status === "fulfilled" ? [outcome.value] : []);
  }

  /** Gives an object its name, unless another writer has been faster with the same bytes. */
  async #name({ path, file, temporary }: UnnamedObject): Promise<void> {
    try {
      if (await this.#temporary.link(temporary, file) === "present") {
        const [found, bytes] = await Promise.all([readFile(file), readFile(temporary)]);
        if (isObject(path, found, bytes)) {
          await syncPath(file);
          await this.#temporary.remove(temporary);
        } else await this.#temporary.rename(temporary, file);
      }
    } catch (error) {
      throw fileFailure(error, "name an object", file);
    }
    this.#unnamed.delete(file);
  }

  /** Makes a folder; those in which a name is new are synced with the rest. */
  async #makeFolder(folder: string): Promise<void> {
    if (this.#made.has(folder)) return;
    const first = await mkdir(folder, { recursive: true });
    this.#made.add(folder);
    if (first === undefined) return;
    for (const above of foldersUpTo(dirname(first), folder)) this.#unsyncedFolders.add(above);
  }

  async #sync(paths: Iterable<string>, signal: AbortSignal | undefined): Promise<void> {
    const all = [...paths];
    if (all.length > MANY && this.#syncWhole(all)) return;
    await mapConcurrent(all, this.#concurrency, async (path) => {
      try {
        await syncPath(path);
      } catch (error) {
        throw fileFailure(error, "sync", path);
      }
    }, signal);
  }

  /** Syncs the file systems that `paths` are on as wholes; false where that cannot be done. */
  #syncWhole(paths: readonly string[]): boolean {
    this.#syncFileSystem ??= findSyncFileSystem() ?? "none";
    if (this.#syncFileSystem === "none") return false;
    try {
      // A folder of the store may be a link to another file system.
      const folders = new Map(
        [...new Set(paths.map((path) => dirname(path)))]
          .map((folder) => [statSync(folder).dev, folder] as const),
      );
      for (const folder of folders.values()) this.#syncFileSystem(folder);
      return true;
    } catch (error) {
      throw fileFailure(error, "sync", this.#root);
    }
  }
}

/**
 * Whether what was found in an object's place is the object. A file of zeros is what a loss of power
 * leaves of one that a writer has named before it was synced; it may be replaced.
 * @throws DreamDBError hash-mismatch for any other bytes
 */
function isObject(path: string, found: Uint8Array, bytes: Uint8Array): boolean {
  if (equalBytes(found, bytes)) return true;
  if (found.some((byte) => byte !== 0)) throw differentBytes(path);
  return false;
}

/** Whether there is a file. Most are not there, and a failure to read costs far more than this. */
function isThere(file: string): Promise<boolean> {
  return new Promise((resolve) => exists(file, resolve));
}

async function readIfPresent(file: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(file);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(systemCode(error) ?? "")) return undefined;
    throw error;
  }
}
