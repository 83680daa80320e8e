/**
 * How many records a field gained, as far as its index tells without reading any payload.
 *
 * @module
 */

import type { EntryKind, IndexEntry } from "../model/index-entry.ts";
import { ANCHOR_LENGTH } from "../model/spatial-bucket.ts";
import type { FieldChanges } from "./field-changes.ts";
import { anchorsInIndex } from "./payload.ts";

/** Bytes before the records of a bucket without a compressor (FORMAT 6). */
const HEADER = 160;
const FLOAT_BYTES = 4;

/** The records of a bucket of plain vectors; undefined for codes and for several vectors a record. */
function recordsOf(modality: string, { size }: IndexEntry): number | undefined {
  const dimensions = /(?:^|\.)dim=(\d+)(?:\.|$)/.exec(modality)?.[1];
  if (dimensions === undefined || size === undefined || modality.includes(".multivec.")) {
    return undefined;
  }
  const count = (size - HEADER) / (ANCHOR_LENGTH + FLOAT_BYTES * Number(dimensions));
  return Number.isInteger(count) && count > 0 ? count : undefined;
}

/**
 * The records that branches added, less those that they only wrote anew.
 *
 * @param compressed whether the field's buckets hold codes instead of vectors
 * @returns null where only the payload tells: scalars, and buckets whose records have no fixed size
 */
export function countRecords(
  kind: EntryKind,
  modality: string,
  changes: FieldChanges,
  compressed: boolean,
): number | null {
  if (anchorsInIndex(kind)) {
    const replaced = changes.branches.reduce((sum, { takenAway }) => sum + takenAway.length, 0);
    return Math.max(0, changes.additions.length - replaced);
  }
  if (kind !== "spatial-bucket" || compressed) return null;
  let records = 0;
  const count = (entries: Iterable<IndexEntry>, sign: number): boolean => {
    for (const entry of entries) {
      const found = recordsOf(modality, entry);
      if (found === undefined) return false;
      records += sign * found;
    }
    return true;
  };
  const known = count(changes.additions.map(({ entry }) => entry), 1) &&
    changes.branches.every(({ takenAway }) => count(takenAway, -1));
  return known ? Math.max(0, records) : null;
}
