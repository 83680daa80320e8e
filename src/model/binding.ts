/**
 * Bindings: the elements of a Manifest that say which Track is the current one of a field, and the
 * edges that chain a Layer to the exact Track it was made over (FORMAT 4.2).
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import { addressBytes, compareAddresses } from "../encoding/address.ts";
import { compareBytes } from "../encoding/bytes.ts";
import type { CborMap, CborValue } from "../encoding/cbor-value.ts";
import { decodeCoverage, encodeCoverage } from "./coverage.ts";
import type { Coverage } from "./coverage.ts";
import { asAddress, asMap, asText, checkKeys, malformedObject } from "./malformed.ts";
import type { Subject } from "./malformed.ts";

/** How a Track's Items lie in time. */
export type TrackClass = "event" | "continuous" | "constant";

/** One field's Track in a Manifest. */
export interface Binding {
  readonly kind: TrackClass;
  /** `base`, or `layer-of:<address of the parent Track>`. */
  readonly role: string;
  /** Absent only in Manifests of releases 0.0.1 and 0.0.2 (LEGACY 2, generation A). */
  readonly field: string | undefined;
  readonly address: Address;
  readonly coverage: Coverage;
  readonly modality: string;
  readonly timeline: Address;
}

/** The part of a binding that an edge names. */
export interface BindingReference {
  readonly field: string;
  readonly address: Address;
  readonly modality: string;
  readonly timeline: Address;
}

/** `child` was made out of `exactParent`. */
export interface Edge {
  readonly child: BindingReference;
  readonly exactParent: BindingReference;
}

const LAYER_PREFIX = "layer-of:";
const BINDING_KEYS = ["kind", "role", "address", "coverage", "modality", "timeline"];
const REFERENCE_KEYS = ["field", "address", "modality", "timeline"];
const utf8 = new TextEncoder();

/** Whether a binding is a Layer over another Track. */
export function isLayer(binding: Binding): boolean {
  return binding.role.startsWith(LAYER_PREFIX);
}

/** The field's name, empty for the oldest form that has none. */
export function fieldOf(binding: Binding): string {
  return binding.field ?? "";
}

/**
 * A key that is equal for two bindings exactly when they are of one field: timeline and field, or
 * timeline and modality where the old form names no field.
 */
export function fieldKey(binding: Binding): string {
  return binding.field === undefined
    ? `${binding.timeline} modality ${binding.modality}`
    : `${binding.timeline} field ${binding.field}`;
}

/** A key that is equal for two references exactly when they name one binding. */
export function referenceKey(reference: BindingReference): string {
  return JSON.stringify([
    reference.timeline,
    reference.field,
    reference.modality,
    reference.address,
  ]);
}

/** The reference that names `binding` in edges. */
export function referenceTo(binding: Binding): BindingReference {
  return {
    field: fieldOf(binding),
    address: binding.address,
    modality: binding.modality,
    timeline: binding.timeline,
  };
}

/** Order of `active` and `lineage`: timeline, field, modality, address, bytewise (FORMAT 4.2). */
function compareReferences(a: BindingReference, b: BindingReference): number {
  return compareAddresses(a.timeline, b.timeline) ||
    compareBytes(utf8.encode(a.field), utf8.encode(b.field)) ||
    compareBytes(utf8.encode(a.modality), utf8.encode(b.modality)) ||
    compareAddresses(a.address, b.address);
}

/** Order of bindings in `active` and `lineage`. */
export function compareBindings(a: Binding, b: Binding): number {
  return compareReferences(referenceTo(a), referenceTo(b));
}

/** Order of `edges`: child, then parent. */
export function compareEdges(a: Edge, b: Edge): number {
  return compareReferences(a.child, b.child) || compareReferences(a.exactParent, b.exactParent);
}

/** Takes one binding apart; `field` may be missing only where `fieldRequired` is false. */
export function decodeBinding(subject: Subject, value: CborValue, fieldRequired: boolean): Binding {
  const map = asMap(subject, "binding", value);
  checkKeys(
    subject,
    "binding",
    map,
    fieldRequired ? [...BINDING_KEYS, "field"] : BINDING_KEYS,
    fieldRequired ? [] : ["field"],
  );
  const kind = asText(subject, "binding kind", map.get("kind"));
  if (kind !== "event" && kind !== "continuous" && kind !== "constant") {
    throw malformedObject(subject, `binding kind ${kind}`, "event, continuous or constant");
  }
  const role = asText(subject, "binding role", map.get("role"));
  if (role !== "base" && !role.startsWith(LAYER_PREFIX)) {
    throw malformedObject(subject, `binding role ${role}`, "base or layer-of:<address>");
  }
  return {
    kind,
    role,
    field: map.has("field") ? asText(subject, "binding field", map.get("field")) : undefined,
    address: asAddress(subject, "binding address", map.get("address")),
    coverage: decodeCoverage(subject, map.get("coverage")),
    modality: asText(subject, "binding modality", map.get("modality")),
    timeline: asAddress(subject, "binding timeline", map.get("timeline")),
  };
}

/** The CBOR form of a binding. */
export function encodeBinding(binding: Binding): CborMap {
  return new Map<string, CborValue>([
    ["kind", binding.kind],
    ["role", binding.role],
    ...(binding.field === undefined ? [] : [["field", binding.field] as const]),
    ["address", addressBytes(binding.address)],
    ["coverage", encodeCoverage(binding.coverage)],
    ["modality", binding.modality],
    ["timeline", addressBytes(binding.timeline)],
  ]);
}

function decodeReference(subject: Subject, name: string, value: CborValue | undefined) {
  const map = asMap(subject, name, value);
  checkKeys(subject, name, map, REFERENCE_KEYS);
  return {
    field: asText(subject, `${name} field`, map.get("field")),
    address: asAddress(subject, `${name} address`, map.get("address")),
    modality: asText(subject, `${name} modality`, map.get("modality")),
    timeline: asAddress(subject, `${name} timeline`, map.get("timeline")),
  };
}

function encodeReference(reference: BindingReference): CborMap {
  return new Map<string, CborValue>([
    ["field", reference.field],
    ["address", addressBytes(reference.address)],
    ["modality", reference.modality],
    ["timeline", addressBytes(reference.timeline)],
  ]);
}

/** Takes one edge apart. */
export function decodeEdge(subject: Subject, value: CborValue): Edge {
  const map = asMap(subject, "edge", value);
  checkKeys(subject, "edge", map, ["child", "exact_parent"]);
  return {
    child: decodeReference(subject, "edge child", map.get("child")),
    exactParent: decodeReference(subject, "edge exact_parent", map.get("exact_parent")),
  };
}

/** The CBOR form of an edge. */
export function encodeEdge(edge: Edge): CborMap {
  return new Map<string, CborValue>([
    ["child", encodeReference(edge.child)],
    ["exact_parent", encodeReference(edge.exactParent)],
  ]);
}
