/**
 * The plan of a merge: everything that can be known before the first write. A dry run prints it,
 * execution follows it, the report is made from it.
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import type { CborMap, CborValue } from "../encoding/cbor-value.ts";
import { createManifestReader } from "../history/manifest-reader.ts";
import type { ManifestReader } from "../history/manifest-reader.ts";
import type { Binding } from "../model/binding.ts";
import { EMPTY_COVERAGE } from "../model/coverage.ts";
import { encodedTracksLength, MAX_TRACKS_BYTES } from "../model/manifest.ts";
import type { Manifest } from "../model/manifest.ts";
import { mapConcurrent } from "../store/limit.ts";
import { lineUpFields } from "./field-sides.ts";
import { checkHistoryForms } from "./forms.ts";
import { assembleTracks } from "./lineage.ts";
import type { BoundTrack } from "./lineage.ts";
import { createObjectReader } from "./object-reader.ts";
import type { ReadObject } from "./object-reader.ts";
import { checkFusedPayload } from "./payload-check.ts";
import { planField } from "./plan-field.ts";
import type { FieldContext, FieldPlan } from "./field-plan.ts";
import type { Refusal, RefusalCode, Warning } from "./refusal.ts";
import { joinRegistries } from "./registry.ts";
import type { MergeEnvironment, MergeRequest } from "./request.ts";
import { resolveRefs, resolveSides } from "./resolve.ts";
import type { ResolvedBranch } from "./resolve.ts";
import type { Sides } from "./sides.ts";
import { joinTombstones } from "./tombstones.ts";
import type { JoinedTombstones } from "./tombstones.ts";
import { createTrackLoader } from "./track-loader.ts";
import type { TrackLoader } from "./track-loader.ts";
import { deletedAdditions, staleTextIndexes } from "./warnings.ts";

/** What a plan comes to. */
export type PlanOutcome = "refused" | "already-merged" | "fast-forward" | "merge";

/** A plan. */
export interface MergePlan {
  readonly outcome: PlanOutcome;
  readonly request: MergeRequest;
  readonly trunk: Address;
  readonly branches: readonly ResolvedBranch[];
  readonly mergeBases: readonly Address[];
  /** Trunk and the branches that are merged; undefined when history left none. */
  readonly sides: Sides | undefined;
  readonly fields: readonly FieldPlan[];
  readonly registry: CborMap;
  readonly tombstones: JoinedTombstones | undefined;
  readonly refusals: readonly Refusal[];
  readonly warnings: readonly Warning[];
  /** Reads objects through the cache that planning filled. */
  readonly read: ReadObject;
  readonly loader: TrackLoader;
}

/**
 * What was read so far. Objects never change, so a plan that is made again after a lost race reads
 * only what is new.
 */
export interface MergeSession {
  readonly manifests: ManifestReader;
  readonly read: ReadObject;
  readonly loader: TrackLoader;
}

/** An empty session. */
export function createSession({ connector, signal }: MergeEnvironment): MergeSession {
  const read = createObjectReader(connector, { signal });
  return {
    manifests: createManifestReader(connector, { signal }),
    read,
    loader: createTrackLoader(read),
  };
}

/** Plans a merge; nothing is written. */
export async function planMerge(
  request: MergeRequest,
  environment: MergeEnvironment,
  session: MergeSession = createSession(environment),
): Promise<MergePlan> {
  const { connector, concurrency, signal, onProgress } = environment;
  const options = { signal };
  onProgress?.({ stage: "refs", done: 0, total: request.branches.length + 1 });
  const refs = await resolveRefs(connector, request, concurrency, options);
  onProgress?.({ stage: "history", done: 0, total: 1 });
  const resolved = await resolveSides(session.manifests, refs, request);
  const plan = {
    request,
    trunk: refs.trunk,
    branches: resolved.branches,
    mergeBases: resolved.mergeBases,
    sides: resolved.sides,
    fields: [],
    registry: new Map<string, CborValue>(),
    tombstones: undefined,
    refusals: resolved.refusals,
    warnings: resolved.warnings,
    read: session.read,
    loader: session.loader,
  };
  if (resolved.refusals.length > 0) return { ...plan, outcome: "refused" };
  if (resolved.sides === undefined) return { ...plan, outcome: "already-merged" };
  return await planSides(resolved.sides, { ...plan, outcome: "merge" }, environment);
}

async function planSides(
  sides: Sides,
  plan: MergePlan,
  environment: MergeEnvironment,
): Promise<MergePlan> {
  const { request, read } = plan;
  const { concurrency, onProgress, signal } = environment;
  const [only, ...others] = sides.branches;
  const fastForward = only !== undefined && others.length === 0 && only.base === sides.trunk.tip;
  const tombstones = await joinTombstones(sides, read, environment.now() / 1_000_000n);
  const lined = lineUpFields(sides);
  const context: FieldContext = {
    sides,
    request,
    loader: plan.loader,
    read,
    concurrency,
    names: namesByPosition(sides),
    deleted: tombstones.deleted,
  };
  let done = 0;
  const fields = await mapConcurrent(lined.fields, 8, async (field) => {
    const planned = await planField(context, field);
    onProgress?.({
      stage: "compare",
      done: ++done,
      total: lined.fields.length,
      label: field.field,
    });
    return planned;
  }, signal);
  const dataRefusals = fields.flatMap(({ refusals }) => refusals);
  const warnings = [
    ...plan.warnings,
    ...fields.flatMap((field) => field.warnings),
    ...await deletedAdditions(context, fields),
  ];
  // An Item that is taken once although the branch has it twice needs a Track of its own.
  if (fastForward && fields.every(({ join }) => join === undefined)) {
    return {
      ...plan,
      fields,
      tombstones,
      warnings,
      refusals: dataRefusals,
      outcome: dataRefusals.length > 0 ? "refused" : "fast-forward",
    };
  }
  const joined = joinRegistries(sides);
  const refusals = withoutConsequences(sides, [
    ...checkHistoryForms(sides),
    ...joined.refusals,
    ...lined.refusals,
    ...dataRefusals,
  ]);
  if (refusals.length === 0) refusals.push(...checkTracksLength(sides.trunk.manifest, fields));
  if (refusals.length === 0) await checkFusedPayload(fields, read, concurrency);
  return {
    ...plan,
    fields,
    registry: joined.registry,
    tombstones,
    refusals,
    warnings: [...warnings, ...joined.warnings, ...staleTextIndexes(sides, fields)],
    outcome: refusals.length > 0 ? "refused" : "merge",
  };
}

/**
 * Leaves out what only repeats another refusal: a field that is missing on a side is missing in the
 * schema, in the bindings and in the registry, and an index that differs also shows in the schema.
 */
function withoutConsequences(sides: Sides, refusals: readonly Refusal[]): Refusal[] {
  const fieldOf = new Map(
    [sides.trunk, ...sides.branches].flatMap(({ manifest }) =>
      manifest.tracks.active.map(({ modality, field }) => [modality, field] as const)
    ),
  );
  const fieldsWith = (codes: readonly RefusalCode[], bound?: boolean) =>
    new Set(
      refusals.filter(({ code, modality }) =>
        codes.includes(code) && (bound === undefined || (modality !== undefined) === bound)
      ).map(({ field, modality }) => field ?? fieldOf.get(modality ?? "")),
    );
  const indexes = fieldsWith(["spatial-index-differs", "compressor-differs"]);
  const differing = fieldsWith(["schema-differs"]);
  const schemaDiffers = fieldsWith(["schema-differs"], false);
  const missing = fieldsWith(["field-missing"]);
  const missingBinding = fieldsWith(["field-missing"], true);
  const fieldsSaid = new Set(
    refusals.filter(({ code, key }) => code === "hot-shard-pending" && key === undefined)
      .map(({ field }) => field),
  );
  return refusals.filter(({ code, field, modality, key }) => {
    switch (code) {
      case "schema-differs":
        return !indexes.has(field) && (modality === undefined || !schemaDiffers.has(field));
      case "field-missing":
        return !differing.has(field) && (modality !== undefined || !missingBinding.has(field));
      case "hot-shard-pending":
        // Said of the registry key and of the field; the one of the field names the sides better.
        return key === undefined || !fieldsSaid.has(field);
      case "registry-differs":
      case "scalar-index-differs": {
        const of = fieldOf.get(modality ?? "");
        return of === undefined || !missing.has(of) && !differing.has(of);
      }
      default:
        return true;
    }
  });
}

function namesByPosition(sides: Sides): string[] {
  const names: string[] = [];
  for (const { position, name } of [sides.trunk, ...sides.branches]) names[position] = name;
  return names;
}

/** What a joined Track is bound by. */
export type JoinedTrack = Pick<Binding, "address" | "coverage">;

/** The bindings of the result; `joinedTrack` gives what is known of a joined field's Track. */
export function boundTracks(
  fields: readonly FieldPlan[],
  joinedTrack: (plan: FieldPlan) => JoinedTrack,
): BoundTrack[] {
  return fields.flatMap((plan): BoundTrack[] => {
    if (plan.bound !== undefined) return [plan.bound];
    if (plan.join === undefined) return [];
    const { like, layer } = plan.join;
    const binding = { ...like, ...joinedTrack(plan) };
    if (layer === undefined) return [{ binding, lineage: [], edges: [] }];
    const child = {
      field: binding.field ?? "",
      address: binding.address,
      modality: binding.modality,
      timeline: binding.timeline,
    };
    return [{
      binding,
      lineage: layer.closure.lineage,
      edges: [{ child, exactParent: layer.exactParent }, ...layer.closure.edges.slice(1)],
    }];
  });
}

/** Readers refuse a `tracks` map above 1 MiB; its length is known although addresses are not. */
function checkTracksLength(trunk: Manifest, fields: readonly FieldPlan[]): Refusal[] {
  const length = encodedTracksLength(
    assembleTracks(
      trunk,
      boundTracks(fields, ({ join }) => ({
        address: join?.like.address ?? trunk.timelines[0] as Address,
        coverage: join?.coverage ?? EMPTY_COVERAGE,
      })),
    ),
  );
  if (trunk.tracks.form === "legacy" || length <= MAX_TRACKS_BYTES) return [];
  return [{
    code: "tracks-too-large",
    message: `the tracks of the merged Manifest would take ${length} bytes, and readers accept ` +
      `${MAX_TRACKS_BYTES}`,
    next:
      "Merge in several runs of fewer branches, or after Layers have been committed less often.",
    sides: [],
  }];
}
