/**
 * Judges anchors that were added more than once: refused, or, where equal Items are allowed, taken
 * once (DESIGN 1, "duplicates").
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import { bytesKey } from "../encoding/bytes.ts";
import type { EntryKind, IndexEntry } from "../model/index-entry.ts";
import type { FieldSides } from "./field-sides.ts";
import { anchorsInIndex, cellText, valueText } from "./payload.ts";
import { LISTED_ANCHORS } from "./refusal.ts";
import type { Refusal } from "./refusal.ts";

/** The owner of what trunk holds. */
export const TRUNK = 0;

/** An entry as it stands in the check: added by a group of branches, or trunk's. */
export interface Holder {
  readonly entry: IndexEntry;
  /** A number for the group that added it; trunk's is 0. */
  readonly owner: number;
  readonly positions: readonly number[];
  /** A branch of the group replaced it: its records stand in what that branch added. */
  readonly superseded: boolean;
  /** Superseded itself, it holds the records of these entries of older shared history. */
  readonly replaced: readonly IndexEntry[];
}

/** What the check found. */
export interface DuplicateFindings {
  readonly refusals: readonly Refusal[];
  /**
   * With `allowIdentical`: the anchors that must be left out of an addition, because an equal Item
   * stays elsewhere; by the entry's bytes.
   */
  readonly dropped: ReadonlyMap<string, ReadonlySet<bigint>>;
  /** With `allowIdentical`: additions that trunk has byte for byte, by their bytes. */
  readonly standing: ReadonlySet<string>;
  /** How many anchors were accepted as identical. */
  readonly identicalCount: number;
  readonly identicalAnchors: readonly bigint[];
}

/** Every place in which one anchor stands, with the identity of the Item there. */
export type Occurrences = readonly { readonly holder: Holder; readonly identity: string }[];

/** One refusal for each set of sides that share anchors, or drops where identity is allowed. */
export function judgeDuplicates(
  field: FieldSides,
  kind: EntryKind,
  occurrences: ReadonlyMap<bigint, Occurrences>,
  names: readonly string[],
  mayBeIdentical: (anchor: bigint) => boolean,
): DuplicateFindings {
  const groups = new Map<string, { anchors: bigint[]; found: Set<Holder>; different: number }>();
  const dropped = new Map<string, Set<bigint>>();
  const standing = new Set<string>();
  const identical: bigint[] = [];
  for (const [anchor, list] of occurrences) {
    const different = new Set(list.map(({ identity }) => identity)).size > 1;
    if (mayBeIdentical(anchor) && !different && dropAllButOne(anchor, list, dropped, standing)) {
      identical.push(anchor);
      continue;
    }
    const positions = [...new Set(list.flatMap(({ holder }) => holder.positions))];
    const key = positions.sort((a, b) => a - b).join(" ");
    const group = groups.get(key) ?? { anchors: [], found: new Set<Holder>(), different: 0 };
    group.anchors.push(anchor);
    for (const { holder } of list) group.found.add(holder);
    if (different) group.different++;
    groups.set(key, group);
  }
  const refusals = [...groups].map(([key, { anchors, found, different }]): Refusal => {
    const sides = key.split(" ").map((position) => names[Number(position)] ?? position);
    anchors.sort((a, b) => (a < b ? -1 : 1));
    const entries = [...found].map(({ entry }) => entry);
    const equality = different === 0
      ? "with equal Items"
      : different === anchors.length
      ? "with different Items"
      : `${different} of them with different Items`;
    return {
      code: "duplicate-anchor",
      message: `${anchors.length} anchor${anchors.length === 1 ? " was" : "s were"} added to the ` +
        `field ${field.field} more than once, by ${sides.join(", ")}, ${equality}`,
      next: different === 0
        ? "The slices overlap: ingest each record on one branch only, or pass --allow-identical " +
          "to take equal Items once."
        : "The slices overlap: find out which side is right and ingest the others again without " +
          "these anchors.",
      sides,
      field: field.field,
      modality: field.modality,
      ...evidence(kind, entries),
      anchors: anchors.slice(0, LISTED_ANCHORS),
      anchorCount: anchors.length,
      addresses: distinctAddresses(entries),
    };
  });
  return {
    refusals,
    dropped,
    standing,
    identicalCount: identical.length,
    identicalAnchors: identical.sort((a, b) => (a < b ? -1 : 1)).slice(0, LISTED_ANCHORS),
  };
}

/** Leaves one of equal Items; false when more than one stands where it cannot be left out. */
function dropAllButOne(
  anchor: bigint,
  list: Occurrences,
  dropped: Map<string, Set<bigint>>,
  standing: Set<string>,
): boolean {
  // Trunk's copy stays, and so does one in a bucket that replaces it; among other branches the one
  // with the smallest bytes, so that the order in which branches were named does not matter.
  const fixed = list.filter(({ holder }) => holder.owner === TRUNK || holder.superseded);
  if (fixed.length > 1) return false;
  const keyOf = ({ holder }: Occurrences[number]): string => bytesKey(holder.entry.bytes);
  const keys = list.filter((one) => !fixed.includes(one)).map(keyOf);
  const [stays] = fixed;
  const kept = stays === undefined ? [...keys].sort()[0] : keyOf(stays);
  for (const key of keys) {
    if (key === kept) {
      if (stays !== undefined) standing.add(key);
      continue;
    }
    const set = dropped.get(key) ?? new Set();
    set.add(anchor);
    dropped.set(key, set);
  }
  return true;
}

function distinctAddresses(entries: readonly IndexEntry[]): Address[] {
  return [...new Set(entries.map(({ address }) => address))].sort().slice(0, LISTED_ANCHORS);
}

function evidence(
  kind: EntryKind,
  entries: readonly IndexEntry[],
): { readonly cells?: readonly string[]; readonly values?: readonly string[] } {
  if (kind === "spatial-bucket") {
    return { cells: [...new Set(entries.map(cellText))].sort().slice(0, LISTED_ANCHORS) };
  }
  if (anchorsInIndex(kind)) return {};
  return { values: [...new Set(entries.map(valueText))].sort().slice(0, LISTED_ANCHORS) };
}
