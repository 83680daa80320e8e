/**
 * What kind of index a Track has, told by its modality tag (FORMAT 1.3). The object itself does
 * not say.
 *
 * @module
 */

/** The kinds of Track this program knows. */
export type TrackKind =
  | "spatial-bucket"
  | "fragment"
  | "scalar-bitmap"
  | "scalar-btree"
  | "event-array"
  | "time-batch"
  | "constant"
  | "video-item"
  | "geometry"
  | "graph-page"
  | "unknown";

const BITMAP_TYPES = ["cat", "bool"];
const BTREE_TYPES = ["i64", "f64", "str", "ts"];

/**
 * The kind of the Tracks of one modality.
 *
 * @param modality the modality tag, such as `embedding.f32.dim=8.bucketed`
 */
export function trackKindOf(modality: string): TrackKind {
  const segments = modality.split(".");
  switch (segments[0]) {
    case "embedding":
      if (segments.includes("bucketed")) return "spatial-bucket";
      return segments.includes("graph") ? "graph-page" : "unknown";
    case "image":
    case "audio":
    case "video":
      return "fragment";
    case "scalar": {
      const type = segments[1] ?? "";
      if (BITMAP_TYPES.includes(type)) return "scalar-bitmap";
      return BTREE_TYPES.includes(type) ? "scalar-btree" : "unknown";
    }
    case "array":
      if (segments.includes("kind=event")) return "event-array";
      if (segments.includes("kind=constant")) return "constant";
      return segments.includes("storage=time_batch") ? "time-batch" : "unknown";
    case "title":
    case "author":
    case "license":
    case "description":
    case "source":
      return "constant";
    case "ai":
      if (modality.startsWith("ai.dreamlake.media.video_item.")) return "video-item";
      return modality.startsWith("ai.dreamlake.spatial.geometry.") ? "geometry" : "unknown";
    default:
      return "unknown";
  }
}

/** The `bucket_max_bytes` a modality tag carries, in bytes; 100 MiB when it carries none (FORMAT 6). */
export function bucketCapacity(modality: string): number {
  const written = /(?:^|\.)bucket_max_bytes=(\d+)(?:\.|$)/.exec(modality);
  return written === null ? 104_857_600 : Number(written[1]);
}
