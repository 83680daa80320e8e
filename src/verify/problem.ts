/**
 * What a verification can find wrong.
 *
 * @module
 */

/** Every kind of problem, as a closed set. */
export type ProblemCode =
  /** Something refers to an object that the store does not have. */
  | "missing"
  /** The bytes of an object are not those its address was made of. */
  | "wrong-hash"
  /** The bytes are not an object of the kind they should be. */
  | "malformed"
  /** The object can be read, but is not written as the one canonical form of its content. */
  | "not-canonical"
  /** Binding and Track, or registry and bucket, do not say the same. */
  | "disagreement"
  /** `lineage` and `edges` are not exactly the closure of the active bindings. */
  | "lineage"
  /** An index does not say the truth about what is below it. */
  | "index"
  /** The schema names a field that has no Track. */
  | "field-missing"
  /** A Bao outboard that does not belong to its object. */
  | "outboard";

/** One problem. */
export interface Problem {
  readonly code: ProblemCode;
  readonly path: string;
  /** The object's kind, such as "Track". */
  readonly kind: string;
  /** What was found and what was expected. */
  readonly message: string;
  readonly field?: string;
}
