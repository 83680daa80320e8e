/**
 * Every way in which this program can fail, as one closed union.
 *
 * A refusal by a merge rule is **not** here: a refusal is a result of planning (see `merge/refusal.ts`).
 * Each fault says what was found, what was expected and what to do next; the typed fields beside
 * them let a program react without reading the text.
 *
 * @module
 */

/** The three sentences every fault carries. */
interface Told {
  readonly found: string;
  readonly expected: string;
  /** What a person can do next. */
  readonly next: string;
}

/** One fault; `code` tells which, the other fields are its evidence. */
export type Fault =
  & Told
  & (
    /** Bytes that are not canonical CBOR; `offset` is in bytes from the start of the object. */
    | { readonly code: "malformed-cbor"; readonly offset: number }
    /** Text or bytes that are not an address. */
    | { readonly code: "malformed-address" }
    /** Canonical bytes that are not an object of the expected kind. */
    | { readonly code: "malformed-object"; readonly kind: string; readonly path?: string }
    /** Bytes whose hash is not the address they were read by. */
    | { readonly code: "hash-mismatch"; readonly path: string }
    /** An object that something refers to and that the store does not have. */
    | { readonly code: "object-missing"; readonly path: string }
    /** A ref name outside the grammar. */
    | { readonly code: "invalid-ref-name"; readonly name: string }
    /** A ref whose content is not an address. */
    | { readonly code: "malformed-ref"; readonly name: string }
    /** Refs that do not exist; all that were missing in one run. */
    | { readonly code: "ref-missing"; readonly names: readonly string[] }
    /** The store itself (folder, bucket) does not exist. */
    | { readonly code: "store-missing"; readonly url: string }
    /** Flags, names or URLs that make no sense. */
    | { readonly code: "usage" }
    /** The operating system or the store says no. */
    | { readonly code: "permission-denied"; readonly action: string; readonly path: string }
    /** The store or the network failed and nothing was published. */
    | { readonly code: "store-failure"; readonly action: string; readonly path: string }
    /** The store takes conditional writes without looking at the condition. */
    | { readonly code: "conditions-ignored"; readonly url: string }
    /** Somebody held the lock of a ref for longer than we wait. */
    | { readonly code: "lock-timeout"; readonly path: string }
    /** This runtime cannot take the lock that other writers of a file store take. */
    | { readonly code: "lock-unavailable"; readonly path: string }
    /** The ref moved under us more often than we tried. */
    | { readonly code: "publish-conflict"; readonly ref: string; readonly attempts: number }
    /** The ref write was sent and nobody can tell whether it was applied. */
    | { readonly code: "publish-unknown"; readonly ref: string; readonly manifest: string }
    /** Stopped by a signal or a time limit; `refMoved` says whether trunk had been published. */
    | { readonly code: "interrupted"; readonly signal: string; readonly refMoved: boolean }
    /** A bug of ours. */
    | { readonly code: "internal" }
  );

/** The tags of all faults. */
export type FaultCode = Fault["code"];

/**
 * The one error class: a `Fault` that can be thrown. `message` is made of the fault's three sentences.
 */
export class DreamDBError extends Error {
  override readonly name = "DreamDBError";
  readonly fault: Fault;

  constructor(fault: Fault, options?: { readonly cause?: unknown }) {
    super(
      `${fault.found}; expected ${fault.expected}. ${fault.next}`,
      options?.cause === undefined ? undefined : { cause: options.cause },
    );
    this.fault = fault;
  }

  /** The fault's tag. */
  get code(): FaultCode {
    return this.fault.code;
  }
}

/** Whether `error` is one of ours and, when `code` is given, of that kind. */
export function isDreamDBError(error: unknown, code?: FaultCode): error is DreamDBError {
  return error instanceof DreamDBError && (code === undefined || error.code === code);
}
