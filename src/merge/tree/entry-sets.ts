/**
 * Comparing entries as sets.
 *
 * @module
 */

import { bytesKey, equalBytes } from "../../encoding/bytes.ts";
import type { PageEntry } from "../../model/page-entry.ts";

/** Entries only in one of two indexes, in the tree's order. */
export interface IndexDifference<Entry extends PageEntry> {
  /** In `side` and not in `base`. */
  readonly added: readonly Entry[];
  /** In `base` and not in `side`. */
  readonly removed: readonly Entry[];
}

/** What two lists have that the other lacks, each entry once, in the order of its list. */
export function compareSets<Entry extends PageEntry>(
  old: readonly Entry[],
  own: readonly Entry[],
): IndexDifference<Entry> {
  const [first, second] = [old[0], own[0]];
  if (first === undefined) return { added: distinct(own), removed: [] };
  if (second === undefined) return { added: [], removed: distinct(old) };
  if (old.length === 1 && own.length === 1 && equalBytes(first.bytes, second.bytes)) {
    return { added: [], removed: [] };
  }
  // Nearly all regions begin and end alike.
  let head = 0;
  const oldEnd = old.length;
  const ownEnd = own.length;
  const alike = (a: Entry | undefined, b: Entry | undefined): boolean =>
    a !== undefined && b !== undefined && a.bytes.length === b.bytes.length &&
    equalBytes(a.bytes, b.bytes);
  while (head < oldEnd && head < ownEnd && alike(old[head], own[head])) head++;
  if (head === oldEnd && head === ownEnd) return { added: [], removed: [] };
  const oldKeys = new Set(old.map(({ bytes }) => bytesKey(bytes)));
  const ownKeys = new Set(own.map(({ bytes }) => bytesKey(bytes)));
  return {
    added: distinct(own.filter(({ bytes }) => !oldKeys.has(bytesKey(bytes)))),
    removed: distinct(old.filter(({ bytes }) => !ownKeys.has(bytesKey(bytes)))),
  };
}

function distinct<Entry extends PageEntry>(entries: readonly Entry[]): readonly Entry[] {
  if (entries.length < 2) return entries;
  return [...new Map(entries.map((entry) => [bytesKey(entry.bytes), entry])).values()];
}
