/**
 * Putting changes into ordered runs of entries, for a tree that is built anew.
 *
 * @module
 */

import { bytesKey } from "../../encoding/bytes.ts";
import type { PageEntry } from "../../model/page-entry.ts";
import { mergeEntries } from "./apply.ts";
import type { TreeChanges } from "./apply.ts";
import type { EntryRuns } from "./build.ts";
import { RunCursor } from "./run-cursor.ts";
import { sortedEntries } from "./tree-format.ts";
import type { TreeFormat } from "./tree-format.ts";

const RUN_LENGTH = 512;

/**
 * Merges changes into ordered runs. Regions come out sorted: existing entries before new ones that
 * sort the same, ties among new ones by their bytes. Entries to take out that are not there are
 * passed over.
 */
export async function* mergeRuns<Entry extends PageEntry>(
  format: TreeFormat<Entry>,
  runs: EntryRuns<Entry>,
  changes: TreeChanges,
): AsyncGenerator<readonly Entry[]> {
  const existing = new RunCursor(runs);
  const added = new RunCursor([sortedEntries(format, changes.added)]);
  const removed = new RunCursor([sortedEntries(format, changes.removed)]);
  let out: Entry[] = [];
  for (;;) {
    for (const cursor of [existing, added, removed]) if (!cursor.ready) await cursor.refill();
    const old = existing.peek();
    const fresh = added.peek();
    const region =
      old === undefined || (fresh !== undefined && format.compareRegion(fresh, old) < 0)
        ? fresh
        : old;
    if (region === undefined) break;
    const belongs = (entry: Entry): boolean => format.compareRegion(entry, region) === 0;
    const taken: Entry[] = [];
    while (!existing.take(belongs, taken)) await existing.refill();
    const gone: Entry[] = [];
    removed.take((entry) => format.compareRegion(entry, region) <= 0, gone);
    const comes: Entry[] = [];
    added.take(belongs, comes);
    const kept = without(taken, gone);
    if (kept.length > 1) kept.sort(format.compare);
    for (const entry of mergeEntries(format, kept, comes)) out.push(entry);
    if (out.length >= RUN_LENGTH) {
      yield out;
      out = [];
    }
  }
  if (out.length > 0) yield out;
}

function without<Entry extends PageEntry>(entries: Entry[], gone: readonly Entry[]): Entry[] {
  if (gone.length === 0) return entries;
  const keys = new Set(gone.map(({ bytes }) => bytesKey(bytes)));
  return entries.filter(({ bytes }) => !keys.has(bytesKey(bytes)));
}
