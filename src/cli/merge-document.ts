/**
 * The JSON document of a merge. Its shape is the same however the merge ended, so that a reader
 * need not ask first; docs/merge-report.schema.json describes it.
 *
 * @module
 */

import type { DreamDBError } from "../errors.ts";
import type { MergeReport } from "../merge/report.ts";
import type { StoreStatistics } from "../store/statistics.ts";
import { faultJson } from "./json.ts";

/** What is known of a merge that failed. */
export interface FailedMerge {
  readonly backend: string | null;
  readonly ref: string | null;
  readonly dryRun: boolean;
  readonly statistics?: StoreStatistics;
}

/** The document of a merge that came to a result. */
export function mergeDocument(
  backend: string,
  report: MergeReport,
): Readonly<Record<string, unknown>> {
  return {
    status: report.status,
    dryRun: report.dryRun,
    backend,
    ref: report.ref,
    trunk: report.trunk,
    manifest: report.manifest,
    parents: report.parents,
    mergeBase: report.mergeBase,
    branches: report.branches,
    fields: report.fields,
    recordsAdded: report.recordsAdded,
    refusals: report.refusals,
    warnings: report.warnings,
    written: report.written,
    read: report.read,
    attempts: report.attempts,
    resolvedByReading: report.resolvedByReading,
    error: null,
  };
}

/** The document of a merge that failed. */
export function failedMergeDocument(
  failed: FailedMerge,
  error: DreamDBError,
): Readonly<Record<string, unknown>> {
  const { statistics } = failed;
  return {
    status: "failed",
    dryRun: failed.dryRun,
    backend: failed.backend,
    ref: failed.ref,
    trunk: { before: null, after: null },
    manifest: null,
    parents: [],
    mergeBase: [],
    branches: [],
    fields: [],
    recordsAdded: null,
    refusals: [],
    warnings: [],
    written: {
      objects: statistics?.objectsWritten ?? 0,
      pages: statistics?.pagesWritten ?? 0,
      bytes: statistics?.bytesWritten ?? 0,
    },
    read: {
      bytes: statistics?.bytesRead ?? 0,
      pages: statistics?.pagesRead ?? 0,
      requests: statistics?.requests ??
        { ref: 0, manifest: 0, track: 0, page: 0, bucket: 0, other: 0 },
    },
    attempts: 0,
    resolvedByReading: false,
    error: faultJson(error.fault),
  };
}
