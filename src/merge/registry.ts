/**
 * Joins the registries of all sides, three-way, key by key (DESIGN 1, "registry").
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import { addressFromBytes } from "../encoding/address.ts";
import { encodeCanonical } from "../encoding/cbor-encode.ts";
import { equalBytes, toHex } from "../encoding/bytes.ts";
import type { CborMap, CborValue } from "../encoding/cbor-value.ts";
import type { Refusal, RefusalCode, Warning } from "./refusal.ts";
import { describeSchemaDifference, isSchemaKey, schemaFields } from "./schema.ts";
import type { BranchSide, Side, Sides } from "./sides.ts";

/** Registry keys that name the tombstone head; joined by `tombstones.ts`. */
export const TOMBSTONE_KEYS = ["dreamdb.tombstones", "vortex.tombstones"];

/** The joined registry; tombstone keys are trunk's and still have to be joined. */
export interface JoinedRegistry {
  readonly registry: CborMap;
  readonly refusals: readonly Refusal[];
  readonly warnings: readonly Warning[];
}

const HOT_SHARD = "hot_shard";
const TEXT_INDEX = /^text\.utf8\.(?:bm25|splade)\.field=/;

function equalValues(a: CborValue | undefined, b: CborValue | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a === b || equalBytes(encodeCanonical(a), encodeCanonical(b));
}

/** A registry value as text for a person: addresses as letters, other bytes as hex. */
function showValue(value: CborValue | undefined): string {
  if (value === undefined) return "nothing";
  const plain = (part: CborValue): unknown => {
    if (part instanceof Uint8Array) {
      return part.length === 33 && part[0] === 0x1e ? addressFromBytes(part) : `h'${toHex(part)}'`;
    }
    if (typeof part === "bigint") {
      return Number.isSafeInteger(Number(part)) ? Number(part) : `${part}`;
    }
    if (Array.isArray(part)) return part.map(plain);
    if (part instanceof Map) {
      return Object.fromEntries([...part].map(([key, inner]) => [key, plain(inner as CborValue)]));
    }
    return part;
  };
  const text = JSON.stringify(plain(value));
  return text.length > 300 ? `${text.slice(0, 297)}...` : text;
}

function addressesIn(values: readonly (CborValue | undefined)[]): Address[] {
  const found = new Set<Address>();
  const visit = (value: CborValue | undefined): void => {
    if (value instanceof Uint8Array) {
      if (value.length === 33 && value[0] === 0x1e) found.add(addressFromBytes(value));
    } else if (Array.isArray(value)) value.forEach(visit);
    else if (value instanceof Map) [...value.values()].forEach((inner) => visit(inner));
  };
  values.forEach(visit);
  return [...found];
}

/** A side's value of a registry key. */
interface Held {
  readonly side: Side;
  readonly value: CborValue | undefined;
}

/** Which refusal fits a key whose values differ, and what to do about it. */
function differingKey(
  key: string,
  held: readonly Held[],
): { readonly code: RefusalCode; readonly what: string; readonly next: string } {
  const maps = held.map(({ value }) => value instanceof Map ? value as CborMap : undefined);
  const differ = (name: string): boolean => {
    const present = maps.filter((map) => map !== undefined);
    return present.some((map) => !equalValues(map.get(name), present[0]?.get(name)));
  };
  if (maps.some((map) => map?.has(HOT_SHARD))) {
    return {
      code: "hot-shard-pending",
      what: `a HotShard of ${key} has not been flushed`,
      next: "Call flush_hot on every side that has appended to it, then merge again.",
    };
  }
  if (key.startsWith("embedding.")) {
    if (maps.some((map) => map?.get("object_kind") === "graph-page")) {
      return {
        code: "graph-index-changed",
        what: `the graph index of ${key} differs`,
        next: "Keep the graph of one side and build it again after the merge.",
      };
    }
    if (differ("spatial_index") || differ("algorithm")) {
      return {
        code: "spatial-index-differs",
        what: `the SpatialIndex of ${key} differs, so cells do not mean the same`,
        next: "Index the branch again with trunk's SpatialIndex, then merge.",
      };
    }
    if (differ("vector_compressor")) {
      return {
        code: "compressor-differs",
        what: `the VectorCompressor of ${key} differs, so codes do not mean the same`,
        next: "Encode the branch again with trunk's compressor, then merge.",
      };
    }
  }
  if (key.startsWith("scalar.") && differ("scalar_index_hash")) {
    return {
      code: "scalar-index-differs",
      what: `the ScalarIndex of ${key} differs`,
      next: "Index the branch again with trunk's ScalarIndex, then merge.",
    };
  }
  if (key === "dreamdb.entity_keys" || key === "vortex.entity_keys") {
    return {
      code: "entity-keys-changed",
      what: "the entity key index was changed by a branch",
      next: "Ingest entity-keyed records on trunk, or without entity keys on branches.",
    };
  }
  if (TEXT_INDEX.test(key)) {
    return {
      code: "registry-differs",
      what: `the text index ${key} was built or rebuilt on one side`,
      next: "Build text indexes on trunk after the merge.",
    };
  }
  return {
    code: "registry-differs",
    what: `the registry key ${key} was changed to different values`,
    next: "Set it to one value on all sides that changed it, then merge again.",
  };
}

/** Keys that say how the payload of a modality is to be read. */
function bindsPayload(key: string): boolean {
  return key.startsWith("embedding.") || key.startsWith("scalar.");
}

/** Keys where a branch's change is refused even when no other side changed. */
function isBoundKey(key: string): boolean {
  return bindsPayload(key) || TEXT_INDEX.test(key) || key.endsWith(".entity_keys");
}

/** Joins the registries of `sides`. */
export function joinRegistries(sides: Sides): JoinedRegistry {
  const { trunk, branches } = sides;
  const refusals: Refusal[] = [];
  const warnings: Warning[] = [];
  const registry = new Map<string, CborValue>(trunk.manifest.registry);
  const keys = new Set(
    [trunk, ...branches].flatMap(({ manifest }) => [...manifest.registry.keys()]),
  );
  for (const branch of branches) {
    for (const key of branch.baseManifest.registry.keys()) keys.add(key);
  }
  const newFields = joinSchemas(sides, registry, refusals);

  for (const key of [...keys].sort()) {
    if (isSchemaKey(key) || TOMBSTONE_KEYS.includes(key)) continue;
    const ours = trunk.manifest.registry.get(key);
    const held: Held[] = [trunk, ...branches]
      .map((side) => ({ side, value: side.manifest.registry.get(key) }));
    if (held.some(({ value }) => value instanceof Map && value.has(HOT_SHARD))) {
      const pending = held.filter(({ value }) => value instanceof Map && value.has(HOT_SHARD));
      const untouched = branches.every((branch) =>
        equalValues(branch.manifest.registry.get(key), branch.baseManifest.registry.get(key))
      ) && pending.every(({ side }) =>
        side.position === 0
      );
      if (!untouched) {
        refusals.push(refusalFor(key, pending, held));
        continue;
      }
    }
    const changed = branches
      .map((branch) => ({ branch, value: branch.manifest.registry.get(key) }))
      .filter(({ branch, value }) => !equalValues(value, branch.baseManifest.registry.get(key)));
    if (changed.length === 0) {
      // A side that is bound to another index than trunk cannot be joined even when neither of
      // them changed it since its own base.
      if (bindsPayload(key) && branches.some((branch) => trunkChanged(trunk, branch, key))) {
        const index = withoutHotShard(ours);
        const apart = held.filter(({ value }) => !equalValues(withoutHotShard(value), index));
        if (apart.length > 0) refusals.push(refusalFor(key, [...held.slice(0, 1), ...apart], held));
      }
      continue;
    }
    const added = changed.every(({ branch }) => !branch.baseManifest.registry.has(key));
    const adopted = added && newFields && changed.length === branches.length &&
      changed.every(({ value }) => equalValues(value, changed[0]?.value));
    const trunkMoved = changed.some(({ branch }) => trunkChanged(trunk, branch, key));
    const agreed = changed.every(({ value }) => equalValues(value, changed[0]?.value)) &&
      (!trunkMoved || equalValues(ours, changed[0]?.value));
    if (agreed && (adopted || !isBoundKey(key) || equalValues(ours, changed[0]?.value))) {
      const value = changed[0]?.value;
      if (value === undefined) registry.delete(key);
      else registry.set(key, value);
      continue;
    }
    refusals.push(refusalFor(
      key,
      [...held.slice(0, 1), ...changed.map(({ branch, value }) => ({ side: branch, value }))],
      held,
    ));
  }
  return { registry, refusals, warnings };
}

/** A pending HotShard is judged where the field is; what binds the index is the rest. */
function withoutHotShard(value: CborValue | undefined): CborValue | undefined {
  if (!(value instanceof Map) || !value.has(HOT_SHARD)) return value;
  return new Map([...value as CborMap].filter(([key]) => key !== HOT_SHARD));
}

function trunkChanged(trunk: Side, branch: BranchSide, key: string): boolean {
  return !equalValues(trunk.manifest.registry.get(key), branch.baseManifest.registry.get(key));
}

function refusalFor(key: string, named: readonly Held[], all: readonly Held[]): Refusal {
  const { code, what, next } = differingKey(key, all);
  const shown = named.slice(0, 4)
    .map(({ side, value }) => `${side.name} has ${showValue(value)}`).join("; ");
  return {
    code,
    message: `${what}: ${shown}`,
    next,
    sides: [...new Set(named.map(({ side }) => side.name))],
    key,
    ...(/^(?:embedding|scalar|array)\./.test(key) ? boundTo(key, all) : {}),
    addresses: addressesIn(named.map(({ value }) => value)),
  };
}

/** The modality a registry key is about, with the field that has it. */
function boundTo(
  modality: string,
  held: readonly Held[],
): { readonly modality: string; readonly field?: string } {
  for (const { side } of held) {
    const binding = side.manifest.tracks.active.find((one) => one.modality === modality);
    if (binding?.field !== undefined) return { modality, field: binding.field };
  }
  return { modality };
}

/**
 * Joins the schemas: the same on all sides, or, when trunk did not move, the one all branches
 * agree on (DESIGN 1). Returns whether a schema was adopted from the branches.
 */
function joinSchemas(sides: Sides, registry: Map<string, CborValue>, refusals: Refusal[]): boolean {
  const { trunk, branches } = sides;
  const key = [trunk, ...branches].flatMap(({ manifest }) => [...manifest.registry.keys()])
    .find(isSchemaKey);
  if (key === undefined) return false;
  const ours = trunk.manifest.registry.get(key);
  const differing = branches.filter((branch) =>
    !equalValues(branch.manifest.registry.get(key), ours)
  );
  if (differing.length === 0) return false;
  const theirs = differing[0]?.manifest.registry.get(key);
  const trunkStood = branches.every((branch) => branch.base === trunk.tip);
  const changedSchema = branches.filter((branch) =>
    !equalValues(branch.manifest.registry.get(key), branch.baseManifest.registry.get(key))
  );
  if (
    trunkStood && theirs !== undefined && changedSchema.length === branches.length &&
    branches.every((branch) => equalValues(branch.manifest.registry.get(key), theirs))
  ) {
    registry.set(key, theirs);
    return true;
  }
  refusals.push(...describeSchemaDifference(
    [trunk, ...branches].map((side) => ({
      name: side.name,
      fields: schemaFields(side.manifest),
    })),
    trunkStood,
  ));
  return false;
}
