/**
 * Keeps `lineage` and `edges` exactly the closure of the active bindings: the reference refuses to
 * open a Manifest with a binding too few or too many (FORMAT 4.2).
 *
 * @module
 */

import { compareBindings, compareEdges, referenceKey, referenceTo } from "../model/binding.ts";
import type { Binding, BindingReference, Edge } from "../model/binding.ts";
import type { LegacyTracks, LineageTracks, Manifest } from "../model/manifest.ts";

/** A binding for the result with the chain it needs. */
export interface BoundTrack {
  readonly binding: Binding;
  /** Bindings reachable from it through edges. */
  readonly lineage: readonly Binding[];
  readonly edges: readonly Edge[];
}

/** `binding` with its closure in `manifest`. */
export function closureOf(manifest: Manifest, binding: Binding): BoundTrack {
  const { tracks } = manifest;
  if (tracks.form === "legacy") return { binding, lineage: [], edges: [] };
  const byChild = new Map(tracks.edges.map((edge) => [referenceKey(edge.child), edge]));
  const known = new Map(
    [...tracks.lineage, ...tracks.active].map((one) => [referenceKey(referenceTo(one)), one]),
  );
  const lineage: Binding[] = [];
  const edges: Edge[] = [];
  const seen = new Set<string>();
  let at = referenceKey(referenceTo(binding));
  for (let edge = byChild.get(at); edge !== undefined && !seen.has(at); edge = byChild.get(at)) {
    seen.add(at);
    edges.push(edge);
    at = referenceKey(edge.exactParent);
    const parent = known.get(at);
    if (parent !== undefined) lineage.push(parent);
  }
  return { binding, lineage, edges };
}

/** The exact parent a binding was made out of, when there is one. */
export function exactParentOf(manifest: Manifest, binding: Binding): BindingReference | undefined {
  return closureOf(manifest, binding).edges[0]?.exactParent;
}

/**
 * `tracks` for a result with these bindings.
 *
 * @param like trunk's Manifest: the result has its form, and a Legacy result its order
 */
export function assembleTracks(
  like: Manifest,
  bound: readonly BoundTrack[],
): LegacyTracks | LineageTracks {
  if (like.tracks.form === "legacy") {
    return { form: "legacy", active: bound.map(({ binding }) => binding) };
  }
  const active = bound.map(({ binding }) => binding).sort(compareBindings);
  const activeKeys = new Set(active.map((binding) => referenceKey(referenceTo(binding))));
  const lineage = new Map<string, Binding>();
  const edges = new Map<string, Edge>();
  for (const track of bound) {
    for (const binding of track.lineage) {
      const key = referenceKey(referenceTo(binding));
      if (!activeKeys.has(key)) lineage.set(key, binding);
    }
    for (const edge of track.edges) {
      edges.set(`${referenceKey(edge.child)} ${referenceKey(edge.exactParent)}`, edge);
    }
  }
  return {
    form: like.tracks.form,
    active,
    lineage: [...lineage.values()].sort(compareBindings),
    edges: [...edges.values()].sort(compareEdges),
    rest: like.tracks.rest,
  };
}
