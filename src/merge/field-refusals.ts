/**
 * What in a field's state, rather than in its records, keeps it from being joined.
 *
 * @module
 */

import { isLayer, referenceKey } from "../model/binding.ts";
import { changedBy } from "./field-plan.ts";
import type { FieldContext, TrackJoin } from "./field-plan.ts";
import type { FieldSides } from "./field-sides.ts";
import { closureOf, exactParentOf } from "./lineage.ts";
import type { Refusal } from "./refusal.ts";

/** The refusal of a kind of Track that has no rule for several sides. */
export function unsupported(context: FieldContext, field: FieldSides): Refusal {
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
export async function sidesWithHotShard(
  context: FieldContext,
  field: FieldSides,
): Promise<string[]> {
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

/** The refusal of a field with HotShards on `sides`. */
export function hotShard(field: FieldSides, sides: readonly string[]): Refusal {
  return {
    code: "hot-shard-pending",
    message: `the field ${field.field} has a HotShard on ${sides.join(", ")} that was not flushed`,
    next: `Call flush_hot on ${sides.join(", ")}, then merge again.`,
    sides,
    field: field.field,
    modality: field.modality,
  };
}

/** The exact parent that all changed sides of a Layer have in common. */
export function layerParent(
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
