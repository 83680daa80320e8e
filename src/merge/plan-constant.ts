/**
 * Decides what becomes of a Constant: the one value that changed, or the side that was picked.
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import { refusedPlan, settledPlan } from "./field-plan.ts";
import type { FieldContext, FieldPlan } from "./field-plan.ts";
import type { FieldSides } from "./field-sides.ts";

/** Plans a Constant that some branch changed (rule 5 of the specification). */
export async function planConstant(context: FieldContext, field: FieldSides): Promise<FieldPlan> {
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
  return refusedPlan(context, field, {
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
