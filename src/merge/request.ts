/**
 * What a merge is asked to do, and what it needs from outside.
 *
 * @module
 */

import type { Connector } from "../store/connector.ts";

/** How cells that several sides changed are written (DESIGN 1, "buckets"). */
export type BucketMode = "fuse" | "keep";

/** A merge of branches into a ref. */
export interface MergeRequest {
  /** The ref to merge into. */
  readonly ref: string;
  /** The branches, in the order in which they become parents. */
  readonly branches: readonly string[];
  readonly buckets: BucketMode;
  /** Accept an Item that several sides hold with equal bytes, once. */
  readonly allowIdentical: boolean;
  /** For Constants that differ: modality to the ref whose value wins. */
  readonly picks: ReadonlyMap<string, string>;
  /** The most steps from a tip to the merge base. */
  readonly maxDepth: number;
  /** How often to plan again after the ref moved under us; at least 1. */
  readonly attempts: number;
  /** Plan and check, write nothing. */
  readonly dryRun: boolean;
}

/** Where a merge stands, for whoever shows it. */
export interface Progress {
  readonly stage: "refs" | "history" | "compare" | "write" | "publish";
  readonly done: number;
  readonly total: number;
  readonly label?: string;
}

/** The effects a merge needs. */
export interface MergeEnvironment {
  readonly connector: Connector;
  /** How many objects are read or written at once. */
  readonly concurrency: number;
  /** Nanoseconds since 1970. */
  readonly now: () => bigint;
  /** A number in [0, 1), for the pauses between tries. */
  readonly random: () => number;
  /** Waits; rejects when `signal` is aborted. */
  readonly pause: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
  /** This program's version, for the writer text. */
  readonly version: string;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** Values for everything a caller need not decide. */
export const DEFAULTS = {
  buckets: "fuse",
  allowIdentical: false,
  maxDepth: 1000,
  attempts: 5,
  dryRun: false,
  concurrency: 64,
} as const;
