/**
 * Rule 3 of the specification: an anchor that two sides added to one field is refused, wherever it
 * lies, and so is one that a branch adds where trunk has it (DESIGN 1, "duplicates").
 *
 * Proof goes from cheap to dear: coverage, index entries, and only for entries whose time ranges
 * overlap between sides the anchors in their payload.
 *
 * @module
 */

import { bytesKey } from "../encoding/bytes.ts";
import type { EntryKind, IndexEntry } from "../model/index-entry.ts";
import { mapConcurrent } from "../store/limit.ts";
import { judgeDuplicates, TRUNK } from "./duplicate-judgement.ts";
import type { DuplicateFindings, Holder } from "./duplicate-judgement.ts";
import type { Addition, FieldChanges } from "./field-changes.ts";
import type { FieldSides } from "./field-sides.ts";
import { refuseItemConflicts } from "./item-conflicts.ts";
import type { ReadObject } from "./object-reader.ts";
import type { TrackContent } from "./track-content.ts";
import { meetsAny, mergeIntervals, overlappingIntervals } from "./overlap.ts";
import { readAnchors, readItems } from "./payload.ts";
import type { PayloadPlace } from "./payload.ts";

const NOTHING: DuplicateFindings = {
  refusals: [],
  dropped: new Map(),
  standing: new Set(),
  identicalCount: 0,
  identicalAnchors: [],
};

/** What branches added. Groups of other branches are other owners, whatever they have in common. */
function holdersOf({ additions, superseded }: FieldChanges): Holder[] {
  const owners = new Map<string, number>();
  const ownerOf = (positions: readonly number[]): number => {
    const key = positions.join(" ");
    const known = owners.get(key) ?? owners.size + 1;
    owners.set(key, known);
    return known;
  };
  const holders = (
    { entry, groups }: Addition,
    superseded: boolean,
    replaced: readonly IndexEntry[],
  ): Holder[] =>
    groups.map((positions) => ({
      entry,
      owner: ownerOf(positions),
      positions,
      superseded,
      replaced,
    }));
  return [
    ...additions.flatMap((addition) => holders(addition, false, [])),
    ...superseded.flatMap((addition) => holders(addition, true, addition.replaced)),
  ];
}

/** Trunk's entries that could hold an anchor of the additions. */
async function trunkHolders(
  changes: FieldChanges,
  holders: readonly Holder[],
): Promise<Holder[]> {
  const { trunk, base } = changes;
  const intervals = mergeIntervals(holders.map(({ entry }) => entry));
  const covered = ({ track, count }: TrackContent): boolean =>
    track !== undefined && count > 0 &&
    meetsAny(intervals, track.coverage.start, track.coverage.end);
  if (!covered(trunk)) return [];
  // Trunk's own news are known already; only when the base's coverage meets the additions does its
  // index have to be looked through.
  const gone = new Set(
    changes.trunkRemoved.get(base.position)?.map(({ bytes }) => bytesKey(bytes)),
  );
  const met = [
    ...(covered(base.content) ? await base.content.meeting(intervals) : [])
      .filter(({ bytes }) => !gone.has(bytesKey(bytes))),
    ...(changes.trunkNew.get(base.position) ?? [])
      .filter(({ start, end }) => meetsAny(intervals, start, end)),
  ];
  return met.map((entry) => ({
    entry,
    owner: TRUNK,
    positions: [TRUNK],
    superseded: false,
    replaced: [],
  }));
}

/**
 * The anchors that a branch's rewritten entries hold from before: those of the entries it took
 * away. They are no additions.
 * @param which what counts as taken away
 */
async function anchorsTakenAway(
  changes: FieldChanges,
  read: ReadObject,
  place: PayloadPlace,
  concurrency: number,
  which: "removed" | "takenAway",
): Promise<ReadonlyMap<number, ReadonlySet<bigint>>> {
  const taken = new Map<number, ReadonlySet<bigint>>();
  for (const branchChanges of changes.branches) {
    const entries = branchChanges[which];
    if (entries.length === 0) continue;
    const sets = await mapConcurrent(
      entries,
      concurrency,
      (entry) => readAnchors(read, place, entry),
    );
    taken.set(branchChanges.branch.side.position, new Set(sets.flatMap((set) => [...set])));
  }
  return taken;
}

/** The anchors that superseded entries hold from older shared history. */
async function anchorsReplaced(
  holders: readonly Holder[],
  read: ReadObject,
  place: PayloadPlace,
  concurrency: number,
): Promise<ReadonlyMap<Holder, ReadonlySet<bigint>>> {
  const holding = holders.filter(({ replaced }) => replaced.length > 0);
  const sets = await mapConcurrent(holding, concurrency, async ({ replaced }) => {
    const anchors = await Promise.all(replaced.map((entry) => readAnchors(read, place, entry)));
    return new Set(anchors.flatMap((set) => [...set]));
  });
  return new Map(holding.map((holder, index) => [holder, sets[index] ?? new Set()]));
}

/** The anchors of all sets, ascending, each as often as there are sets that have it. */
function sortedTogether(sets: readonly BigUint64Array[]): BigUint64Array {
  const all = new BigUint64Array(sets.reduce((length, set) => length + set.length, 0));
  let at = 0;
  for (const set of sets) {
    all.set(set, at);
    at += set.length;
  }
  return all.sort();
}

function doubledAnchors(byOwner: ReadonlyMap<number, readonly BigUint64Array[]>): Set<bigint> {
  const distinct = [...byOwner.values()].map((sets) => {
    const all = sortedTogether(sets);
    return all.filter((anchor, index) => index === 0 || anchor !== all[index - 1]);
  });
  const all = sortedTogether(distinct);
  const doubled = new Set<bigint>();
  for (let index = 1; index < all.length; index++) {
    const anchor = all[index];
    if (anchor !== undefined && anchor === all[index - 1]) doubled.add(anchor);
  }
  return doubled;
}

/**
 * Looks for anchors added twice.
 *
 * @param names the refs' names by position
 */
export async function findDuplicates(
  field: FieldSides,
  kind: EntryKind,
  changes: FieldChanges,
  read: ReadObject,
  names: readonly string[],
  options: { readonly allowIdentical: boolean; readonly concurrency: number },
): Promise<DuplicateFindings> {
  const place: PayloadPlace = { kind, timeline: field.timeline, modality: field.modality };
  const added = holdersOf(changes);
  if (added.length === 0) return NOTHING;
  const holders = [...await trunkHolders(changes, added), ...added];
  const suspects = overlappingIntervals(
    holders.map(({ entry, owner }) => ({ start: entry.start, end: entry.end, owner })),
  ).flatMap((index) => holders[index] ?? []);
  const conflicts = kind === "video-item"
    ? await refuseItemConflicts(field, changes, holders, read, names)
    : [];
  if (conflicts.length > 0) return { ...NOTHING, refusals: conflicts };
  if (suspects.length === 0) return NOTHING;

  const taken = await anchorsTakenAway(changes, read, place, options.concurrency, "takenAway");
  const fromBase = changes.superseded.length === 0
    ? taken
    : await anchorsTakenAway(changes, read, place, options.concurrency, "removed");
  const sets = await mapConcurrent(
    suspects,
    options.concurrency,
    (holder) => readAnchors(read, place, holder.entry),
  );
  const replaced = await anchorsReplaced(suspects, read, place, options.concurrency);
  const isTaken = (holder: Holder, anchor: bigint): boolean =>
    (replaced.get(holder)?.has(anchor) ?? false) ||
    holder.positions.some((position) =>
      (holder.superseded ? fromBase : taken).get(position)?.has(anchor) ?? false
    );
  const reappended = anchorsReappended(suspects, sets, isTaken);
  const own = (holder: Holder, anchor: bigint): boolean =>
    !isTaken(holder, anchor) || reappended.has(anchor);
  const byOwner = new Map<number, BigUint64Array[]>();
  const additionsOf = suspects.map((holder, index) =>
    (sets[index] ?? new BigUint64Array()).filter((anchor) => own(holder, anchor))
  );
  suspects.forEach((holder, index) => {
    const list = byOwner.get(holder.owner) ?? [];
    list.push(additionsOf[index] ?? new BigUint64Array());
    byOwner.set(holder.owner, list);
  });
  const doubled = doubledAnchors(byOwner);
  if (doubled.size === 0) return NOTHING;

  const involved = suspects.filter((_, index) =>
    additionsOf[index]?.some((anchor) => doubled.has(anchor)) ?? false
  );
  const items = await mapConcurrent(
    involved,
    options.concurrency,
    (holder) => readItems(read, place, holder.entry),
  );
  const occurrences = new Map<bigint, { holder: Holder; identity: string }[]>();
  involved.forEach((holder, index) => {
    for (const [anchor, identity] of items[index] ?? []) {
      if (!doubled.has(anchor) || !own(holder, anchor)) continue;
      const list = occurrences.get(anchor) ?? [];
      list.push({ holder, identity });
      occurrences.set(anchor, list);
    }
  });
  return judgeDuplicates(
    field,
    kind,
    occurrences,
    names,
    (anchor) => options.allowIdentical && !reappended.has(anchor),
  );
}

/**
 * Anchors of entries that a branch took away which stand in two of the entries it added: one is the
 * rewrite, the other adds the anchor again.
 */
function anchorsReappended(
  holders: readonly Holder[],
  sets: readonly BigUint64Array[],
  isTaken: (holder: Holder, anchor: bigint) => boolean,
): ReadonlySet<bigint> {
  const seen = new Map<number, Set<bigint>>();
  const again = new Set<bigint>();
  holders.forEach((holder, index) => {
    if (holder.owner === TRUNK || holder.superseded) return;
    const before = seen.get(holder.owner) ?? new Set<bigint>();
    seen.set(holder.owner, before);
    for (const anchor of sets[index] ?? []) {
      if (!isTaken(holder, anchor)) continue;
      if (before.has(anchor)) again.add(anchor);
      before.add(anchor);
    }
  });
  return again;
}
