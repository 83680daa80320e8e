/**
 * What a store must be able to do. One implementation a file: `file.ts`, `memory.ts`, `s3.ts`; one
 * conformance suite (`tests/store/conformance.ts`) runs over all of them.
 *
 * A connector moves bytes and knows nothing of their meaning: it does not hash, decode or cache.
 * Paths are relative to the store's root, `/`-separated and lower-case ASCII (FORMAT 1.2).
 *
 * A call whose signal is aborted throws the reason of the signal.
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";

/** Options every call takes. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** The write was applied: the ref holds `next`, or held it for a moment. */
export interface RefCommitted {
  readonly status: "committed";
  /**
   * Absent when the store said so itself. `confirmed-after-unknown`: the answer was lost or
   * unclear, and reading the ref again found `next`. `not-synced`: the ref moved, but the
   * operating system could not promise that it survives a loss of power.
   */
  readonly note?: "confirmed-after-unknown" | "not-synced";
}

/** The ref holds something other than `next`. */
export interface RefConflict {
  readonly status: "conflict";
  /**
   * What the ref holds; undefined when it is gone. Equal to `expected` only when the store goes on
   * refusing a condition that holds (a missing permission reported as a failed condition).
   */
  readonly found: Address | undefined;
  /**
   * Whether the write had been sent. Then it may have been applied and somebody may have published
   * on top of it since: it is lost only if `next` is not among the ancestors of `found`.
   */
  readonly sent: boolean;
}

/** The write was sent, its answer is lost, and reading the ref again could not tell. */
export interface RefUnknown {
  readonly status: "unknown";
  readonly cause: unknown;
}

/** The outcome of a compare-and-set (DESIGN 1, "outcome of the Ref write"). */
export type RefOutcome = RefCommitted | RefConflict | RefUnknown;

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
   * resolves and `flush` has been called. Outcome "present" is also success.
   * @throws DreamDBError store-missing, permission-denied, store-failure; hash-mismatch when other
   * bytes are there and the store could see it
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

  /**
   * Creates a ref that must not exist. A lost answer is resolved by reading the ref again.
   * @throws DreamDBError invalid-ref-name; usage when the name nests below an existing ref, or the
   * reverse, in a store that cannot hold both
   */
  createRef(name: string, to: Address, options?: CallOptions): Promise<"created" | "exists">;

  /**
   * Moves a ref from `expected` to `next`, atomically beside every other writer. Nothing below
   * this call sends the write a second time.
   *
   * An aborted signal is heeded only while nothing has been applied: before the write is sent (for
   * a file store: while the lock is waited for). After that the outcome is found out first.
   * @throws DreamDBError when it is certain that nothing was published
   */
  compareAndSetRef(
    name: string,
    expected: Address,
    next: Address,
    options?: CallOptions,
  ): Promise<RefOutcome>;

  /**
   * Runs `work` while no other writer can move the ref; absent in stores that cannot do that.
   * `compareAndSetRef` of the same ref is to be called within `work` then, and by nobody else.
   * @throws DreamDBError lock-timeout, and what `work` throws
   */
  holdRef?<Result>(
    name: string,
    work: () => Promise<Result>,
    options?: CallOptions,
  ): Promise<Result>;

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
