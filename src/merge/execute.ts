/**
 * Writes what a plan says, leaf to root: payload, pages, Tracks, tombstones, and the Manifest last.
 * Nothing written here is visible until the Ref moves.
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import { addressOf } from "../encoding/address.ts";
import { MAX_U64 } from "../model/coverage.ts";
import type { Coverage } from "../model/coverage.ts";
import { encodeManifest } from "../model/manifest.ts";
import type { Manifest } from "../model/manifest.ts";
import { encodeTrack } from "../model/track.ts";
import { mapConcurrent } from "../store/limit.ts";
import { putObject, putPayload } from "../store/objects.ts";
import { manifestPath, trackPath } from "../store/paths.ts";
import { fuseScalars } from "./fuse-scalar.ts";
import { fuseGroup } from "./fuse-spatial.ts";
import type { FusedGroup } from "./fuse-spatial.ts";
import { assembleTracks } from "./lineage.ts";
import type { JoinedTrack, MergePlan } from "./plan.ts";
import { boundTracks } from "./plan.ts";
import type { FieldPlan, TrackJoin } from "./field-plan.ts";
import { createPageWriter } from "./page-writer.ts";
import type { MergeEnvironment } from "./request.ts";
import type { Sides } from "./sides.ts";
import { buildTrack } from "./build-track.ts";

/** What was written. */
export interface Executed {
  readonly manifest: Address;
  /** Entries of each joined field after the merge, and how many buckets were fused. */
  readonly fields: ReadonlyMap<FieldPlan, ExecutedField>;
}

/** What became of one joined field. */
export interface ExecutedField {
  readonly address: Address;
  readonly coverage: Coverage;
  readonly entriesAfter: number;
  readonly bucketsFused: number;
  readonly bucketsWritten: number;
}

/** Carries out `plan`, whose outcome is "merge". */
export async function executeMerge(
  plan: MergePlan,
  sides: Sides,
  environment: MergeEnvironment,
): Promise<Executed> {
  const { connector, signal, onProgress } = environment;
  const joins = plan.fields.filter(({ join }) => join !== undefined);
  const written = new Map<FieldPlan, ExecutedField>();
  let done = 0;
  for (const field of joins) {
    if (field.join === undefined) continue;
    onProgress?.({ stage: "write", done, total: joins.length, label: field.field.field });
    written.set(field, await writeField(plan, field, field.join, environment));
    done++;
  }
  const { tombstones } = plan;
  if (tombstones?.object !== undefined) {
    await putObject(connector, tombstones.object.path, tombstones.object.bytes, { signal });
  }
  const manifest = assembleManifest(plan, sides, environment, (field) => {
    const track = written.get(field);
    if (track === undefined) throw new Error("unreachable: every joined field was written");
    return { address: track.address, coverage: track.coverage };
  });
  const bytes = encodeManifest(manifest);
  const address = addressOf(bytes);
  await putObject(connector, manifestPath(address), bytes, { signal });
  return { manifest: address, fields: written };
}

async function writeField(
  plan: MergePlan,
  { field }: FieldPlan,
  join: TrackJoin,
  environment: MergeEnvironment,
): Promise<ExecutedField> {
  const { connector, concurrency, signal } = environment;
  const place = { kind: join.kind, timeline: field.timeline, modality: field.modality };
  const fused: FusedGroup[] = await mapConcurrent(
    join.cells,
    Math.max(1, concurrency >> 2),
    async (group) => {
      const result = await fuseGroup(plan.read, place, group);
      for (const { path, bytes } of result.objects) {
        await putPayload(connector, path, bytes, { signal });
      }
      return result;
    },
    signal,
  );
  if (join.values.length > 0) {
    const result = await fuseScalars(plan.read, place, join.values, join.dropped, concurrency);
    for (const { path, bytes } of result.objects) {
      await putPayload(connector, path, bytes, { signal });
    }
    fused.push(result);
  }
  const built = await buildTrack(
    join,
    await plan.loader.load(join.like),
    fused.flatMap(({ entries }) => entries),
    createPageWriter(connector, field.timeline, field.modality, concurrency, { signal }),
  );
  const bytes = encodeTrack(built.track);
  const address = addressOf(bytes);
  await putObject(connector, trackPath(field.timeline, field.modality, address), bytes, { signal });
  return {
    address,
    coverage: built.track.coverage,
    entriesAfter: built.count,
    bucketsFused: join.cells.reduce((sum, { entries }) => sum + entries.length, 0) +
      join.values.reduce((sum, entries) => sum + entries.length, 0),
    bucketsWritten: fused.reduce((sum, { entries }) => sum + entries.length, 0),
  };
}

/** The merged Manifest: trunk first among the parents, then the branches as they were named. */
function assembleManifest(
  plan: MergePlan,
  sides: Sides,
  environment: MergeEnvironment,
  joinedTrack: (field: FieldPlan) => JoinedTrack,
): Manifest {
  const { trunk, branches } = sides;
  const like = trunk.manifest;
  const registry = new Map(plan.registry);
  const tombstones = plan.tombstones?.entry;
  if (tombstones !== undefined) registry.set(tombstones.key, tombstones.value);
  const newest = [trunk, ...branches].reduce(
    (latest, { manifest }) => manifest.ts > latest ? manifest.ts : latest,
    0n,
  );
  const now = environment.now();
  const after = now > newest ? now : newest + 1n;
  return {
    ts: after > MAX_U64 ? MAX_U64 : after,
    writer: writerText(like, plan.request.ref, environment.version),
    parents: [trunk.tip, ...branches.map(({ tip }) => tip)],
    timelines: like.timelines,
    registry,
    tracks: assembleTracks(like, boundTracks(plan.fields, joinedTrack)),
    extra: like.extra,
  };
}

/** Both grammars are what readers of their time know (DESIGN 1, "writer text"). */
function writerText(like: Manifest, ref: string, version: string): string {
  if (like.tracks.form === "legacy") {
    const prefix = like.registry.has("vortex.schema") ? "vortex" : "dreamdb";
    return `${prefix}-dataset/0.1#${ref}#union-merge`;
  }
  return `dreamdb-writer/1;sdk=typescript%2Fdreamdb;version=${version};operation=union-merge`;
}
