/**
 * Decides what becomes of one field: kept as trunk has it, taken from the one branch that changed
 * it, or joined out of several (DESIGN 2).
 *
 * @module
 */

import type { EntryKind } from "../model/index-entry.ts";
import type { Track } from "../model/track.ts";
import { countRecords } from "./count-records.ts";
import { findChanges } from "./field-changes.ts";
import { changedBy, refusedPlan, settledPlan } from "./field-plan.ts";
import type { FieldContext, FieldPlan } from "./field-plan.ts";
import { hotShard, layerParent, sidesWithHotShard, unsupported } from "./field-refusals.ts";
import type { FieldSides } from "./field-sides.ts";
import { findDuplicates } from "./duplicates.ts";
import type { DuplicateFindings } from "./duplicate-judgement.ts";
import { planConstant } from "./plan-constant.ts";
import { planJoin } from "./plan-join.ts";
import { LISTED_ANCHORS } from "./refusal.ts";
import type { Warning } from "./refusal.ts";
import { checkRewrites } from "./rewrites.ts";
import { trunkLosses } from "./trunk-losses.ts";

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
    // Branches that agree have the version from history they share.
    const agreed = trunkStood &&
      field.changed.every(({ binding }) => binding.address === only.binding.address);
    return agreed
      ? settledPlan(context, field, "taken", only)
      : refusedPlan(context, field, unsupported(context, field));
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
      : refusedPlan(context, field, hotShard(field, hot));
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
  const refusals = [
    ...duplicates.refusals,
    ...rewrites.refusals,
    ...trunkLosses(field, kind, changes, sides.trunk.name),
    ...layers.refusals,
  ];
  const warnings = identicalWarning(field, duplicates);
  const counts = {
    entriesBefore: changes.trunk.count,
    additions: changes.additions,
    recordsAdded: countRecords(kind, field.modality, changes, isCompressed(context, field)),
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
  const join = planJoin(context, field, {
    kind,
    changes,
    duplicates,
    rewrites,
    layer: layers.parent,
    tree: versions.some(isPaged),
  });
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

function isCompressed(context: FieldContext, field: FieldSides): boolean {
  return [context.sides.trunk, ...context.sides.branches].some(({ manifest }) => {
    const registered = manifest.registry.get(field.modality);
    return registered instanceof Map && registered.has("vector_compressor");
  });
}

function isPaged({ index }: Track): boolean {
  return index.form !== "inline";
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
