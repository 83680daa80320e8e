/**
 * The plan of one field as a value, and the plans that need no Track to be written.
 *
 * @module
 */

import type { Binding, BindingReference } from "../model/binding.ts";
import type { Coverage } from "../model/coverage.ts";
import type { EntryKind, IndexEntry } from "../model/index-entry.ts";
import type { Addition } from "./field-changes.ts";
import type { FieldBranch, FieldSides } from "./field-sides.ts";
import type { FuseGroup } from "./fuse-spatial.ts";
import { closureOf } from "./lineage.ts";
import type { BoundTrack } from "./lineage.ts";
import type { ReadObject } from "./object-reader.ts";
import type { Refusal, Warning } from "./refusal.ts";
import type { MergeRequest } from "./request.ts";
import type { Sides } from "./sides.ts";
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
  /** Records that branches added; null where only the payload tells. */
  readonly recordsAdded: number | null;
  /** What branches added. */
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

/** The names of the sides that changed `field` since they had it in common. */
export function changedBy(context: FieldContext, field: FieldSides): string[] {
  const trunkMoved = field.changed.some(({ base }) => base?.address !== field.trunk?.address);
  return [
    ...(trunkMoved && field.trunk !== undefined ? [context.sides.trunk.name] : []),
    ...field.changed.map(({ side }) => side.name),
  ];
}

/** The plan of a field whose result is a Track that some side already has. */
export function settledPlan(
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
    recordsAdded: action === "kept" ? 0 : null,
    additions: [],
    refusals: [],
    warnings: [],
  };
}

/** The plan of a field that is refused. */
export function refusedPlan(context: FieldContext, field: FieldSides, refusal: Refusal): FieldPlan {
  return {
    ...settledPlan(context, field, "kept"),
    changedBy: changedBy(context, field),
    refusals: [refusal],
  };
}
