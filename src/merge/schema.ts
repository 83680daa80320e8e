/**
 * The schema in a Manifest's registry, as far as a merge looks at it (FORMAT 4.4).
 *
 * @module
 */

import { encodeCanonical } from "../encoding/cbor-encode.ts";
import { bytesKey } from "../encoding/bytes.ts";
import type { CborMap, CborValue } from "../encoding/cbor-value.ts";
import type { Manifest } from "../model/manifest.ts";
import type { Refusal } from "./refusal.ts";

const SCHEMA_KEYS = ["dreamdb.schema", "vortex.schema"];

/** Whether a registry key holds the schema, under its present or its first name. */
export function isSchemaKey(key: string): boolean {
  return SCHEMA_KEYS.includes(key);
}

/** The schema's fields by name; empty when the Manifest has none. */
export function schemaFields(manifest: Manifest): ReadonlyMap<string, CborMap> {
  for (const key of SCHEMA_KEYS) {
    const schema = manifest.registry.get(key);
    const fields = schema instanceof Map ? schema.get("fields") as CborValue : undefined;
    if (!Array.isArray(fields)) continue;
    return new Map(fields.flatMap((field) => {
      const name = field instanceof Map ? field.get("name") : undefined;
      return typeof name === "string" ? [[name, field as CborMap] as const] : [];
    }));
  }
  return new Map();
}

/**
 * The refusals for schemas that differ: one a field, missing ones and those defined otherwise.
 *
 * @param sides all sides, trunk first
 * @param trunkMayLack whether a field that all branches have may be missing on trunk
 */
export function describeSchemaDifference(
  sides: readonly { readonly name: string; readonly fields: ReadonlyMap<string, CborMap> }[],
  trunkMayLack: boolean,
): readonly Refusal[] {
  const names = new Set(sides.flatMap(({ fields }) => [...fields.keys()]));
  const refusals: Refusal[] = [];
  for (const field of [...names].sort()) {
    const having = sides.filter(({ fields }) => fields.has(field));
    const lacking = sides.filter(({ fields }, position) =>
      !fields.has(field) && !(trunkMayLack && position === 0)
    );
    if (lacking.length > 0) {
      refusals.push({
        code: "field-missing",
        message: `the field ${field} is on ${having.map(({ name }) => name).join(", ")} ` +
          `and not on ${lacking.map(({ name }) => name).join(", ")}`,
        next: "Create shared fields on trunk before the branches are made, or add the field, " +
          "defined alike, on every branch while trunk does not move.",
        sides: sides.map(({ name }) => name),
        field,
      });
      continue;
    }
    const definitions = new Set(
      having.map(({ fields }) => bytesKey(encodeCanonical(fields.get(field) ?? new Map()))),
    );
    if (definitions.size > 1) {
      refusals.push({
        code: "schema-differs",
        message: `the field ${field} is defined differently on ${
          having.map(({ name }) => name).join(", ")
        }`,
        next: "Define the field alike on all sides, then merge again.",
        sides: having.map(({ name }) => name),
        field,
      });
    }
  }
  if (refusals.length > 0) return refusals;
  return [{
    code: "schema-differs",
    message: "the schemas name the same fields and differ elsewhere",
    next: "Compare the sides with `dreamdb show REF` and make the schemas equal.",
    sides: sides.map(({ name }) => name),
  }];
}
