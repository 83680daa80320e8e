/**
 * Entries that a side took away. A side may replace entries (compaction), it may not lose records:
 * what went must stand in what came. Where two sides replaced entries of one cell, their records
 * are joined one by one (DESIGN 2).
 *
 * @module
 */

import { bytesKey } from "../encoding/bytes.ts";
import { groupKey } from "../model/index-entry.ts";
import type { EntryKind, IndexEntry } from "../model/index-entry.ts";
import { mapConcurrent } from "../store/limit.ts";
import type { FieldChanges } from "./field-changes.ts";
import type { FieldSides } from "./field-sides.ts";
import type { ReadObject } from "./object-reader.ts";
import { anchorsInIndex, cellText, readItems, valueText } from "./payload.ts";
import type { PayloadPlace } from "./payload.ts";
import { LISTED_ANCHORS } from "./refusal.ts";
import type { Refusal } from "./refusal.ts";

/** A cell whose entries two or more sides replaced. */
export interface RewrittenGroup {
  readonly key: string;
  /** Entries, of any side, that are gone on some side. */
  readonly replaced: readonly IndexEntry[];
  /** Entries that any side added there, trunk's included. */
  readonly added: readonly IndexEntry[];
}

/** What was found about replaced entries. */
export interface RewriteFindings {
  readonly refusals: readonly Refusal[];
  /** Groups that have to be joined record by record. */
  readonly joined: readonly RewrittenGroup[];
  /** Keys of the groups in which a side replaced entries, by its position; trunk's is 0. */
  readonly rewrittenBy: ReadonlyMap<number, ReadonlySet<string>>;
}

/** One side's replacement of entries. */
interface Replacement {
  readonly name: string;
  readonly removed: readonly IndexEntry[];
  readonly added: readonly IndexEntry[];
}

/** How the payload of one Track is read. */
interface Reading {
  readonly read: ReadObject;
  readonly place: PayloadPlace;
  readonly concurrency: number;
}

const NONE: ReadonlySet<string> = new Set();

/** Scalars and cells replace entries within a value or cell; other kinds within the Track. */
function replacementKey(kind: EntryKind, entry: IndexEntry): string {
  return anchorsInIndex(kind) ? "" : groupKey(entry);
}

/** Entries by the cell, the value or the Track within which they are replaced. */
export function groupEntries(
  kind: EntryKind,
  entries: readonly IndexEntry[],
): ReadonlyMap<string, readonly IndexEntry[]> {
  const groups = new Map<string, IndexEntry[]>();
  for (const entry of entries) {
    const key = replacementKey(kind, entry);
    const list = groups.get(key);
    if (list === undefined) groups.set(key, [entry]);
    else list.push(entry);
  }
  return groups;
}

async function itemsOf(
  read: ReadObject,
  place: PayloadPlace,
  entries: readonly IndexEntry[],
  concurrency: number,
): Promise<ReadonlyMap<bigint, ReadonlySet<string>>> {
  const joined = new Map<bigint, Set<string>>();
  for (
    const items of await mapConcurrent(
      entries,
      concurrency,
      (entry) => readItems(read, place, entry),
    )
  ) {
    for (const [anchor, identity] of items) {
      const known = joined.get(anchor);
      if (known === undefined) joined.set(anchor, new Set([identity]));
      else known.add(identity);
    }
  }
  return joined;
}

/**
 * The anchors in `replaced` that `matches`, by the identities that their Items have there and in
 * `added`, ascending.
 */
async function anchorsWhere(
  { read, place, concurrency }: Reading,
  replaced: readonly IndexEntry[],
  added: readonly IndexEntry[],
  matches: (before: ReadonlySet<string>, after: ReadonlySet<string>) => boolean,
): Promise<readonly bigint[]> {
  const before = await itemsOf(read, place, replaced, concurrency);
  const after = await itemsOf(read, place, added, concurrency);
  return [...before]
    .filter(([anchor, identities]) => matches(identities, after.get(anchor) ?? NONE))
    .map(([anchor]) => anchor)
    .sort((a, b) => (a < b ? -1 : 1));
}

function describeGroup(kind: EntryKind, entry: IndexEntry | undefined) {
  if (entry === undefined || anchorsInIndex(kind)) return {};
  return kind === "spatial-bucket" ? { cells: [cellText(entry)] } : { values: [valueText(entry)] };
}

/** Refuses a side's replacement that lost or altered records. */
async function checkReplacement(
  field: FieldSides,
  kind: EntryKind,
  replacement: Replacement,
  reading: Reading,
): Promise<readonly Refusal[]> {
  const came = groupEntries(kind, replacement.added);
  const refusals: Refusal[] = [];
  for (const [key, removed] of groupEntries(kind, replacement.removed)) {
    const lost = await anchorsWhere(
      reading,
      removed,
      came.get(key) ?? [],
      (before, after) => ![...before].every((identity) => after.has(identity)),
    );
    if (lost.length === 0) continue;
    refusals.push({
      code: "records-missing",
      message: `${lost.length} records of the field ${field.field} are gone or altered on ` +
        `${replacement.name}, without a rewrite that holds them`,
      next: "Restore the branch from before that change; to delete records use tombstones.",
      sides: [replacement.name],
      field: field.field,
      modality: field.modality,
      ...describeGroup(kind, removed[0]),
      anchors: lost.slice(0, LISTED_ANCHORS),
      anchorCount: lost.length,
      addresses: [...new Set(removed.map(({ address }) => address))].slice(0, LISTED_ANCHORS),
    });
  }
  return refusals;
}

function sameEntries(a: readonly IndexEntry[], b: readonly IndexEntry[]): boolean {
  const keys = new Set(a.map(({ bytes }) => bytesKey(bytes)));
  return a.length === b.length && b.every(({ bytes }) => keys.has(bytesKey(bytes)));
}

function common(a: readonly IndexEntry[], b: readonly IndexEntry[]): IndexEntry[] {
  const keys = new Set(a.map(({ bytes }) => bytesKey(bytes)));
  return b.filter(({ bytes }) => keys.has(bytesKey(bytes)));
}

/**
 * Checks what sides took away, and finds the cells that more than one side rewrote.
 *
 * @param names the refs' names by position; trunk's first
 * @param fuse whether cells rewritten twice may be joined record by record
 */
export async function checkRewrites(
  field: FieldSides,
  kind: EntryKind,
  changes: FieldChanges,
  read: ReadObject,
  names: readonly string[],
  options: { readonly fuse: boolean; readonly concurrency: number },
): Promise<RewriteFindings> {
  const reading: Reading = {
    read,
    place: { kind, timeline: field.timeline, modality: field.modality },
    concurrency: options.concurrency,
  };
  const refusals: Refusal[] = [];
  const rewrittenBy = new Map<number, ReadonlySet<string>>([
    [0, new Set(changes.trunkReplaced.map(groupKey))],
  ]);
  const joined = new Map<string, RewrittenGroup>();
  const replacements: (Replacement & { readonly position: number })[] = changes.branches
    .filter(({ takenAway }) => takenAway.length > 0)
    .map(({ branch, takenAway, added }) => ({
      position: branch.side.position,
      name: branch.side.name,
      removed: takenAway,
      added,
    }));
  for (const replacement of replacements) {
    refusals.push(...await checkReplacement(field, kind, replacement, reading));
    rewrittenBy.set(replacement.position, new Set(replacement.removed.map(groupKey)));
  }
  if (replacements.length === 0) return { refusals, joined: [], rewrittenBy };

  // Two sides that rewrote a cell alike and then went on appending to it do not contradict.
  const holdsAll = async (
    replaced: readonly IndexEntry[],
    rewritten: readonly IndexEntry[],
  ): Promise<boolean> => {
    if (rewritten.length === 0) return false;
    const gone = await anchorsWhere(reading, replaced, rewritten, (_, after) => after.size === 0);
    return gone.length === 0;
  };
  const conflicts = new Map<string, { names: Set<string>; entries: IndexEntry[] }>();
  const grouped = replacements.map(({ removed, added }) => ({
    removed: groupEntries(kind, removed),
    added: groupEntries(kind, added),
  }));
  for (const [index, one] of replacements.entries()) {
    const mine = grouped[index];
    if (mine === undefined) continue;
    const others = [
      {
        name: names[0] ?? "trunk",
        removed: groupEntries(kind, changes.trunkRemoved.get(one.position) ?? []),
        added: groupEntries(kind, changes.trunkNew.get(one.position) ?? []),
      },
      ...replacements.slice(index + 1).flatMap(({ name }, offset) => {
        const groups = grouped[index + 1 + offset];
        return groups === undefined ? [] : [{ name, ...groups }];
      }),
    ];
    for (const other of others) {
      for (const [key, theirs] of other.removed) {
        const ours = mine.removed.get(key);
        if (ours === undefined) continue;
        const myNew = mine.added.get(key) ?? [];
        const theirNew = other.added.get(key) ?? [];
        if (
          sameEntries(ours, theirs) &&
          (sameEntries(myNew, theirNew) || await holdsAll(ours, common(myNew, theirNew)))
        ) continue;
        const conflict = conflicts.get(key) ?? { names: new Set<string>(), entries: [] };
        conflict.names.add(one.name).add(other.name);
        conflict.entries.push(...ours, ...theirs, ...myNew, ...theirNew);
        conflicts.set(key, conflict);
      }
    }
  }
  const groupOf = conflicts.size === 0 ? undefined : rewrittenGroups(kind, changes);
  for (const [key, { names: sides, entries }] of conflicts) {
    if (!anchorsInIndex(kind) && options.fuse && groupOf !== undefined) {
      const group = groupOf(key);
      const different = kind === "spatial-bucket" ? await differingRecords(reading, group) : [];
      if (different.length === 0) {
        joined.set(key, group);
        continue;
      }
      refusals.push({
        code: "cell-rewritten-twice",
        message:
          `${[...sides].join(" and ")} both rewrote a cell of the field ${field.field}, and ` +
          `${different.length} of its records have one anchor and other bytes`,
        next: "Find out which side is right and ingest the other again without these anchors.",
        sides: [...sides],
        field: field.field,
        modality: field.modality,
        ...describeGroup(kind, entries[0]),
        anchors: different.slice(0, LISTED_ANCHORS),
        anchorCount: different.length,
        addresses: [...new Set(entries.map(({ address }) => address))].slice(0, LISTED_ANCHORS),
      });
      continue;
    }
    refusals.push({
      code: "cell-rewritten-twice",
      message: `${[...sides].join(" and ")} both rewrote entries of the field ${field.field}, ` +
        "differently; kept side by side their common records would count twice",
      next: !anchorsInIndex(kind)
        ? "Merge with --buckets=fuse, which joins such cells record by record."
        : "Keep the rewrite of one side and ingest the other side's additions again.",
      sides: [...sides],
      field: field.field,
      modality: field.modality,
      ...describeGroup(kind, entries[0]),
      addresses: [...new Set(entries.map(({ address }) => address))].slice(0, LISTED_ANCHORS),
    });
  }
  return { refusals, joined: [...joined.values()], rewrittenBy };
}

/** Gives the entries of any side that were replaced, and that came, in a group. */
function rewrittenGroups(kind: EntryKind, changes: FieldChanges): (key: string) => RewrittenGroup {
  const distinct = (entries: readonly IndexEntry[]) => [
    ...new Map(entries.map((entry) => [bytesKey(entry.bytes), entry])).values(),
  ];
  const replaced = groupEntries(
    kind,
    distinct([
      ...changes.branches.flatMap(({ takenAway }) => takenAway),
      ...[...changes.trunkRemoved.values()].flat(),
    ]),
  );
  const added = groupEntries(
    kind,
    distinct([
      ...changes.additions.map(({ entry }) => entry),
      ...[...changes.trunkNew.values()].flat(),
    ]),
  );
  return (key) => ({ key, replaced: replaced.get(key) ?? [], added: added.get(key) ?? [] });
}

/**
 * Anchors of replaced records that some side's rewrite holds with other bytes. Anchors that are new
 * are not looked at: a new anchor of two sides is the business of `duplicates.ts`.
 */
function differingRecords(reading: Reading, group: RewrittenGroup): Promise<readonly bigint[]> {
  return anchorsWhere(
    reading,
    group.replaced,
    group.added,
    (before, after) => new Set([...before, ...after]).size > 1,
  );
}
