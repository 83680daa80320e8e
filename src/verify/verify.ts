/**
 * Checks everything that a Manifest reaches: every object exists, is what its address says, is
 * written in its one canonical form, and agrees with what refers to it.
 *
 * All problems are collected; a problem never ends the walk.
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import { fieldOf } from "../model/binding.ts";
import type { Binding } from "../model/binding.ts";
import { decodeManifest, encodeManifest } from "../model/manifest.ts";
import type { Manifest } from "../model/manifest.ts";
import { trackKindOf } from "../model/track-kind.ts";
import type { Connector } from "../store/connector.ts";
import { mapConcurrent } from "../store/limit.ts";
import { manifestPath } from "../store/paths.ts";
import { checkManifest } from "./check-manifest.ts";
import { addressesIn, checkRegistry } from "./check-registry.ts";
import { checkBinding } from "./check-track.ts";
import type { Field } from "./field.ts";
import type { Problem } from "./problem.ts";
import { Verification } from "./verification.ts";
import type { Place, Scope } from "./verification.ts";

/** What to verify. */
export interface VerifyRequest extends Scope {
  /** Whether also what older Manifests reach. */
  readonly history: boolean;
  /** Told how many objects were read so far. */
  readonly onProgress?: ((objects: number) => void) | undefined;
}

/** What was found. */
export interface VerifyReport {
  readonly manifest: Address;
  readonly manifests: number;
  /** Objects read, by kind. */
  readonly objects: Readonly<Record<string, number>>;
  readonly bytes: number;
  /** Payload objects that were not read. */
  readonly payloadSkipped: number;
  /** Fields of kinds that this program cannot look into. */
  readonly unknownFields: readonly string[];
  /** Older Manifests that are no longer in the store: a gc may have taken them. */
  readonly missingHistory: readonly Address[];
  /** At most `LISTED_PROBLEMS`. */
  readonly problems: readonly Problem[];
  readonly problemCount: number;
}

const FIELDS_AT_ONCE = 4;

/** Verifies the Manifest at `tip` and all that it reaches. */
export async function verifyManifest(
  connector: Connector,
  tip: Address,
  request: VerifyRequest,
): Promise<VerifyReport> {
  const run = new Verification(connector, request, request.onProgress);
  const unknownFields = new Set<string>();
  const missingHistory: Address[] = [];
  const seen = new Set<Address>([tip]);
  let manifests = 0;
  let level: readonly Address[] = [tip];
  while (level.length > 0) {
    const parents: Address[] = [];
    for (const address of level) {
      const manifest = await readManifest(run, address, address === tip, missingHistory);
      if (manifest === undefined) continue;
      manifests++;
      await checkOne(run, address, manifest, unknownFields);
      parents.push(...manifest.parents);
    }
    level = request.history ? [...new Set(parents)].filter((parent) => !seen.has(parent)) : [];
    for (const address of level) seen.add(address);
  }
  return {
    manifest: tip,
    manifests,
    objects: Object.fromEntries([...run.objects].sort(([a], [b]) => a < b ? -1 : 1)),
    bytes: run.bytes,
    payloadSkipped: run.payloadSkipped,
    unknownFields: [...unknownFields].sort(),
    missingHistory,
    problems: run.problems,
    problemCount: run.problemCount,
  };
}

function placeOf(address: Address): Place {
  return { path: manifestPath(address), address, kind: "Manifest" };
}

/** An older Manifest may be gone; the first may not. */
async function readManifest(
  run: Verification,
  address: Address,
  first: boolean,
  missing: Address[],
): Promise<Manifest | undefined> {
  const place = placeOf(address);
  if (!first) {
    const { signal } = run.scope;
    if (await run.connector.get(place.path, { signal }) === undefined) {
      missing.push(address);
      return undefined;
    }
  }
  return await run.structural(place, decodeManifest, encodeManifest);
}

async function checkOne(
  run: Verification,
  address: Address,
  manifest: Manifest,
  unknownFields: Set<string>,
): Promise<void> {
  checkManifest(run, placeOf(address), manifest);
  await checkRegistry(run, manifest);
  const { tracks } = manifest;
  const lineage = tracks.form === "legacy" ? [] : tracks.lineage;
  await mapConcurrent([...tracks.active, ...lineage], FIELDS_AT_ONCE, async (binding, position) => {
    const field = fieldFor(manifest, binding, position < tracks.active.length);
    if (field.kind === "unknown") unknownFields.add(field.name);
    await checkBinding(run, field, binding);
  }, run.scope.signal);
}

function fieldFor(manifest: Manifest, binding: Binding, active: boolean): Field {
  // The registry speaks of the present: an older version may be of an index that was replaced.
  const entry = active ? manifest.registry.get(binding.modality) : undefined;
  const named = (key: string): readonly Address[] =>
    entry instanceof Map ? addressesIn(entry.get(key)) : [];
  return {
    name: fieldOf(binding) || binding.modality,
    kind: trackKindOf(binding.modality),
    timeline: binding.timeline,
    modality: binding.modality,
    segmented: false,
    spatialIndexes: named("spatial_index"),
    compressors: named("vector_compressor"),
  };
}
