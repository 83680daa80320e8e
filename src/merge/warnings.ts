/**
 * What a merge does silently by its rules, said aloud.
 *
 * @module
 */

import type { CborMap } from "../encoding/cbor-value.ts";
import { addressFromBytes } from "../encoding/address.ts";
import { mapConcurrent } from "../store/limit.ts";
import type { Addition } from "./field-changes.ts";
import type { FieldSides } from "./field-sides.ts";
import type { FieldContext, FieldPlan } from "./field-plan.ts";
import { meetsAny, mergeIntervals } from "./overlap.ts";
import { readAnchors } from "./payload.ts";
import { LISTED_ANCHORS } from "./refusal.ts";
import type { Warning } from "./refusal.ts";
import type { EntryKind } from "../model/index-entry.ts";
import type { Sides } from "./sides.ts";

/** Delete wins: anchors that one side deleted and a branch added stay hidden. */
export async function deletedAdditions(
  context: FieldContext,
  fields: readonly FieldPlan[],
): Promise<readonly Warning[]> {
  const deleted = new Set([...context.deleted.values()].flatMap((anchors) => [...anchors]));
  if (deleted.size === 0) return [];
  const hiding = mergeIntervals(
    [...deleted].map((anchor) => ({ start: anchor, end: anchor + 1n })),
  );
  const warnings: Warning[] = [];
  for (const { field, additions } of fields) {
    const near = additions.filter(({ entry }) => meetsAny(hiding, entry.start, entry.end));
    const hidden = await hiddenAnchors(context, field, near);
    if (hidden.length === 0) continue;
    const sides = [context.sides.trunk, ...context.sides.branches].filter(({ position }) =>
      hidden.some((anchor) => context.deleted.get(position)?.has(anchor) ?? false)
    ).map(({ name }) => name);
    warnings.push({
      code: "deleted-on-one-side",
      message: `${hidden.length} anchors added to the field ${field.field} were deleted on ` +
        `${sides.join(", ")} and stay hidden`,
      sides,
      field: field.field,
      anchors: hidden.slice(0, LISTED_ANCHORS),
      anchorCount: hidden.length,
    });
  }
  return warnings;
}

/** The anchors of `additions` that a side other than those that added them has deleted. */
async function hiddenAnchors(
  context: FieldContext,
  field: FieldSides,
  additions: readonly Addition[],
): Promise<readonly bigint[]> {
  const place = {
    kind: field.kind as EntryKind,
    timeline: field.timeline,
    modality: field.modality,
  };
  const hidden = new Set<bigint>();
  await mapConcurrent(additions, context.concurrency, async ({ entry, groups }) => {
    for (const anchor of await readAnchors(context.read, place, entry)) {
      for (const [position, anchors] of context.deleted) {
        if (anchors.has(anchor) && !groups.flat().includes(position)) hidden.add(anchor);
      }
    }
  });
  return [...hidden].sort((a, b) => (a < b ? -1 : 1));
}

/** Text indexes name the Track they were built from; a changed field makes them stale. */
export function staleTextIndexes(sides: Sides, fields: readonly FieldPlan[]): readonly Warning[] {
  const warnings: Warning[] = [];
  for (const [key, value] of sides.trunk.manifest.registry) {
    if (!/^text\.utf8\.(?:bm25|splade)\.field=/.test(key) || !(value instanceof Map)) continue;
    const source = (value as CborMap).get("source_track");
    if (!(source instanceof Uint8Array) || source.length !== 33) continue;
    const address = addressFromBytes(source);
    const plan = fields.find(({ field }) => field.trunk?.address === address) ??
      fields.find(({ field }) => key.endsWith(`.field=${field.field}`));
    if (plan === undefined || plan.action === "kept") continue;
    warnings.push({
      code: "stale-text-index",
      message: `the text index ${key} was built from an older version of ${plan.field.field}`,
      sides: [sides.trunk.name],
      field: plan.field.field,
    });
  }
  return warnings;
}
