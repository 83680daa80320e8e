/**
 * The union-merge of records, written from its rules and not from its code: sets of records, and
 * nothing of Tracks, entries or buckets.
 *
 * @module
 */

import type { Row } from "../support/store-fields.ts";

/** What a ref holds. */
export interface State {
  /** Anchors by field, with the identity of what was written there. */
  readonly records: ReadonlyMap<string, ReadonlyMap<bigint, string>>;
  readonly deleted: ReadonlySet<bigint>;
}

export function emptyState(fields: Iterable<string>): State {
  return {
    records: new Map([...fields].map((field) => [field, new Map<bigint, string>()])),
    deleted: new Set(),
  };
}

/** The state after an append. */
export function withRows(
  state: State,
  rows: readonly Row[],
  identity: (row: Row) => string,
): State {
  const records = new Map([...state.records].map(([field, anchors]) => {
    const grown = new Map(anchors);
    for (const row of rows) if (field in row.values) grown.set(row.anchor, identity(row));
    return [field, grown] as const;
  }));
  return { ...state, records };
}

/** The state after deletions. */
export function withDeleted(state: State, anchors: readonly bigint[]): State {
  return { ...state, deleted: new Set([...state.deleted, ...anchors]) };
}

/** The union of several states: nothing is lost, nothing doubled, what is deleted anywhere is. */
export function union(states: readonly State[]): State {
  const records = new Map<string, Map<bigint, string>>();
  for (const state of states) {
    for (const [field, anchors] of state.records) {
      const joined = records.get(field) ?? new Map<bigint, string>();
      records.set(field, joined);
      for (const [anchor, identity] of anchors) joined.set(anchor, identity);
    }
  }
  return { records, deleted: new Set(states.flatMap(({ deleted }) => [...deleted])) };
}

/** Sorted text of a state, for comparing and printing. */
export function described(state: State): readonly string[] {
  return [
    ...[...state.records].flatMap(([field, anchors]) =>
      [...anchors.keys()].map((anchor) => `${field} ${anchor}`)
    ),
    ...[...state.deleted].map((anchor) => `deleted ${anchor}`),
  ].sort();
}
