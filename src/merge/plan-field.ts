/**
 * Decides what becomes of one field: kept as trunk has it, taken from the one branch that changed
 * it, or joined out of several (DESIGN 2).
 *
 * @module
 */

import { bytesKey } from "../encoding/bytes.ts";
import type { Address } from "../encoding/address.ts";
import { isLayer } from "../model/binding.ts";
import type { Binding, BindingReference } from "../model/binding.ts";
import { joinCoverage } from "../model/coverage.ts";
import type { Coverage } from "../model/coverage.ts";
import { groupKey } from "../model/index-entry.ts";
import type { EntryKind, IndexEntry } from "../model/index-entry.ts";
import { referenceKey } from "../model/binding.ts";
import { findChanges } from "./field-changes.ts";
import type { Addition, FieldChanges } from "./field-changes.ts";
import type { FieldBranch, FieldSides } from "./field-sides.ts";
import { findDuplicates } from "./duplicates.ts";
import type { DuplicateFindings } from "./duplicates.ts";
import { isLargeBucket } from "./fuse-spatial.ts";
import type { FuseGroup } from "./fuse-spatial.ts";
import { closureOf, exactParentOf } from "./lineage.ts";
import type { BoundTrack } from "./lineage.ts";
import type { ReadObject } from "./object-reader.ts";
import { LISTED_ANCHORS } from "./refusal.ts";
import type { Refusal, Warning } from "./refusal.ts";
import type { MergeRequest } from "./request.ts";
import { checkRewrites } from "./rewrites.ts";
import type { RewriteFindings } from "./rewrites.ts";
import type { Sides } from "./sides.ts";
import type { Track } from "../model/track.ts";
import type { TrackContent } from "./track-content.ts";
import type { TrackLoader } from "./track-loader.ts";

/** What happens to a field. */
export type FieldAction = "kept" | "taken" | "joined";

/** A Track that has to be written. */
export interface TrackJoin {
  readonly kind: EntryKind;
  readonly trunk: TrackContent;
  /** Whether some version has its index in a tree; then the result has too. */
  readonly tree: boolean;
  /** Whether the result must stay inline, because readers of its form of Manifest know no trees. */
  readonly inlineOnly: boolean;
  /** A version of the Track, for what entries do not say. */
  readonly like: Binding;
  /** Trunk's entries that go, by their bytes. */
  readonly removed: ReadonlyMap<string, IndexEntry>;
  /** Entries that come as they are. */
  readonly added: readonly IndexEntry[];
  /** Cells whose added records go into new buckets. */
  readonly cells: readonly FuseGroup[];
  /** Values whose added anchor sets go into one set each. */
  readonly values: readonly (readonly IndexEntry[])[];
  /** Anchors to leave out of an entry that is fused, by the entry's bytes. */
  readonly dropped: ReadonlyMap<string, ReadonlySet<bigint>>;
  readonly coverage: Coverage;
  /** The Layer's parent with its chain; undefined for a base field. */
  readonly layer:
    | { readonly exactParent: BindingReference; readonly closure: BoundTrack }
    | undefined;
}

/** The plan of one field. */
export interface FieldPlan {
  readonly field: FieldSides;
  readonly action: FieldAction;
  /** Names of the sides that changed the field. */
  readonly changedBy: readonly string[];
  /** The result's binding, when no Track has to be written. */
  readonly bound: BoundTrack | undefined;
  readonly join: TrackJoin | undefined;
  /** Null for a field that nobody changed: its index was not read. */
  readonly entriesBefore: number | null;
  readonly entriesAdded: number;
  readonly entriesRemoved: number;
  /** What branches added, for the count of records. */
  readonly additions: readonly Addition[];
  readonly refusals: readonly Refusal[];
  readonly warnings: readonly Warning[];
}

/** What planning a field needs. */
export interface FieldContext {
  readonly sides: Sides;
  readonly request: MergeRequest;
  readonly loader: TrackLoader;
  readonly read: ReadObject;
  readonly concurrency: number;
  /** The refs' names by position. */
  readonly names: readonly string[];
  /** The deleted anchors of each side, by position. */
  readonly deleted: ReadonlyMap<number, ReadonlySet<bigint>>;
}

const UNSUPPORTED = ["graph-page", "unknown"];

/** Plans `field`. */
export async function planField(context: FieldContext, field: FieldSides): Promise<FieldPlan> {
  const { sides, request } = context;
  const [only, ...others] = field.changed;
  if (only === undefined) return settledPlan(context, field, "kept");
  if (field.kind === "constant") return planConstant(context, field);
  const trunkStood = field.changed.every(({ base }) => base?.address === field.trunk?.address);
  const single = others.length === 0 && trunkStood ? only : undefined;
  if (UNSUPPORTED.includes(field.kind)) {
    return single === undefined
      ? refused(context, field, unsupported(context, field))
      : settledPlan(context, field, "taken", single);
  }
  const kind = field.kind as EntryKind;
  const versions = await Promise.all(
    [field.trunk, ...field.changed.flatMap(({ binding, base }) => [binding, base])]
      .flatMap((binding) => binding === undefined ? [] : [context.loader.load(binding)]),
  );
  const hot = await sidesWithHotShard(context, field);
  if (hot.length > 0) {
    // Alone on a trunk that stood still a branch brings its own HotShard; that of others would go
    // on to point at a Track that is no longer theirs.
    return single !== undefined && hot.every((name) => name === single.side.name)
      ? settledPlan(context, field, "taken", single)
      : refused(context, field, hotShard(field, hot));
  }
  if (kind === "video-item" && single === undefined && versions.some(isPaged)) {
    return refused(context, field, unsupported(context, field));
  }
  const changes = await findChanges(sides, field, kind, context.loader);
  const duplicates = await findDuplicates(field, kind, changes, context.read, context.names, {
    allowIdentical: request.allowIdentical,
    concurrency: context.concurrency,
  });
  const rewrites = await checkRewrites(field, kind, changes, context.read, context.names, {
    fuse: request.buckets === "fuse",
    concurrency: context.concurrency,
  });
  const layers = single === undefined ? layerParent(context, field) : { refusals: [] };
  const refusals = [...duplicates.refusals, ...rewrites.refusals, ...layers.refusals];
  const warnings = identicalWarning(field, duplicates);
  const counts = {
    entriesBefore: changes.trunk.count,
    additions: changes.additions,
  };
  if (
    single !== undefined && duplicates.dropped.size === 0 && duplicates.standing.size === 0
  ) {
    const [branch] = changes.branches;
    return {
      ...settledPlan(context, field, "taken", single),
      ...counts,
      entriesAdded: branch?.added.length ?? 0,
      entriesRemoved: branch?.removed.length ?? 0,
      refusals,
      warnings,
    };
  }
  const join = planJoin(
    context,
    field,
    kind,
    changes,
    duplicates,
    rewrites,
    layers.parent,
    versions,
  );
  if (join.refusal !== undefined) refusals.push(join.refusal);
  return {
    field,
    action: "joined",
    changedBy: changedBy(context, field),
    bound: undefined,
    join: join.track,
    ...counts,
    entriesAdded: changes.additions.length,
    entriesRemoved: join.track.removed.size,
    refusals,
    warnings,
  };
}

function isPaged({ index }: Track): boolean {
  return index.form !== "inline";
}

function changedBy(context: FieldContext, field: FieldSides): string[] {
  const trunkMoved = field.changed.some(({ base }) => base?.address !== field.trunk?.address);
  return [
    ...(trunkMoved && field.trunk !== undefined ? [context.sides.trunk.name] : []),
    ...field.changed.map(({ side }) => side.name),
  ];
}

/** The plan of a field whose result is a Track that some side already has. */
function settledPlan(
  context: FieldContext,
  field: FieldSides,
  action: FieldAction,
  branch?: FieldBranch,
): FieldPlan {
  const bound = branch !== undefined
    ? closureOf(branch.side.manifest, branch.binding)
    : field.trunk === undefined
    ? undefined
    : closureOf(context.sides.trunk.manifest, field.trunk);
  return {
    field,
    action,
    changedBy: branch === undefined ? [] : [branch.side.name],
    bound,
    join: undefined,
    entriesBefore: null,
    entriesAdded: 0,
    entriesRemoved: 0,
    additions: [],
    refusals: [],
    warnings: [],
  };
}

function refused(context: FieldContext, field: FieldSides, refusal: Refusal): FieldPlan {
  return {
    ...settledPlan(context, field, "kept"),
    changedBy: changedBy(context, field),
    refusals: [refusal],
  };
}

function unsupported(context: FieldContext, field: FieldSides): Refusal {
  const graph = field.kind === "graph-page";
  return {
    code: graph ? "graph-index-changed" : "unsupported-kind",
    message: graph
      ? `the graph index of the field ${field.field} was changed on ${
        changedBy(context, field).join(", ")
      }; graphs cannot be joined`
      : `the field ${field.field} (${field.modality}) was changed on ${
        changedBy(context, field).join(", ")
      }, and this program does not know how such Tracks are joined`,
    next: graph
      ? "Keep the graph of one side and build it again after the merge."
      : "Merge a version of this program that knows the kind, or change the field on one side only.",
    sides: changedBy(context, field),
    field: field.field,
    modality: field.modality,
  };
}

/** Sides on which the field has a HotShard that was not flushed (FORMAT 4.4 and 5.2). */
async function sidesWithHotShard(context: FieldContext, field: FieldSides): Promise<string[]> {
  const { trunk } = context.sides;
  const bound = [
    ...(field.trunk === undefined ? [] : [{ side: trunk, binding: field.trunk }]),
    ...field.changed,
  ];
  const hot: string[] = [];
  for (const { side, binding } of bound) {
    const registered = side.manifest.registry.get(field.modality);
    if (
      registered instanceof Map && registered.has("hot_shard") ||
      (await context.loader.load(binding)).index.form === "hot-overlay-v1"
    ) hot.push(side.name);
  }
  return hot;
}

function hotShard(field: FieldSides, sides: readonly string[]): Refusal {
  return {
    code: "hot-shard-pending",
    message: `the field ${field.field} has a HotShard on ${sides.join(", ")} that was not flushed`,
    next: `Call flush_hot on ${sides.join(", ")}, then merge again.`,
    sides,
    field: field.field,
    modality: field.modality,
  };
}

function identicalWarning(field: FieldSides, duplicates: DuplicateFindings): Warning[] {
  if (duplicates.identicalCount === 0) return [];
  return [{
    code: "identical-items",
    message:
      `${duplicates.identicalCount} Items of the field ${field.field} were added more than ` +
      "once with equal bytes and are taken once",
    field: field.field,
    anchors: duplicates.identicalAnchors.slice(0, LISTED_ANCHORS),
    anchorCount: duplicates.identicalCount,
  }];
}

async function planConstant(context: FieldContext, field: FieldSides): Promise<FieldPlan> {
  const versions = new Map<Address, { readonly name: string; readonly plan: FieldPlan }>();
  const trunkMoved = field.changed.some(({ base }) => base?.address !== field.trunk?.address);
  if (trunkMoved && field.trunk !== undefined) {
    versions.set(field.trunk.address, {
      name: context.sides.trunk.name,
      plan: settledPlan(context, field, "kept"),
    });
  }
  for (const branch of field.changed) {
    await context.loader.load(branch.binding);
    if (!versions.has(branch.binding.address)) {
      versions.set(branch.binding.address, {
        name: branch.side.name,
        plan: settledPlan(context, field, "taken", branch),
      });
    }
  }
  const [first, ...more] = versions.values();
  if (first !== undefined && more.length === 0) return first.plan;
  const pick = context.request.picks.get(field.modality);
  if (pick !== undefined) {
    if (pick === context.sides.trunk.name && field.trunk !== undefined) {
      return settledPlan(context, field, "kept");
    }
    const winner = field.branches.find(({ side }) => side.name === pick);
    if (winner !== undefined) return settledPlan(context, field, "taken", winner);
  }
  return refused(context, field, {
    code: "constant-differs",
    message: `the Constant ${field.field} (${field.modality}) differs: ` +
      [...versions].map(([address, { name }]) => `${name} has ${address}`).join("; "),
    next: `Name the side whose value wins: --pick ${field.modality}=REF.`,
    sides: [...versions.values()].map(({ name }) => name),
    field: field.field,
    modality: field.modality,
    addresses: [...versions.keys()],
  });
}

/** The exact parent that all changed sides of a Layer have in common. */
function layerParent(
  context: FieldContext,
  field: FieldSides,
): { readonly refusals: readonly Refusal[]; readonly parent?: TrackJoin["layer"] } {
  const { trunk } = context.sides;
  const bindings = [
    ...(field.trunk !== undefined &&
        field.changed.some(({ base }) => base?.address !== field.trunk?.address)
      ? [{ name: trunk.name, manifest: trunk.manifest, binding: field.trunk }]
      : []),
    ...field.changed.map(({ side, binding }) => ({
      name: side.name,
      manifest: side.manifest,
      binding,
    })),
  ];
  const roles = new Set(bindings.map(({ binding }) => binding.role));
  const anyLayer = bindings.some(({ binding }) => isLayer(binding));
  if (!anyLayer) return { refusals: [] };
  const parents = bindings.map(({ manifest, binding }) => exactParentOf(manifest, binding));
  const keys = new Set(parents.map((parent) => parent === undefined ? "" : referenceKey(parent)));
  const [exactParent] = parents;
  const [first] = bindings;
  if (roles.size > 1 || keys.size > 1 || exactParent === undefined || first === undefined) {
    return {
      refusals: [{
        code: "layer-parent-differs",
        message: `the Layer ${field.field} names different exact parents on ${
          bindings.map(({ name }) => name).join(", ")
        }`,
        next: "Commit a Layer once on each branch, or grow it on one branch only.",
        sides: bindings.map(({ name }) => name),
        field: field.field,
        modality: field.modality,
        addresses: parents.flatMap((parent) => parent === undefined ? [] : [parent.address]),
      }],
    };
  }
  return {
    refusals: [],
    parent: { exactParent, closure: closureOf(first.manifest, first.binding) },
  };
}

/** Which entries come and go, and which are fused. */
function planJoin(
  context: FieldContext,
  field: FieldSides,
  kind: EntryKind,
  changes: FieldChanges,
  duplicates: DuplicateFindings,
  rewrites: RewriteFindings,
  layer: TrackJoin["layer"],
  versions: readonly Track[],
): { readonly track: TrackJoin; readonly refusal?: Refusal } {
  const fuse = context.request.buckets === "fuse";
  const removed = new Map(changes.removed);
  const standing = new Set([
    ...duplicates.standing,
    ...[...changes.trunkNew.values()].flatMap((entries) =>
      entries.map(({ bytes }) => bytesKey(bytes))
    ),
  ]);
  // An addition that trunk holds byte for byte was accepted as identical, or it would be refused.
  const coming = new Map(
    changes.additions.map(({ entry, groups }) =>
      [bytesKey(entry.bytes), { entry, groups }] as const
    )
      .filter(([key]) => !standing.has(key)),
  );
  const cells: FuseGroup[] = [];
  const values: IndexEntry[][] = [];
  const joinedKeys = new Set(rewrites.joined.map(({ key }) => key));

  for (const { added } of rewrites.joined) {
    for (const entry of added) {
      const key = bytesKey(entry.bytes);
      if (!coming.delete(key)) removed.set(key, entry);
    }
    // What was replaced stands in what was added, as `checkRewrites` has made sure.
    if (kind === "spatial-bucket") {
      cells.push({ entries: added, dropped: new Map(), joinsEqualRecords: true });
    } else values.push([...added]);
  }
  let refusal: Refusal | undefined;
  if (kind === "spatial-bucket" || kind === "scalar-bitmap" || kind === "scalar-btree") {
    const groups = new Map<string, { entries: IndexEntry[]; sides: Set<string> }>();
    const put = (entry: IndexEntry, side: string, positions: readonly number[]): void => {
      const key = groupKey(entry);
      if (joinedKeys.has(key)) return;
      // A replacement holds old records, and a large bucket enough of its own: both stay as they
      // are, unless they hold an Item that must go.
      const stays = positions.some((one) => rewrites.rewrittenBy.get(one)?.has(key) ?? false) ||
        (kind === "spatial-bucket" && isLargeBucket(field.modality, entry));
      if (stays && !duplicates.dropped.has(bytesKey(entry.bytes))) return;
      const group = groups.get(key) ?? { entries: [], sides: new Set<string>() };
      group.entries.push(entry);
      group.sides.add(side);
      groups.set(key, group);
    };
    if (fuse) {
      for (const entry of changes.trunkAdded) put(entry, "trunk", [0]);
      for (const { entry, groups: owners } of coming.values()) {
        for (const owner of owners) put(entry, owner.join(" "), owner);
      }
      for (const { entries, sides } of groups.values()) {
        const distinct = [
          ...new Map(entries.map((entry) => [bytesKey(entry.bytes), entry])).values(),
        ];
        const mustDrop = distinct.some(({ bytes }) => duplicates.dropped.has(bytesKey(bytes)));
        if (!mustDrop && (sides.size < 2 || distinct.length < 2)) continue;
        for (const entry of distinct) {
          const key = bytesKey(entry.bytes);
          if (!coming.delete(key)) removed.set(key, entry);
        }
        const sorted = distinct.sort((a, b) =>
          a.start < b.start
            ? -1
            : a.start > b.start
            ? 1
            : bytesKey(a.bytes) < bytesKey(b.bytes)
            ? -1
            : 1
        );
        if (kind === "spatial-bucket") {
          cells.push({ entries: sorted, dropped: duplicates.dropped, joinsEqualRecords: false });
        } else values.push(sorted);
      }
    } else if (duplicates.dropped.size > 0) {
      refusal = {
        code: "duplicate-anchor",
        message: `the field ${field.field} holds equal Items in buckets that also hold others; ` +
          "kept side by side they would count twice",
        next: "Merge with --buckets=fuse, which takes equal Items once.",
        sides: changedBy(context, field),
        field: field.field,
        modality: field.modality,
      };
    }
  } else {
    for (const key of duplicates.dropped.keys()) coming.delete(key);
  }
  const added = [...coming.values()].map(({ entry }) => entry);
  const like = field.trunk ?? field.changed[0]?.binding;
  if (like === undefined) throw new Error("unreachable: a field without a binding was lined up");
  return {
    track: {
      kind,
      trunk: changes.trunk,
      inlineOnly: context.sides.trunk.manifest.tracks.form === "legacy",
      tree: versions.some(isPaged),
      like,
      removed,
      added,
      cells,
      values,
      dropped: duplicates.dropped,
      coverage: joinCoverage([
        ...(field.trunk === undefined || changes.trunk.count === 0 ? [] : [field.trunk.coverage]),
        ...changes.additions.map(({ entry }) => entry),
      ]),
      layer,
    },
    ...(refusal === undefined ? {} : { refusal }),
  };
}
