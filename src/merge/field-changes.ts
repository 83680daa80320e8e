/**
 * What each side changed in one field, as entries of its index.
 *
 * A branch's changes are counted from its own base. The result of a merge is trunk's entries, plus
 * what branches added, less what any side took away (DESIGN 2): an entry is equal to another when
 * all its bytes are.
 *
 * @module
 */

import { bytesKey } from "../encoding/bytes.ts";
import { fieldKey } from "../model/binding.ts";
import type { Binding } from "../model/binding.ts";
import type { EntryKind, IndexEntry } from "../model/index-entry.ts";
import type { Manifest } from "../model/manifest.ts";
import type { FieldBranch, FieldSides } from "./field-sides.ts";
import type { Sides } from "./sides.ts";
import type { TrackContent, TrackDifference } from "./track-content.ts";
import type { TrackLoader } from "./track-loader.ts";

/** One branch's changes. */
export interface BranchChanges extends TrackDifference {
  readonly branch: FieldBranch;
}

/** An entry that one or more branches added, once. */
export interface Addition {
  readonly entry: IndexEntry;
  /**
   * Positions of the branches that added it, in groups: branches of one group have it from history
   * they share, and so added it once; more than one group means it was ingested more than once.
   */
  readonly groups: readonly (readonly number[])[];
}

/** All changes of a field. */
export interface FieldChanges {
  readonly trunk: TrackContent;
  /**
   * One of the bases: trunk's entries are its entries, less `trunkRemoved` and with `trunkNew` of
   * `position`.
   */
  readonly base: { readonly content: TrackContent; readonly position: number };
  readonly branches: readonly BranchChanges[];
  /** What branches added, without what another branch took away again. */
  readonly additions: readonly Addition[];
  /** Trunk's entries that no base has and that no earlier merge settled. */
  readonly trunkAdded: readonly IndexEntry[];
  /** What trunk took away from each branch's base, by the branch's position. */
  readonly trunkRemoved: ReadonlyMap<number, readonly IndexEntry[]>;
  /** All of trunk's entries that a branch's base lacks, by the branch's position. */
  readonly trunkNew: ReadonlyMap<number, readonly IndexEntry[]>;
  /** Entries of trunk that some branch took away, by their bytes. */
  readonly removed: ReadonlyMap<string, IndexEntry>;
}

function bindingIn(manifest: Manifest, like: Binding): Binding | undefined {
  const key = fieldKey(like);
  return manifest.tracks.active.find((binding) => fieldKey(binding) === key);
}

/** Puts positions into groups that share history from which they have the entry with `key`. */
function groupByHistory(
  positions: readonly number[],
  key: string,
  sharedKeys: readonly {
    readonly positions: readonly number[];
    readonly keys: ReadonlySet<string>;
  }[],
): number[][] {
  const groups = positions.map((position) => [position]);
  for (const shared of sharedKeys) {
    if (!shared.keys.has(key)) continue;
    const together = groups.filter((group) => group.some((one) => shared.positions.includes(one)));
    if (together.length < 2) continue;
    for (const group of together) groups.splice(groups.indexOf(group), 1);
    groups.push(together.flat().sort((a, b) => a - b));
  }
  return groups;
}

/** Works out the changes of `field`. */
export async function findChanges(
  sides: Sides,
  field: FieldSides,
  kind: EntryKind,
  loader: TrackLoader,
): Promise<FieldChanges> {
  const like = field.trunk ?? field.branches[0]?.binding;
  const trunk = await loader.content(field.trunk, kind);
  const branches = await Promise.all(field.changed.map(async (branch): Promise<BranchChanges> => {
    const [base, own] = await Promise.all([
      loader.content(branch.base, kind),
      loader.content(branch.binding, kind),
    ]);
    return { branch, ...await base.difference(own) };
  }));

  const gone = new Set<string>();
  for (const changes of branches) {
    for (const { bytes } of changes.removed) gone.add(bytesKey(bytes));
  }
  const sharedKeys: { positions: readonly number[]; keys: ReadonlySet<string> }[] = [];
  for (const shared of sides.shared) {
    const binding = like === undefined ? undefined : bindingIn(shared.manifest, like);
    const from = await loader.content(binding, kind);
    const keys = new Set<string>();
    const grown = branches.filter(({ branch }) => shared.positions.includes(branch.side.position));
    for (const { branch } of grown) {
      const base = await loader.content(branch.base, kind);
      for (const { bytes } of (await base.difference(from)).added) keys.add(bytesKey(bytes));
      const own = await loader.content(branch.binding, kind);
      for (const { bytes } of (await from.difference(own)).removed) gone.add(bytesKey(bytes));
    }
    sharedKeys.push({ positions: shared.positions, keys });
  }

  const adding = new Map<string, { entry: IndexEntry; positions: number[] }>();
  for (const { branch, added } of branches) {
    for (const entry of added) {
      const key = bytesKey(entry.bytes);
      if (gone.has(key)) continue;
      const known = adding.get(key);
      if (known === undefined) adding.set(key, { entry, positions: [branch.side.position] });
      else if (!known.positions.includes(branch.side.position)) {
        known.positions.push(branch.side.position);
      }
    }
  }
  const additions = [...adding].map(([key, { entry, positions }]): Addition => ({
    entry,
    groups: positions.length === 1 ? [positions] : groupByHistory(positions, key, sharedKeys),
  }));

  const trunkRemoved = new Map<number, readonly IndexEntry[]>();
  const trunkNew = new Map<number, readonly IndexEntry[]>();
  const differences = new Map<TrackContent, TrackDifference>();
  let unsettled: ReadonlyMap<string, IndexEntry> | undefined;
  const keep = (entries: readonly IndexEntry[]): void => {
    const before = unsettled;
    unsettled = new Map(
      entries.map((entry) => [bytesKey(entry.bytes), entry] as const)
        .filter(([key]) => before === undefined || before.has(key)),
    );
  };
  for (const { branch } of branches) {
    const base = await loader.content(branch.base, kind);
    let difference = differences.get(base);
    if (difference === undefined) {
      difference = await base.difference(trunk);
      differences.set(base, difference);
      keep(difference.added);
    }
    trunkNew.set(branch.side.position, difference.added);
    trunkRemoved.set(branch.side.position, difference.removed);
  }
  const removed = new Map<string, IndexEntry>();
  for (const { branch, removed: entries } of branches) {
    const goneFromTrunk = new Set(
      trunkRemoved.get(branch.side.position)?.map(({ bytes }) => bytesKey(bytes)),
    );
    for (const entry of entries) {
      const key = bytesKey(entry.bytes);
      if (!goneFromTrunk.has(key)) removed.set(key, entry);
    }
  }
  if (sides.settled !== undefined && like !== undefined && (unsettled?.size ?? 0) > 0) {
    const settled = await loader.content(bindingIn(sides.settled, like), kind);
    keep((await settled.difference(trunk)).added);
  }
  const [first] = branches;
  return {
    trunk,
    base: {
      content: await loader.content(first?.branch.base, kind),
      position: first?.branch.side.position ?? 0,
    },
    branches,
    additions,
    trunkAdded: [...(unsettled?.values() ?? [])],
    trunkRemoved,
    trunkNew,
    removed,
  };
}
