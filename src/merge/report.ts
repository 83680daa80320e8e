/**
 * The result of a merge as plain data: what the command line prints and `--json` serialises.
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import type { StoreStatistics } from "../store/statistics.ts";
import type { ExecutedField } from "./execute.ts";
import type { MergePlan } from "./plan.ts";
import type { FieldAction, FieldPlan } from "./field-plan.ts";
import type { Refusal, Warning } from "./refusal.ts";
import type { ResolvedBranch } from "./resolve.ts";

/** How a merge ended, when it did not fail. */
export type MergeStatus = "merged" | "fast-forwarded" | "already-merged" | "refused";

/** What became of one field. */
export interface FieldReport {
  readonly field: string;
  readonly modality: string;
  readonly kind: string;
  readonly action: FieldAction;
  /** Names of the sides that changed it. */
  readonly sides: readonly string[];
  /** Null for a field that nobody changed: its index was not read. */
  readonly entriesBefore: number | null;
  readonly entriesAfter: number | null;
  readonly entriesAdded: number;
  readonly entriesRemoved: number;
  /** Records that branches added; null where only the payload tells. */
  readonly recordsAdded: number | null;
  /** How many added buckets became `bucketsWritten` new ones. */
  readonly bucketsFused: number;
  readonly bucketsWritten: number;
}

/** The result of one run. */
export interface MergeReport {
  readonly status: MergeStatus;
  readonly dryRun: boolean;
  readonly ref: string;
  readonly trunk: { readonly before: Address; readonly after: Address | null };
  /** The new Manifest; null when none was written. */
  readonly manifest: Address | null;
  readonly parents: readonly Address[];
  readonly mergeBase: readonly Address[];
  readonly branches: readonly ResolvedBranch[];
  readonly fields: readonly FieldReport[];
  /**
   * The most records that one field gained: a record has at most one Item in each field. Null when
   * no changed field tells.
   */
  readonly recordsAdded: number | null;
  readonly refusals: readonly Refusal[];
  readonly warnings: readonly Warning[];
  readonly written: {
    readonly objects: number;
    /** How many of the objects are pages of indexes. */
    readonly pages: number;
    readonly bytes: number;
  };
  readonly read: {
    readonly bytes: number;
    /** How many pages of indexes were read; `requests.page` counts their writes, too. */
    readonly pages: number;
    readonly requests: StoreStatistics["requests"];
  };
  /** How many times the merge was planned. */
  readonly attempts: number;
  /** The answer to the ref write was lost; reading the ref again showed that it was applied. */
  readonly resolvedByReading: boolean;
}

/** Makes the report of a plan and what became of it. */
export function reportOf(
  plan: MergePlan,
  end: {
    readonly status: MergeStatus;
    readonly manifest: Address | null;
    readonly executed: ReadonlyMap<FieldPlan, ExecutedField>;
    readonly attempts: number;
    readonly resolvedByReading: boolean;
    readonly warnings: readonly Warning[];
  },
  statistics: StoreStatistics,
): MergeReport {
  const { sides } = plan;
  const published = end.status === "merged" || end.status === "fast-forwarded";
  const merging = plan.outcome === "merge" && sides !== undefined;
  return {
    status: end.status,
    dryRun: plan.request.dryRun,
    ref: plan.request.ref,
    trunk: {
      before: plan.trunk,
      after: end.manifest ?? (published ? null : plan.trunk),
    },
    manifest: end.manifest,
    parents: merging ? [sides.trunk.tip, ...sides.branches.map(({ tip }) => tip)] : [],
    mergeBase: plan.mergeBases,
    branches: plan.branches,
    fields: plan.fields.map((field) => fieldReport(field, end.executed.get(field))),
    recordsAdded: mostRecords(plan.fields),
    refusals: plan.refusals,
    warnings: [...plan.warnings, ...end.warnings],
    written: {
      objects: statistics.objectsWritten,
      pages: statistics.pagesWritten,
      bytes: statistics.bytesWritten,
    },
    read: {
      bytes: statistics.bytesRead,
      pages: statistics.pagesRead,
      requests: { ...statistics.requests },
    },
    attempts: end.attempts,
    resolvedByReading: end.resolvedByReading,
  };
}

function mostRecords(fields: readonly FieldPlan[]): number | null {
  const changed = fields.filter(({ action }) => action !== "kept");
  const known = changed.flatMap(({ recordsAdded }) => recordsAdded ?? []);
  return known.length === 0 && changed.length > 0 ? null : Math.max(0, ...known);
}

function fieldReport(plan: FieldPlan, executed: ExecutedField | undefined): FieldReport {
  const expected = plan.entriesBefore === null
    ? null
    : plan.entriesBefore + plan.entriesAdded - plan.entriesRemoved;
  return {
    field: plan.field.field,
    modality: plan.field.modality,
    kind: plan.field.kind,
    action: plan.action,
    sides: plan.changedBy,
    entriesBefore: plan.entriesBefore,
    entriesAfter: executed?.entriesAfter ?? expected,
    entriesAdded: plan.entriesAdded,
    entriesRemoved: plan.entriesRemoved,
    recordsAdded: plan.recordsAdded,
    bucketsFused: executed?.bucketsFused ?? 0,
    bucketsWritten: executed?.bucketsWritten ?? 0,
  };
}
