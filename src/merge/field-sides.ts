/**
 * Lines up the bindings of one field on all sides.
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import { fieldKey } from "../model/binding.ts";
import type { Binding } from "../model/binding.ts";
import type { Manifest } from "../model/manifest.ts";
import { trackKindOf } from "../model/track-kind.ts";
import type { TrackKind } from "../model/track-kind.ts";
import type { Refusal } from "./refusal.ts";
import { schemaFields } from "./schema.ts";
import type { BranchSide, Sides } from "./sides.ts";

/** A branch's binding of a field beside that of its base. */
export interface FieldBranch {
  readonly side: BranchSide;
  readonly binding: Binding;
  /** Undefined when the field was added after the fork. */
  readonly base: Binding | undefined;
}

/** One field on all sides. */
export interface FieldSides {
  /** The field's name; for the oldest Manifests the schema's name for the modality. */
  readonly field: string;
  readonly modality: string;
  readonly kind: TrackKind;
  readonly timeline: Address;
  /** Trunk's binding; undefined when trunk did not move and all branches added the field alike. */
  readonly trunk: Binding | undefined;
  /** All branches, in the order of the sides. */
  readonly branches: readonly FieldBranch[];
  /** Those whose Track is not that of their base. */
  readonly changed: readonly FieldBranch[];
}

function byField(manifest: Manifest): ReadonlyMap<string, Binding> {
  return new Map(manifest.tracks.active.map((binding) => [fieldKey(binding), binding]));
}

function nameOf(binding: Binding, manifest: Manifest): string {
  if (binding.field !== undefined) return binding.field;
  for (const name of schemaFields(manifest).keys()) {
    if (binding.modality.endsWith(`.field=${name}`)) return name;
  }
  return binding.modality;
}

/**
 * Lines up all fields, in trunk's order; a field that only some sides have is refused (rule 1 of
 * the specification).
 */
export function lineUpFields(
  sides: Sides,
): { readonly fields: readonly FieldSides[]; readonly refusals: readonly Refusal[] } {
  const { trunk, branches } = sides;
  const own = byField(trunk.manifest);
  const theirs = branches.map((side) => ({
    side,
    bindings: byField(side.manifest),
    base: byField(side.baseManifest),
  }));
  const keys = new Set([...own.keys(), ...theirs.flatMap(({ bindings }) => [...bindings.keys()])]);
  const trunkStood = branches.every((branch) => branch.base === trunk.tip);
  const fields: FieldSides[] = [];
  const refusals: Refusal[] = [];
  for (const key of keys) {
    const trunkBinding = own.get(key);
    const having = theirs.filter(({ bindings }) => bindings.has(key));
    const example = trunkBinding ?? having[0]?.bindings.get(key);
    if (example === undefined) continue;
    const field = nameOf(example, trunk.manifest);
    const complete = having.length === branches.length &&
      (trunkBinding !== undefined || trunkStood);
    if (!complete) {
      const names = (present: boolean) => [
        ...((trunkBinding !== undefined) === present ? [trunk.name] : []),
        ...theirs.filter(({ bindings }) => bindings.has(key) === present)
          .map(({ side }) => side.name),
      ];
      refusals.push({
        code: "field-missing",
        message: `the field ${field} (${example.modality}) is on ${names(true).join(", ")} ` +
          `and not on ${names(false).join(", ")}`,
        next: "Create shared fields on trunk before the branches are made, or add the field, " +
          "defined alike, on every branch while trunk does not move.",
        sides: [trunk.name, ...branches.map(({ name }) => name)],
        field,
        modality: example.modality,
      });
      continue;
    }
    const lined = theirs.flatMap(({ side, bindings, base }): FieldBranch[] => {
      const binding = bindings.get(key);
      return binding === undefined ? [] : [{ side, binding, base: base.get(key) }];
    });
    const apart = lined.filter(({ binding }) => binding.modality !== example.modality);
    if (apart.length > 0) {
      refusals.push({
        code: "schema-differs",
        message: `the field ${field} has the modality ${example.modality} on ${
          trunkBinding === undefined ? having[0]?.side.name : trunk.name
        } and ${apart[0]?.binding.modality} on ${apart.map(({ side }) => side.name).join(", ")}`,
        next: "Define the field alike on all sides, then merge again.",
        sides: [trunk.name, ...apart.map(({ side }) => side.name)],
        field,
        modality: example.modality,
      });
      continue;
    }
    fields.push({
      field,
      modality: example.modality,
      kind: trackKindOf(example.modality),
      timeline: example.timeline,
      trunk: trunkBinding,
      branches: lined,
      changed: lined.filter(({ binding, base }) => binding.address !== base?.address),
    });
  }
  return { fields, refusals };
}
