/**
 * A store in a folder, written exactly as the reference writes it (FORMAT 1.5), and durable: files
 * and folders are synced together in `flush`, and the ref comes last. Syncing them one by one would
 * cost a turn of the disk each. What a loss of power in between can leave, an empty file under the
 * name of an object that no ref reaches, is replaced by the next run that writes the object.
 *
 * Readers of the reference take every file under `refs/` for a ref, so no temporary file is ever
 * made there: a ref is prepared in the lock folder.
 *
 * @module
 */

import { mkdir, readFile, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Address } from "../encoding/address.ts";
import { addressBytes } from "../encoding/address.ts";
import { equalBytes } from "../encoding/bytes.ts";
import { DreamDBError } from "../errors.ts";
import { checkWritableRefName } from "../model/ref-name.ts";
import type { CallOptions, Connector, RefOutcome } from "./connector.ts";
import { differentBytes, nestedName } from "./faults.ts";
import { fileFailure, systemCode } from "./file-errors.ts";
import { listRefFiles, readRefFile } from "./file-refs.ts";
import { foldersUpTo, syncPath, TemporaryFiles } from "./file-sync.ts";
import { parseFileUrl } from "./file-url.ts";
import { mapConcurrent, Semaphore } from "./limit.ts";
import { checkPath, lockPath, refPath } from "./paths.ts";
import type { LockOptions } from "./ref-lock.ts";
import { withRefLock } from "./ref-lock.ts";

/** Options of a file store. */
export interface FileOptions extends LockOptions {
  /** Files open at once; default 64. */
  readonly concurrency?: number;
}

/** A store below a folder that exists. */
export class FileConnector implements Connector {
  readonly url: string;
  readonly #root: string;
  readonly #options: FileOptions;
  readonly #concurrency: number;
  readonly #openFiles: Semaphore;
  readonly #temporary = new TemporaryFiles();
  /** Files, and folders with entries, that may not have reached the disk yet. */
  #unsynced = new Set<string>();
  /** Folders that are known to exist; nobody deletes folders of a store while it is in use. */
  readonly #made = new Set<string>();
  #rootChecked = false;

  /**
   * @param url `file:///…`
   * @throws DreamDBError usage
   */
  constructor(url: string, options: FileOptions = {}) {
    const parsed = parseFileUrl(url);
    this.url = parsed.url;
    this.#root = parsed.root;
    this.#options = options;
    this.#concurrency = options.concurrency ?? 64;
    this.#openFiles = new Semaphore(this.#concurrency);
  }

  async get(path: string, options?: CallOptions): Promise<Uint8Array | undefined> {
    const file = this.#file(path);
    return await this.#do("read an object", file, options, async () => {
      try {
        return await readFile(file);
      } catch (error) {
        if (["ENOENT", "ENOTDIR"].includes(systemCode(error) ?? "")) return undefined;
        throw error;
      }
    });
  }

  async putIfAbsent(
    path: string,
    bytes: Uint8Array,
    options?: CallOptions,
  ): Promise<"written" | "present"> {
    const file = this.#file(path);
    return await this.#do("write an object", file, options, async () => {
      if (await this.#adopt(path, file, bytes, options?.signal)) return "present";
      await this.#makeFolder(dirname(file));
      const outcome = await this.#temporary.create(file, file, bytes, "later", options?.signal);
      this.#remember(file);
      // Somebody was faster; the bytes are theirs.
      if (outcome === "present") await this.#adopt(path, file, bytes, options?.signal);
      return outcome;
    });
  }

  async flush(options?: CallOptions): Promise<void> {
    const unsynced = this.#unsynced;
    this.#unsynced = new Set();
    try {
      await this.#syncAll(unsynced, options?.signal);
    } catch (error) {
      for (const path of unsynced) this.#unsynced.add(path);
      throw error;
    }
  }

  async readRef(name: string, options?: CallOptions): Promise<Address | undefined> {
    const file = this.#file(refPath(name));
    return await this.#do("read a ref", file, options, () => readRefFile(file, name));
  }

  async createRef(
    name: string,
    to: Address,
    options?: CallOptions,
  ): Promise<"created" | "exists"> {
    checkWritableRefName(name);
    const file = this.#file(refPath(name));
    const body = addressBytes(to);
    return await this.#do("create a ref", file, options, async () => {
      const stem = await this.#refStem(name);
      try {
        await mkdir(dirname(file), { recursive: true });
        const outcome = await this.#temporary.create(file, stem, body, "now", options?.signal);
        if (outcome === "present") {
          if ((await stat(file)).isDirectory()) throw nestedName(name);
          return "exists";
        }
      } catch (error) {
        if (["ENOTDIR", "EEXIST"].includes(systemCode(error) ?? "")) throw nestedName(name);
        throw error;
      }
      await this.#syncAll(foldersUpTo(this.#root, file), undefined);
      return "created";
    });
  }

  async compareAndSetRef(
    name: string,
    expected: Address,
    next: Address,
    options?: CallOptions,
  ): Promise<RefOutcome> {
    checkWritableRefName(name);
    const file = this.#file(refPath(name));
    const body = addressBytes(next);
    return await this.#locked("move a ref", name, options, async () => {
      const found = await readRefFile(file, name);
      if (found !== expected) return { status: "conflict", found, sent: false };
      const stem = await this.#refStem(name);
      try {
        await this.#temporary.replace(file, stem, body, options?.signal);
      } catch (error) {
        // A network file system may lose the answer to a rename that it has done.
        if (await readRefFile(file, name) !== next) throw error;
        return { status: "committed", note: "confirmed-after-unknown" };
      }
      try {
        await syncPath(dirname(file));
      } catch {
        return { status: "committed", note: "not-synced" };
      }
      return { status: "committed" };
    });
  }

  async listRefs(prefix?: string, options?: CallOptions): Promise<readonly string[]> {
    const folder = join(this.#root, "refs");
    return await this.#do(
      "list refs",
      folder,
      options,
      () => listRefFiles(folder, prefix ?? "", options?.signal),
    );
  }

  async deleteRef(
    name: string,
    expected: Address,
    options?: CallOptions,
  ): Promise<"deleted" | "missing" | "conflict"> {
    checkWritableRefName(name);
    const file = this.#file(refPath(name));
    return await this.#locked("delete a ref", name, options, async () => {
      const found = await readRefFile(file, name);
      if (found === undefined) return "missing";
      if (found !== expected) return "conflict";
      await unlink(file);
      await syncPath(dirname(file));
      return "deleted";
    });
  }

  async close(): Promise<void> {
    await this.#temporary.removeAll();
  }

  /** Makes a folder; those in which a name is new are synced with the rest. */
  async #makeFolder(folder: string): Promise<void> {
    if (this.#made.has(folder)) return;
    const first = await mkdir(folder, { recursive: true });
    this.#made.add(folder);
    if (first === undefined) return;
    for (const above of foldersUpTo(dirname(first), folder)) this.#unsynced.add(above);
  }

  #remember(file: string): void {
    this.#unsynced.add(file);
    this.#unsynced.add(dirname(file));
  }

  #file(path: string): string {
    return this.#root === "/" ? `/${checkPath(path)}` : `${this.#root}/${checkPath(path)}`;
  }

  /** Where the temporary file of a ref goes: on the same file system, outside of `refs/`. */
  async #refStem(name: string): Promise<string> {
    const lock = this.#file(lockPath(name));
    await mkdir(dirname(lock), { recursive: true });
    return lock.replace(/\.lock$/, "");
  }

  async #do<T>(
    action: string,
    file: string,
    options: CallOptions | undefined,
    work: () => Promise<T>,
  ): Promise<T> {
    return await this.#openFiles.run(async () => {
      try {
        await this.#checkRoot();
        return await work();
      } catch (error) {
        throw fileFailure(error, action, file);
      }
    }, options?.signal);
  }

  // Outside of the semaphore: one that waits for a lock must not keep the others from working.
  async #locked<T>(
    action: string,
    name: string,
    options: CallOptions | undefined,
    work: () => Promise<T>,
  ): Promise<T> {
    options?.signal?.throwIfAborted();
    const lock = this.#file(lockPath(name));
    try {
      await this.#checkRoot();
      return await withRefLock(lock, this.#options, options?.signal, work);
    } catch (error) {
      throw fileFailure(error, action, this.#file(refPath(name)));
    }
  }

  async #checkRoot(): Promise<void> {
    if (this.#rootChecked) return;
    const entry = await stat(this.#root).catch((error: unknown) => {
      if (["ENOENT", "ENOTDIR"].includes(systemCode(error) ?? "")) return undefined;
      throw error;
    });
    if (entry?.isDirectory() !== true) {
      throw new DreamDBError({
        code: "store-missing",
        url: this.url,
        found: `${entry === undefined ? "nothing" : "a file"} at ${this.#root}`,
        expected: "the folder of a DreamDB store",
        next: "Check the backend URL and whether the volume is mounted.",
      });
    }
    this.#rootChecked = true;
  }

  /**
   * Whether `file` is there already with the right bytes. Then it is made durable too: its writer
   * may not have done so. A file of zeros is what a loss of power leaves of one that was not synced;
   * it is replaced.
   * @throws DreamDBError hash-mismatch for any other bytes
   */
  async #adopt(
    path: string,
    file: string,
    bytes: Uint8Array,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    let found: Uint8Array;
    try {
      found = await readFile(file);
    } catch (error) {
      if (["ENOENT", "ENOTDIR"].includes(systemCode(error) ?? "")) return false;
      throw error;
    }
    if (!equalBytes(found, bytes)) {
      if (found.some((byte) => byte !== 0)) throw differentBytes(path);
      await this.#temporary.replace(file, file, bytes, signal);
    }
    this.#remember(file);
    return true;
  }

  async #syncAll(paths: Iterable<string>, signal: AbortSignal | undefined): Promise<void> {
    await mapConcurrent(paths, this.#concurrency, async (path) => {
      try {
        await syncPath(path);
      } catch (error) {
        throw fileFailure(error, "sync", path);
      }
    }, signal);
  }
}
