/**
 * The rules within one Manifest (FORMAT 4.2): its bindings, and that lineage is exactly their
 * closure.
 *
 * @module
 */

import { fieldKey, fieldOf, referenceKey, referenceTo } from "../model/binding.ts";
import type { Binding, TrackClass } from "../model/binding.ts";
import type { CborValue } from "../encoding/cbor-value.ts";
import type { LineageTracks, Manifest } from "../model/manifest.ts";
import { encodedTracksLength, MAX_TRACKS_BYTES } from "../model/manifest.ts";
import type { TrackKind } from "../model/track-kind.ts";
import { trackKindOf } from "../model/track-kind.ts";
import type { Place, Verification } from "./verification.ts";

const CLASSES: Readonly<Partial<Record<TrackKind, TrackClass>>> = {
  "spatial-bucket": "continuous",
  fragment: "continuous",
  "scalar-bitmap": "event",
  "scalar-btree": "event",
  "event-array": "event",
  "time-batch": "continuous",
  constant: "constant",
  "video-item": "continuous",
  geometry: "event",
  "graph-page": "continuous",
};

const LAYER_PREFIX = "layer-of:";

/** Checks everything that the Manifest alone can show. */
export function checkManifest(run: Verification, place: Place, manifest: Manifest): void {
  const { tracks } = manifest;
  checkBindings(run, place, tracks.active);
  checkSchema(run, place, manifest);
  if (tracks.form === "legacy") return;
  checkClosure(run, place, tracks);
  const length = encodedTracksLength(tracks);
  if (length > MAX_TRACKS_BYTES) {
    run.report("malformed", place, `tracks of ${length} bytes; readers take ${MAX_TRACKS_BYTES}`);
  }
}

function checkBindings(run: Verification, place: Place, active: readonly Binding[]): void {
  const fields = new Set<string>();
  for (const binding of active) {
    const at = { ...place, field: fieldOf(binding) };
    const key = fieldKey(binding);
    if (fields.has(key)) run.report("disagreement", at, "the field has two active bindings");
    fields.add(key);
    const expected = CLASSES[trackKindOf(binding.modality)];
    if (expected !== undefined && expected !== binding.kind) {
      run.report(
        "disagreement",
        at,
        `the binding is of kind ${binding.kind}; Tracks of ${binding.modality} are ${expected}`,
      );
    }
  }
}

function checkSchema(run: Verification, place: Place, manifest: Manifest): void {
  const bound = manifest.tracks.active;
  if (bound.some(({ field }) => field === undefined)) return;
  for (const field of schemaFieldNames(manifest)) {
    if (bound.some((binding) => binding.field === field)) continue;
    run.report("field-missing", { ...place, field }, "the schema names a field without a Track");
  }
}

function schemaFieldNames(manifest: Manifest): readonly string[] {
  const schema = manifest.registry.get("dreamdb.schema") ?? manifest.registry.get("vortex.schema");
  const fields: CborValue | undefined = schema instanceof Map ? schema.get("fields") : undefined;
  if (!Array.isArray(fields)) return [];
  return fields.flatMap((field: CborValue) => {
    const name = field instanceof Map ? field.get("name") : undefined;
    return typeof name === "string" ? [name] : [];
  });
}

function checkClosure(run: Verification, place: Place, tracks: LineageTracks): void {
  const keyOf = (binding: Binding): string => referenceKey(referenceTo(binding));
  const active = new Map(tracks.active.map((binding) => [keyOf(binding), binding]));
  const lineage = new Map(tracks.lineage.map((binding) => [keyOf(binding), binding]));
  const parents = new Map<string, string>();
  const fault = (message: string, field: string): void =>
    run.report("lineage", { ...place, field }, message);
  for (const [key, { field }] of lineage) {
    if (active.has(key)) fault("a binding is both active and lineage", field ?? "");
  }
  for (const { child, exactParent } of tracks.edges) {
    const from = referenceKey(child);
    const to = referenceKey(exactParent);
    for (const [key, reference] of [[from, child], [to, exactParent]] as const) {
      if (!active.has(key) && !lineage.has(key)) {
        fault(`an edge names ${reference.address}, which is no binding`, reference.field);
      }
    }
    if (from === to) fault(`${child.address} is its own parent`, child.field);
    if (parents.has(from)) fault(`${child.address} has two exact parents`, child.field);
    parents.set(from, to);
  }
  const reached = new Set<string>();
  for (const [start, binding] of active) {
    const chain = new Set<string>();
    for (let at: string | undefined = start; at !== undefined; at = parents.get(at)) {
      if (chain.has(at)) {
        fault("the edges make a circle", fieldOf(binding));
        break;
      }
      chain.add(at);
      reached.add(at);
    }
    checkLayer(binding, chain);
  }
  for (const [key, binding] of lineage) {
    if (!reached.has(key)) fault(`${binding.address} is not reached by edges`, fieldOf(binding));
  }

  function checkLayer(binding: Binding, chain: ReadonlySet<string>): void {
    if (!binding.role.startsWith(LAYER_PREFIX)) return;
    const parent = binding.role.slice(LAYER_PREFIX.length);
    const found = [...chain].some((key) =>
      (active.get(key) ?? lineage.get(key))?.address === parent
    );
    if (!found) fault(`the Layer's parent ${parent} is not on its chain`, fieldOf(binding));
  }
}
