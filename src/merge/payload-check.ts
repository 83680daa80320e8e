/**
 * Reads, before anything is written, the payload that fusing will need: a damaged or missing bucket
 * then stops a merge while the store is as it was, and a dry run finds it too.
 *
 * @module
 */

import { mapConcurrent } from "../store/limit.ts";
import { CACHE_BYTES } from "./object-reader.ts";
import type { ReadObject } from "./object-reader.ts";
import { readAnchors, readBucket } from "./payload.ts";
import type { FieldPlan } from "./field-plan.ts";

/**
 * Reads and decodes every bucket that `fields` will fuse. It all stays in the reader's cache; when
 * it would not fit there, it is left to the fuse, and damage then leaves objects behind that no ref
 * reaches.
 * @throws DreamDBError object-missing, hash-mismatch, malformed-object
 */
export async function checkFusedPayload(
  fields: readonly FieldPlan[],
  read: ReadObject,
  concurrency: number,
): Promise<void> {
  const wanted = fields.flatMap(({ field, join }) => {
    if (join === undefined) return [];
    const place = { kind: join.kind, timeline: field.timeline, modality: field.modality };
    return [...join.cells.flatMap(({ entries }) => entries), ...join.values.flat()]
      .map((entry) => ({ place, entry }));
  });
  const bytes = wanted.reduce((total, { entry }) => total + (entry.size ?? 0), 0);
  if (bytes > CACHE_BYTES / 2) return;
  await mapConcurrent(wanted, concurrency, async ({ place, entry }) => {
    if (place.kind === "spatial-bucket") await readBucket(read, place, entry);
    else await readAnchors(read, place, entry);
  });
}
