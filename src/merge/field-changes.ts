/**
 * What each side changed in one field, as entries of its index.
 *
 * A branch's changes are counted from its own base. The result of a merge is trunk's entries, plus
 * what branches added, less what any side took away (DESIGN 2): an entry is equal to another when
 * all its bytes are.
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
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
  /**
   * All that the branch took away: `removed`, and entries of history it shares with other branches
   * that its base does not have.
   */
  readonly takenAway: readonly IndexEntry[];
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

/** An entry of shared history that some branch took away. */
export interface SupersededAddition extends Addition {
  /** What that history took away from older shared history: the entry holds those records, too. */
  readonly replaced: readonly IndexEntry[];
}

/** Shared history: see `SharedBase`. */
interface SharedEntries {
  readonly address: Address;
  readonly older: readonly Address[];
  readonly positions: readonly number[];
  readonly content: TrackContent;
  /** What was added in it, by the entries' bytes. */
  readonly keys: ReadonlySet<string>;
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
  /** What branches added to history they share and one of them took away again. */
  readonly superseded: readonly SupersededAddition[];
  /** Trunk's entries that no base has and that no earlier merge settled. */
  readonly trunkAdded: readonly IndexEntry[];
  /** Entries that trunk replaced where `trunkAdded` came, counted from the same Manifests. */
  readonly trunkReplaced: readonly IndexEntry[];
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
  sharedKeys: readonly SharedEntries[],
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

/** Entries of shared history that some branch took away, with all branches that had them of it. */
async function supersededAdditions(
  goneFromShared: ReadonlyMap<number, ReadonlyMap<string, IndexEntry>>,
  shared: readonly SharedEntries[],
): Promise<ReadonlyMap<string, SupersededAddition>> {
  const superseded = new Map<string, SupersededAddition>();
  for (const taken of goneFromShared.values()) {
    for (const [key, entry] of taken) {
      if (superseded.has(key)) continue;
      const sharing = shared.filter(({ keys }) => keys.has(key));
      const positions = new Set(sharing.flatMap((each) => each.positions));
      const first = sharing.filter(({ older }) =>
        !sharing.some(({ address }) => older.includes(address))
      );
      const replaced = (await Promise.all(first.map((each) => takenFromOlder(each, shared))))
        .flat();
      superseded.set(key, { entry, groups: [[...positions].sort((a, b) => a - b)], replaced });
    }
  }
  return superseded;
}

/** What shared history took away from older shared history. */
async function takenFromOlder(
  { content, older }: SharedEntries,
  shared: readonly SharedEntries[],
): Promise<readonly IndexEntry[]> {
  const taken: IndexEntry[] = [];
  for (const before of shared) {
    if (!older.includes(before.address)) continue;
    const { removed } = await before.content.difference(content);
    taken.push(...removed.filter(({ bytes }) => before.keys.has(bytesKey(bytes))));
  }
  return taken;
}

/** The entries of `content` that none of `bases` has, by their bytes. */
async function keysInNone(
  bases: readonly TrackContent[],
  content: TrackContent,
): Promise<ReadonlySet<string>> {
  let keys: ReadonlySet<string> | undefined;
  for (const base of new Set(bases)) {
    const { added } = await base.difference(content);
    const lacking = new Set(added.map(({ bytes }) => bytesKey(bytes)));
    keys = keys === undefined ? lacking : new Set([...keys].filter((key) => lacking.has(key)));
  }
  return keys ?? new Set();
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
  const differing = await Promise.all(field.changed.map(async (branch) => {
    const [base, own] = await Promise.all([
      loader.content(branch.base, kind),
      loader.content(branch.binding, kind),
    ]);
    return { branch, ...await base.difference(own) };
  }));

  const gone = new Set<string>();
  for (const changes of differing) {
    for (const { bytes } of changes.removed) gone.add(bytesKey(bytes));
  }
  const goneFromShared = new Map<number, Map<string, IndexEntry>>();
  const sharedEntries: SharedEntries[] = [];
  const contentAt = (manifest: Manifest): Promise<TrackContent> =>
    loader.content(like === undefined ? undefined : bindingIn(manifest, like), kind);
  for (const shared of sides.shared) {
    const from = await contentAt(shared.manifest);
    const grown = differing.filter(({ branch }) => shared.positions.includes(branch.side.position));
    // Where history is missing, the branches' own bases are all there is to count from.
    const bases = await Promise.all(
      shared.baseManifests.length > 0
        ? shared.baseManifests.map(contentAt)
        : grown.map(({ branch }) => loader.content(branch.base, kind)),
    );
    const keys = await keysInNone(bases, from);
    for (const { branch } of grown) {
      const { position } = branch.side;
      const own = await loader.content(branch.binding, kind);
      // What its own base has and it lacks, it took away from its base.
      const base = await loader.content(branch.base, kind);
      const apart = bases.includes(base) ? keys : await keysInNone([...bases, base], from);
      const taken = goneFromShared.get(position) ?? new Map<string, IndexEntry>();
      goneFromShared.set(position, taken);
      for (const entry of (await from.difference(own)).removed) {
        const key = bytesKey(entry.bytes);
        if (apart.has(key)) taken.set(key, entry);
      }
    }
    const { address, older, positions } = shared;
    sharedEntries.push({ address, older, positions, content: from, keys });
  }
  const branches = differing.map((changes): BranchChanges => ({
    ...changes,
    takenAway: [
      ...changes.removed,
      ...goneFromShared.get(changes.branch.side.position)?.values() ?? [],
    ],
  }));
  const superseded = await supersededAdditions(goneFromShared, sharedEntries);

  const adding = new Map<string, { entry: IndexEntry; positions: number[] }>();
  for (const { branch, added } of branches) {
    for (const entry of added) {
      const key = bytesKey(entry.bytes);
      if (gone.has(key) || superseded.get(key)?.groups[0]?.includes(branch.side.position)) continue;
      const known = adding.get(key);
      if (known === undefined) adding.set(key, { entry, positions: [branch.side.position] });
      else if (!known.positions.includes(branch.side.position)) {
        known.positions.push(branch.side.position);
      }
    }
  }
  const additions = [...adding].map(([key, { entry, positions }]): Addition => ({
    entry,
    groups: positions.length === 1 ? [positions] : groupByHistory(positions, key, sharedEntries),
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
  let trunkReplaced = [...trunkRemoved.values()].flat();
  if (sides.settled !== undefined && like !== undefined && (unsettled?.size ?? 0) > 0) {
    const settled = await loader.content(bindingIn(sides.settled, like), kind);
    const since = await settled.difference(trunk);
    keep(since.added);
    trunkReplaced = [...since.removed];
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
    superseded: [...superseded.values()],
    trunkAdded: [...(unsettled?.values() ?? [])],
    trunkReplaced,
    trunkRemoved,
    trunkNew,
    removed,
  };
}
