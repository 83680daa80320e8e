/**
 * What a store must be able to do. One implementation a file: `file.ts`, `memory.ts`, `s3.ts`; one
 * conformance suite (`tests/store/conformance.ts`) runs over all of them.
 *
 * A connector moves bytes and knows nothing of their meaning: it does not hash, decode or cache.
 * Paths are relative to the store's root, `/`-separated and lower-case ASCII (FORMAT 1.2).
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";

/** Options every call takes. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/**
 * The outcome of a compare-and-set: it was applied; it was not, because the ref holds something
 * else (`found` is undefined when the ref is gone); or nobody can tell.
 */
export type RefOutcome =
  | { readonly status: "committed" }
  | { readonly status: "conflict"; readonly found: Address | undefined }
  | { readonly status: "unknown"; readonly cause: unknown };

/** A DreamDB store as bytes. */
export interface Connector {
  /** The canonical base URL, without credentials; used in messages and reports. */
  readonly url: string;

  /**
   * The bytes at `path`, or undefined when there is no such object.
   * @throws DreamDBError store-missing, permission-denied, store-failure
   */
  get(path: string, options?: CallOptions): Promise<Uint8Array | undefined>;

  /**
   * Writes a content-addressed object unless it is there already; durable when the promise
   * resolves and `flush` has been called.
   */
  putIfAbsent(
    path: string,
    bytes: Uint8Array,
    options?: CallOptions,
  ): Promise<"written" | "present">;

  /** Makes everything written so far durable (folders too); called once before a ref moves. */
  flush(options?: CallOptions): Promise<void>;

  /**
   * What the ref holds, or undefined when it does not exist.
   * @throws DreamDBError invalid-ref-name, malformed-ref
   */
  readRef(name: string, options?: CallOptions): Promise<Address | undefined>;

  /** Creates a ref that must not exist. A lost answer is resolved by reading the ref again. */
  createRef(name: string, to: Address, options?: CallOptions): Promise<"created" | "exists">;

  /**
   * Moves a ref from `expected` to `next`, atomically beside every other writer, with one send.
   * `unknown` only when reading the ref again could not tell.
   */
  compareAndSetRef(
    name: string,
    expected: Address,
    next: Address,
    options?: CallOptions,
  ): Promise<RefOutcome>;

  /** All ref names that begin with `prefix`, sorted; foreign files under `refs/` are left out. */
  listRefs(prefix?: string, options?: CallOptions): Promise<readonly string[]>;

  /** Deletes a ref that still holds `expected`; "conflict" when it holds something else. */
  deleteRef(
    name: string,
    expected: Address,
    options?: CallOptions,
  ): Promise<"deleted" | "missing" | "conflict">;

  /** Ends connections and removes temporary files. */
  close(): Promise<void>;
}
