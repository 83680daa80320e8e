/**
 * What one inline index has that another lacks.
 *
 * Two versions of a Track share nearly all of their entries, in runs. A run is compared as bytes,
 * so the cost is that of reading the bytes, not of parsing entries; only entries around a change
 * are parsed. The order in which a writer put ties plays no part: what looks added and removed at
 * once is cancelled at the end, as a set.
 *
 * @module
 */

import { bytesKey, commonPrefix, compareBytes, lastAtMost } from "../encoding/bytes.ts";
import { CborCursor } from "../encoding/cbor-cursor.ts";
import type { DreamDBError } from "../errors.ts";
import { malformedObject } from "../model/malformed.ts";

/** Encoded entries with the offset of each; `offsets` has one more element than there are entries. */
export interface EntryRun {
  readonly bytes: Uint8Array;
  readonly offsets: Uint32Array;
}

/** Encoded entries only on one side. */
export interface EntryDifference {
  readonly added: readonly Uint8Array[];
  readonly removed: readonly Uint8Array[];
}

function wrongCount(found: number, expected: number): DreamDBError {
  return malformedObject(
    { kind: "track" },
    `${found} entries in an index that says it has ${expected}`,
    `${expected} entries and nothing behind them`,
  );
}

/**
 * Finds where each of `count` encoded entries begins, reading all of them strictly.
 * @throws DreamDBError malformed-cbor, malformed-object
 */
export function indexEntryRun(bytes: Uint8Array, count: number): EntryRun {
  const offsets = new Uint32Array(count + 1);
  const cursor = new CborCursor(bytes);
  for (let index = 0; index < count; index++) {
    offsets[index] = cursor.offset;
    cursor.skip();
  }
  offsets[count] = cursor.offset;
  if (!cursor.done) throw wrongCount(count + 1, count);
  return { bytes, offsets };
}

/**
 * Compares `side` with `base`.
 *
 * @param base entries whose offsets are known
 * @param side encoded entries; parsed strictly wherever they are not the same bytes as `base`
 * @param sideCount how many entries `side` says it has
 * @throws DreamDBError malformed-cbor, malformed-object
 */
export function inlineDifference(
  base: EntryRun,
  side: Uint8Array,
  sideCount: number,
): EntryDifference {
  const { bytes, offsets } = base;
  const count = offsets.length - 1;
  const cursor = new CborCursor(side);
  const added: Uint8Array[] = [];
  const removed: Uint8Array[] = [];
  let next = 0;
  let position = 0;

  while (next < count && position < side.length) {
    const start = offsets[next] ?? 0;
    const matched = commonPrefix(bytes, start, side, position);
    const reached = lastAtMost(offsets, start + matched);
    if (reached > next) {
      position += (offsets[reached] ?? 0) - start;
      next = reached;
      continue;
    }
    cursor.offset = position;
    cursor.skip();
    const ours = bytes.subarray(start, offsets[next + 1]);
    const theirs = side.subarray(position, cursor.offset);
    // Behind the array head an entry's encoded bytes sort as (cell or value, start): a hint which
    // of the two is missing on the other side, and no more than that.
    const order = compareBytes(theirs.subarray(1), ours.subarray(1));
    if (order <= 0) {
      added.push(theirs);
      position = cursor.offset;
    }
    if (order >= 0) {
      removed.push(ours);
      next++;
    }
  }
  for (; next < count; next++) removed.push(bytes.subarray(offsets[next], offsets[next + 1]));
  for (cursor.offset = position; !cursor.done;) {
    const start = cursor.offset;
    cursor.skip();
    added.push(side.subarray(start, cursor.offset));
  }
  const found = count - removed.length + added.length;
  if (found !== sideCount) throw wrongCount(found, sideCount);
  return cancel(added, removed);
}

/** Takes out of both lists what stands in both. */
function cancel(
  added: readonly Uint8Array[],
  removed: readonly Uint8Array[],
): EntryDifference {
  if (added.length === 0 || removed.length === 0) return { added, removed };
  const addedKeys = new Set(added.map(bytesKey));
  const removedKeys = new Set(removed.map(bytesKey));
  return {
    added: added.filter((entry) => !removedKeys.has(bytesKey(entry))),
    removed: removed.filter((entry) => !addedKeys.has(bytesKey(entry))),
  };
}
