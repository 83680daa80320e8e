/**
 * Decides which entries of a field come and go when it is joined, and which are fused.
 *
 * @module
 */

import { bytesKey, compareBytes } from "../encoding/bytes.ts";
import { joinCoverage } from "../model/coverage.ts";
import { groupKey } from "../model/index-entry.ts";
import type { EntryKind, IndexEntry } from "../model/index-entry.ts";
import type { DuplicateFindings } from "./duplicate-judgement.ts";
import type { Addition, FieldChanges } from "./field-changes.ts";
import { changedBy } from "./field-plan.ts";
import type { FieldContext, TrackJoin } from "./field-plan.ts";
import type { FieldSides } from "./field-sides.ts";
import { isLargeBucket } from "./fuse-spatial.ts";
import type { FuseGroup } from "./fuse-spatial.ts";
import { anchorsInIndex } from "./payload.ts";
import type { Refusal } from "./refusal.ts";
import type { RewriteFindings } from "./rewrites.ts";

/** What is known of a field when its join is planned. */
export interface JoinFindings {
  readonly kind: EntryKind;
  readonly changes: FieldChanges;
  readonly duplicates: DuplicateFindings;
  readonly rewrites: RewriteFindings;
  readonly layer: TrackJoin["layer"];
  /** Whether some version of the Track has its index in a tree. */
  readonly tree: boolean;
}

/** Entries on their way into or out of the result, by their bytes. */
interface Movement {
  readonly coming: Map<string, Addition>;
  /** Entries of trunk. */
  readonly going: Map<string, IndexEntry>;
}

/** Plans the join of `field`; a refusal when the mode cannot do what the records ask for. */
export function planJoin(
  context: FieldContext,
  field: FieldSides,
  findings: JoinFindings,
): { readonly track: TrackJoin; readonly refusal?: Refusal } {
  const { kind, changes, duplicates, rewrites, layer, tree } = findings;
  const movement: Movement = {
    coming: comingEntries(changes, duplicates),
    going: new Map(changes.removed),
  };
  const groups = rewrites.joined.map(({ added }) => takeOut(movement, added));
  const fused = context.request.buckets === "fuse" && !anchorsInIndex(kind)
    ? fusableGroups(field, findings, movement.coming.values()).map((entries) =>
      takeOut(movement, entries)
    )
    : [];
  const refusal = duplicates.dropped.size > 0 && !anchorsInIndex(kind) &&
      context.request.buckets === "keep"
    ? partlyEqual(context, field)
    : undefined;
  if (anchorsInIndex(kind)) {
    for (const key of duplicates.dropped.keys()) movement.coming.delete(key);
  }
  const spatial = kind === "spatial-bucket";
  const cells: FuseGroup[] = spatial
    ? [
      // What was replaced stands in what was added, as `checkRewrites` has made sure.
      ...groups.map((entries) => ({ entries, dropped: new Map(), joinsEqualRecords: true })),
      ...fused.map((entries) => ({
        entries,
        dropped: duplicates.dropped,
        joinsEqualRecords: false,
      })),
    ]
    : [];
  const like = field.trunk ?? field.changed[0]?.binding;
  if (like === undefined) throw new Error("unreachable: a field without a binding was lined up");
  return {
    track: {
      kind,
      trunk: changes.trunk,
      inlineOnly: context.sides.trunk.manifest.tracks.form === "legacy",
      tree,
      like,
      removed: movement.going,
      added: [...movement.coming.values()].map(({ entry }) => entry),
      cells,
      values: spatial ? [] : [...groups, ...fused],
      dropped: duplicates.dropped,
      coverage: joinCoverage([
        ...(field.trunk === undefined || changes.trunk.count === 0 ? [] : [field.trunk.coverage]),
        ...changes.additions.map(({ entry }) => entry),
      ]),
      layer,
    },
    ...(refusal === undefined ? {} : { refusal }),
  };
}

/**
 * The additions that trunk does not hold byte for byte; one that it holds was accepted as
 * identical, or it would have been refused.
 */
function comingEntries(
  changes: FieldChanges,
  duplicates: DuplicateFindings,
): Map<string, Addition> {
  const standing = new Set([
    ...duplicates.standing,
    ...[...changes.trunkNew.values()].flatMap((entries) =>
      entries.map(({ bytes }) => bytesKey(bytes))
    ),
  ]);
  return new Map(
    changes.additions.map((addition) => [bytesKey(addition.entry.bytes), addition] as const)
      .filter(([key]) => !standing.has(key)),
  );
}

/** Takes entries that become part of a new one out of what comes, or out of trunk. */
function takeOut(movement: Movement, entries: readonly IndexEntry[]): readonly IndexEntry[] {
  for (const entry of entries) {
    const key = bytesKey(entry.bytes);
    if (!movement.coming.delete(key)) movement.going.set(key, entry);
  }
  return entries;
}

/** The added entries of each cell or value that two or more sides changed, in order of time. */
function fusableGroups(
  field: FieldSides,
  { kind, changes, duplicates, rewrites }: JoinFindings,
  coming: Iterable<Addition>,
): readonly (readonly IndexEntry[])[] {
  const { dropped } = duplicates;
  const joined = new Set(rewrites.joined.map(({ key }) => key));
  const groups = new Map<string, { entries: Map<string, IndexEntry>; sides: Set<string> }>();
  const put = (entry: IndexEntry, positions: readonly number[]): void => {
    const key = groupKey(entry);
    if (joined.has(key)) return;
    // A replacement holds old records, and a large bucket enough of its own: both stay as they
    // are, unless they hold an Item that must go.
    const stays = positions.some((one) => rewrites.rewrittenBy.get(one)?.has(key) ?? false) ||
      (kind === "spatial-bucket" && isLargeBucket(field.modality, entry));
    const bytes = bytesKey(entry.bytes);
    if (stays && !dropped.has(bytes)) return;
    const group = groups.get(key) ?? { entries: new Map(), sides: new Set<string>() };
    group.entries.set(bytes, entry);
    group.sides.add(positions.join(" "));
    groups.set(key, group);
  };
  for (const entry of changes.trunkAdded) put(entry, [0]);
  for (const { entry, groups: owners } of coming) {
    for (const owner of owners) put(entry, owner);
  }
  return [...groups.values()]
    .filter(({ entries, sides }) =>
      [...entries.keys()].some((key) => dropped.has(key)) || (sides.size > 1 && entries.size > 1)
    )
    .map(({ entries }) => [...entries.values()].sort(byTime));
}

function byTime(a: IndexEntry, b: IndexEntry): number {
  if (a.start !== b.start) return a.start < b.start ? -1 : 1;
  return compareBytes(a.bytes, b.bytes);
}

function partlyEqual(context: FieldContext, field: FieldSides): Refusal {
  return {
    code: "duplicate-anchor",
    message: `the field ${field.field} holds equal Items in buckets that also hold others; ` +
      "kept side by side they would count twice",
    next: "Merge with --buckets=fuse, which takes equal Items once.",
    sides: changedBy(context, field),
    field: field.field,
    modality: field.modality,
  };
}
