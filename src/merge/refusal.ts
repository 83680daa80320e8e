/**
 * Refusals: the reasons for which a merge is not done, with their evidence. A refusal is a result
 * of planning, never an exception; all of a run are collected before anything is written.
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";

/** Every reason, as a closed set (DESIGN 1 and 2). */
export type RefusalCode =
  | "field-missing"
  | "spatial-index-differs"
  | "scalar-index-differs"
  | "compressor-differs"
  | "duplicate-anchor"
  | "depth-bound"
  | "no-common-ancestor"
  | "ambiguous-merge-base"
  | "constant-differs"
  | "registry-differs"
  | "schema-differs"
  | "timeline-differs"
  | "cell-rewritten-twice"
  | "records-missing"
  | "layer-parent-differs"
  | "hot-shard-pending"
  | "entity-keys-changed"
  | "graph-index-changed"
  | "ingest-origins"
  | "unsupported-kind"
  | "manifest-form-differs"
  | "tracks-too-large";

/** How many anchors a refusal lists; the count is always exact. */
export const LISTED_ANCHORS = 100;

/** One reason with its evidence. */
export interface Refusal {
  readonly code: RefusalCode;
  /** What was found and what the rule expects, in one sentence. */
  readonly message: string;
  /** What to do about it. */
  readonly next: string;
  /** Names of the refs that disagree. */
  readonly sides: readonly string[];
  readonly field?: string;
  readonly modality?: string;
  readonly cells?: readonly string[];
  /** Scalar values, as text. */
  readonly values?: readonly string[];
  /** The first hundred anchors, in nanoseconds, ascending. */
  readonly anchors?: readonly bigint[];
  readonly anchorCount?: number;
  readonly addresses?: readonly Address[];
  /** The registry key, for `registry-differs`. */
  readonly key?: string;
}

/** Things a merge does that its user should know of. */
export type WarningCode =
  | "deleted-on-one-side"
  | "stale-text-index"
  | "missing-history"
  | "branch-moved"
  | "not-synced"
  | "identical-items";

/** One such thing. */
export interface Warning {
  readonly code: WarningCode;
  readonly message: string;
  readonly sides?: readonly string[];
  readonly field?: string;
  readonly anchors?: readonly bigint[];
  readonly anchorCount?: number;
  readonly addresses?: readonly Address[];
}
