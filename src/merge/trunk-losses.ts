/**
 * Records that trunk itself lost since a base, as far as its index shows it: a merge must not make
 * a loss look like a state that all sides agreed on.
 *
 * Trunk's rewrites are not read record by record as those of branches are: trunk also rewrites
 * whatever it merges, and a merge must not cost what earlier rounds did. What replaced an entry must
 * reach as far in time and, of buckets, hold as many bytes.
 *
 * @module
 */

import { bytesKey } from "../encoding/bytes.ts";
import type { EntryKind, IndexEntry } from "../model/index-entry.ts";
import type { FieldChanges } from "./field-changes.ts";
import type { FieldSides } from "./field-sides.ts";
import { mergeIntervals } from "./overlap.ts";
import { anchorsInIndex, cellText, valueText } from "./payload.ts";
import { LISTED_ANCHORS } from "./refusal.ts";
import type { Refusal } from "./refusal.ts";
import { groupEntries } from "./rewrites.ts";

/** The longest header of a bucket: no record lies in it (FORMAT 6). */
const LONGEST_HEADER = 200;
const SHORTEST_HEADER = 160;

/** The entries that trunk took away and that nothing it added can hold. */
function lostEntries(
  kind: EntryKind,
  removed: readonly IndexEntry[],
  added: readonly IndexEntry[],
): readonly IndexEntry[] {
  if (anchorsInIndex(kind)) {
    const starts = new Set(added.map(({ start }) => start));
    return removed.filter(({ start }) => !starts.has(start));
  }
  const came = groupEntries(kind, added);
  return [...groupEntries(kind, removed)].flatMap(([key, gone]) => {
    const instead = came.get(key) ?? [];
    const reach = mergeIntervals(instead);
    const first = reach[0]?.start;
    const last = reach.at(-1)?.end;
    if (first === undefined || last === undefined) return gone;
    const outside = gone.filter(({ start, end }) => start < first || end > last);
    if (outside.length > 0 || kind !== "spatial-bucket") return outside;
    const least = gone.reduce((sum, { size }) => sum + (size ?? 0) - LONGEST_HEADER, 0);
    const most = instead.reduce((sum, { size }) => sum + (size ?? 0) - SHORTEST_HEADER, 0);
    return most < least ? gone : [];
  });
}

/** Refuses a field of which trunk lost records since the base of a branch that changed it. */
export function trunkLosses(
  field: FieldSides,
  kind: EntryKind,
  changes: FieldChanges,
  trunkName: string,
): readonly Refusal[] {
  const lost = new Map<string, IndexEntry>();
  for (const [position, removed] of changes.trunkRemoved) {
    const added = changes.trunkNew.get(position) ?? [];
    for (const entry of lostEntries(kind, removed, added)) lost.set(bytesKey(entry.bytes), entry);
  }
  const entries = [...lost.values()];
  const [first] = entries;
  if (first === undefined) return [];
  const groups = [...new Set(entries.map(kind === "spatial-bucket" ? cellText : groupName))];
  return [{
    code: "records-missing",
    message: `${entries.length} entries of the field ${field.field} that the branches' base has ` +
      `are gone on ${trunkName}, without a rewrite that could hold their records`,
    next: `Restore ${trunkName} from before that change; to delete records use tombstones.`,
    sides: [trunkName],
    field: field.field,
    modality: field.modality,
    ...(anchorsInIndex(kind)
      ? {}
      : { [kind === "spatial-bucket" ? "cells" : "values"]: groups.slice(0, LISTED_ANCHORS) }),
    addresses: [...new Set(entries.map(({ address }) => address))].slice(0, LISTED_ANCHORS),
  }];
}

function groupName(entry: IndexEntry): string {
  return entry.group.length === 0 ? "" : valueText(entry);
}
