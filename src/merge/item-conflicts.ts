/**
 * VideoItems that cannot stand in one Track: two that overlap in time, or two of one key. The
 * reference refuses the first when it publishes, and takes the second for a replacement (PAGED 7b).
 *
 * @module
 */

import { bytesKey, equalBytes } from "../encoding/bytes.ts";
import type { IndexEntry } from "../model/index-entry.ts";
import type { FieldChanges } from "./field-changes.ts";
import type { FieldSides } from "./field-sides.ts";
import { entriesWithKeys, itemKey } from "./item-keys.ts";
import type { ReadObject } from "./object-reader.ts";
import { LISTED_ANCHORS } from "./refusal.ts";
import type { Refusal } from "./refusal.ts";

/** An Item and who added it. */
export interface ItemHolder {
  readonly entry: IndexEntry;
  /** A number for the group of branches that added it; trunk's is 0. */
  readonly owner: number;
  readonly positions: readonly number[];
  readonly superseded: boolean;
}

interface Conflict {
  readonly reason: "time" | "key";
  readonly holders: readonly [ItemHolder, ItemHolder];
}

/**
 * One refusal for each set of sides whose Items overlap or share keys. Items with the same start
 * are none of these: they are duplicates, whatever their kind.
 *
 * @param holders what branches added, and trunk's Items around it
 * @param names the refs' names by position
 */
export async function refuseItemConflicts(
  field: FieldSides,
  changes: FieldChanges,
  holders: readonly ItemHolder[],
  read: ReadObject,
  names: readonly string[],
): Promise<readonly Refusal[]> {
  const added = holders.filter(({ owner }) => owner !== 0);
  const sharingKeys = await entriesWithKeys(
    changes.trunk,
    added.map(({ entry }) => itemKey(entry)),
    read,
  );
  const trunk = new Map(
    [...holders.filter(({ owner }) => owner === 0).map(({ entry }) => entry), ...sharingKeys]
      .map((entry) => [bytesKey(entry.bytes), entry]),
  );
  const standing = [
    ...[...trunk].filter(([key]) => !changes.removed.has(key))
      .map(([, entry]): ItemHolder => ({ entry, owner: 0, positions: [0], superseded: false })),
    ...added.filter(({ superseded }) => !superseded),
  ];
  return refusalsOf(field, [...overlaps(standing), ...sharedKeys(standing)], names);
}

/** Whether two Items cannot both stand, and are not two of one start. */
function differ(a: ItemHolder, b: ItemHolder): boolean {
  return a.owner !== b.owner && a.entry.start !== b.entry.start;
}

function* overlaps(holders: readonly ItemHolder[]): Generator<Conflict> {
  const sorted = holders.toSorted((a, b) =>
    a.entry.start < b.entry.start ? -1 : a.entry.start > b.entry.start ? 1 : 0
  );
  let open: ItemHolder[] = [];
  for (const holder of sorted) {
    open = open.filter(({ entry }) => entry.end > holder.entry.start);
    for (const other of open) {
      if (differ(other, holder)) yield { reason: "time", holders: [other, holder] };
    }
    open.push(holder);
  }
}

function* sharedKeys(holders: readonly ItemHolder[]): Generator<Conflict> {
  for (const [first, ...others] of grouped(holders, ({ entry }) => bytesKey(itemKey(entry)))) {
    if (first === undefined) continue;
    for (const other of others) {
      if (differ(first, other)) yield { reason: "key", holders: [first, other] };
    }
  }
}

function refusalsOf(
  field: FieldSides,
  conflicts: readonly Conflict[],
  names: readonly string[],
): readonly Refusal[] {
  const positionsOf = ({ holders }: Conflict): readonly number[] =>
    [...new Set(holders.flatMap(({ positions }) => positions))].sort((a, b) => a - b);
  const groups = grouped(
    conflicts,
    (conflict) => [conflict.reason, ...positionsOf(conflict)].join(" "),
  );
  return groups.flatMap((group): Refusal[] => {
    const [example] = group;
    if (example === undefined) return [];
    const { reason } = example;
    const sides = positionsOf(example).map((position) => names[position] ?? `side ${position}`);
    const entries = group.flatMap(({ holders }) => holders.map(({ entry }) => entry));
    const distinct = entries.filter((entry, index) =>
      entries.findIndex(({ bytes }) => equalBytes(bytes, entry.bytes)) === index
    );
    const anchors = distinct.map(({ start }) => start).sort((a, b) => a < b ? -1 : 1);
    const who = `${distinct.length} VideoItems of the field ${field.field}, added by ${
      sides.join(", ")
    },`;
    return [{
      code: "duplicate-anchor",
      message: reason === "time"
        ? `${who} overlap in time; a VideoItem Track has one Item at a time`
        : `${who} share their keys; a key names one Item of a Track`,
      next: reason === "time"
        ? "Publish the Items of one side at another time, then merge again."
        : "Give each Item a key of its own, or publish it on one branch only.",
      sides,
      field: field.field,
      modality: field.modality,
      anchors: anchors.slice(0, LISTED_ANCHORS),
      anchorCount: anchors.length,
      addresses: [...new Set(distinct.map(({ address }) => address))].slice(0, LISTED_ANCHORS),
    }];
  });
}

function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): readonly Item[][] {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return [...groups.values()];
}
