/**
 * A store in a folder, written exactly as the reference writes it (FORMAT 1.5), and durable: objects
 * are synced before they get their names, and the ref comes last.
 *
 * Readers of the reference take every file under `refs/` for a ref, so no temporary file is ever
 * made there: a ref is prepared in the lock folder.
 *
 * @module
 */

import { mkdir, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Address } from "../encoding/address.ts";
import { addressBytes } from "../encoding/address.ts";
import { DreamDBError } from "../errors.ts";
import { checkWritableRefName } from "../model/ref-name.ts";
import type { CallOptions, Connector, RefOutcome } from "./connector.ts";
import { nestedName } from "./faults.ts";
import { fileFailure, systemCode } from "./file-errors.ts";
import { FileObjects } from "./file-objects.ts";
import { listRefFiles, readRefFile } from "./file-refs.ts";
import { foldersUpTo, syncPath, TemporaryFiles } from "./file-sync.ts";
import { parseFileUrl } from "./file-url.ts";
import { Semaphore } from "./limit.ts";
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
  readonly #openFiles: Semaphore;
  readonly #temporary = new TemporaryFiles();
  readonly #objects: FileObjects;
  /** Refs whose lock a call of `holdRef` has. */
  readonly #held = new Set<string>();
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
    const concurrency = options.concurrency ?? 64;
    this.#openFiles = new Semaphore(concurrency);
    this.#objects = new FileObjects(this.#temporary, parsed.root, concurrency);
  }

  async get(path: string, options?: CallOptions): Promise<Uint8Array | undefined> {
    const file = this.#file(path);
    return await this.#do("read an object", file, options, () => this.#objects.read(file));
  }

  async putIfAbsent(
    path: string,
    bytes: Uint8Array,
    options?: CallOptions,
  ): Promise<"written" | "present"> {
    const file = this.#file(path);
    return await this.#do(
      "write an object",
      file,
      options,
      () => this.#objects.write(path, file, bytes),
    );
  }

  async flush(options?: CallOptions): Promise<void> {
    await this.#objects.flush(options?.signal);
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
    await this.#nameObjects(options);
    return await this.#do("create a ref", file, options, async () => {
      const temporary = await this.#prepareRef(name, to);
      try {
        await mkdir(dirname(file), { recursive: true });
        if (await this.#temporary.link(temporary, file) === "present") {
          if ((await stat(file)).isDirectory()) throw nestedName(name);
          return "exists";
        }
      } catch (error) {
        if (["ENOTDIR", "EEXIST"].includes(systemCode(error) ?? "")) throw nestedName(name);
        throw error;
      } finally {
        await this.#temporary.discard(temporary);
      }
      for (const folder of foldersUpTo(this.#root, file)) await syncPath(folder);
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
    await this.#nameObjects(options);
    const found = await this.readRef(name, options);
    if (found !== expected) return { status: "conflict", found, sent: false };
    // Before the lock is taken: others wait for it.
    const temporary = await this.#do(
      "prepare a ref",
      file,
      options,
      () => this.#prepareRef(name, next),
    );
    try {
      return await this.#locked("move a ref", name, options, async () => {
        const found = await readRefFile(file, name);
        if (found !== expected) return { status: "conflict", found, sent: false };
        return await this.#moveRef(name, file, temporary, next);
      });
    } finally {
      await this.#temporary.discard(temporary);
    }
  }

  async holdRef<Result>(
    name: string,
    work: () => Promise<Result>,
    options?: CallOptions,
  ): Promise<Result> {
    checkWritableRefName(name);
    return await this.#locked("hold a ref", name, options, async () => {
      this.#held.add(name);
      try {
        return await work();
      } finally {
        this.#held.delete(name);
      }
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
    await this.#temporary.discardAll();
  }

  #file(path: string): string {
    return this.#root === "/" ? `/${checkPath(path)}` : `${this.#root}/${checkPath(path)}`;
  }

  /** A ref must not be there before what it leads to; a caller that has flushed waits for nothing. */
  async #nameObjects(options: CallOptions | undefined): Promise<void> {
    if (this.#objects.hasUnnamed) await this.flush(options);
  }

  /** Writes a ref to a synced temporary file: on the same file system, outside of `refs/`. */
  async #prepareRef(name: string, to: Address): Promise<string> {
    const lock = this.#file(lockPath(name));
    await mkdir(dirname(lock), { recursive: true });
    return await this.#temporary.write(lock.replace(/\.lock$/, ""), addressBytes(to), "now");
  }

  /** Puts a prepared ref in its place; the lock is held. */
  async #moveRef(
    name: string,
    file: string,
    temporary: string,
    next: Address,
  ): Promise<RefOutcome> {
    try {
      await this.#temporary.rename(temporary, file);
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
  }

  async #do<T>(
    action: string,
    file: string,
    options: CallOptions | undefined,
    work: () => Promise<T>,
  ): Promise<T> {
    return await this.#openFiles.run(async () => {
      try {
        if (!this.#rootChecked) await this.#checkRoot();
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
    // A second descriptor would wait for the first one for ever.
    if (this.#held.has(name)) return await work();
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
}
