/**
 * What the Manifests' own form says about a merge: forms are never mixed, and two of them hold
 * state that has no merge rule (DESIGN 1 and 2).
 *
 * @module
 */

import { encodeCanonical } from "../encoding/cbor-encode.ts";
import { equalBytes } from "../encoding/bytes.ts";
import type { Manifest } from "../model/manifest.ts";
import type { Refusal } from "./refusal.ts";
import type { Sides } from "./sides.ts";

/** The form of Manifests with ingest checkpoints. */
const CHECKPOINTED = "lineage-v5";

function restOf(manifest: Manifest): Uint8Array {
  return encodeCanonical(manifest.tracks.form === "legacy" ? new Map() : manifest.tracks.rest);
}

/** Checks forms, timelines, and the state that lineage-v2, -v4 and -v5 carry. */
export function checkHistoryForms(sides: Sides): Refusal[] {
  const { trunk, branches } = sides;
  const refusals: Refusal[] = [];
  const form = trunk.manifest.tracks.form;
  const others = branches.filter(({ manifest }) => manifest.tracks.form !== form);
  const unmixable = others.filter(({ manifest }) => manifest.tracks.form !== CHECKPOINTED);
  if (unmixable.length > 0) {
    refusals.push({
      code: "manifest-form-differs",
      message: `${trunk.name} is written as ${form}, ${
        unmixable.map(({ name, manifest }) => `${name} as ${manifest.tracks.form}`).join(", ")
      }`,
      next:
        "Bring all sides to one form first: write to the older ones with the release that made " +
        "them, or migrate them.",
      sides: [trunk.name, ...unmixable.map(({ name }) => name)],
    });
  }
  const timelines = JSON.stringify(trunk.manifest.timelines);
  const elsewhere = branches.filter(({ manifest }) =>
    JSON.stringify(manifest.timelines) !== timelines
  );
  if (elsewhere.length > 0) {
    refusals.push({
      code: "timeline-differs",
      message: `${elsewhere.map(({ name }) => name).join(", ")} have other timelines than ` +
        trunk.name,
      next: "Branches must be made from the ref they are merged into.",
      sides: [trunk.name, ...elsewhere.map(({ name }) => name)],
      addresses: [...new Set(elsewhere.flatMap(({ manifest }) => manifest.timelines))],
    });
  }
  const touched = branches.filter(({ manifest, baseManifest }) =>
    !equalBytes(restOf(manifest), restOf(baseManifest))
  );
  if (touched.length > 0 && unmixable.length === 0) {
    refusals.push({
      code: "ingest-origins",
      message: `${touched.map(({ name }) => name).join(", ")} changed ingest checkpoints or ` +
        `backfill claims (${form}), which have no merge rule`,
      next: "Finish the checkpointed ingest on trunk, and merge branches without checkpoints.",
      sides: touched.map(({ name }) => name),
    });
  }
  return refusals;
}
