/**
 * A version of a Track whose entries stand in a tree of pages.
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import { decodeBtreePage } from "../model/btree-page.ts";
import type { EntryKind } from "../model/index-entry.ts";
import { parseIndexEntry } from "../model/index-entry.ts";
import { decodeIndexPage } from "../model/index-page.ts";
import { malformedObject } from "../model/malformed.ts";
import type { Subject } from "../model/malformed.ts";
import type { OrderedAlgorithm } from "../model/scalar-key.ts";
import type { Track } from "../model/track.ts";
import { indexPagePath } from "../store/paths.ts";
import { wholeDifference } from "./inline-content.ts";
import type { ReadObject } from "./object-reader.ts";
import { meetsAny } from "./overlap.ts";
import type { TrackContent } from "./track-content.ts";

/** The algorithm of a scalar B-tree modality (PAGED 7). */
export function btreeAlgorithm(modality: string): OrderedAlgorithm {
  if (modality.startsWith("scalar.f64.")) return "dreamdb.btree-float64";
  return modality.startsWith("scalar.str.") ? "dreamdb.btree-string" : "dreamdb.btree-int64";
}

async function* leaves(
  kind: EntryKind,
  subject: Subject,
  track: Track,
  read: ReadObject,
): AsyncGenerator<Uint8Array> {
  const { index, modality, timeline } = track;
  const visit = async function* (page: Address): AsyncGenerator<Uint8Array> {
    const path = indexPagePath(timeline, modality, page);
    const bytes = await read(path, page);
    if (index.form === "scalar-btree-v1") {
      const decoded = decodeBtreePage(bytes, { algorithm: btreeAlgorithm(modality), path });
      if (decoded.type === "leaf") { for (const entry of decoded.entries) yield entry.bytes; }
      else for (const child of decoded.children) yield* visit(child.page);
      return;
    }
    if (kind !== "spatial-bucket" && kind !== "fragment" && kind !== "event-array") {
      throw malformedObject(subject, `a paged index of a ${kind} Track`, "a kind that has pages");
    }
    const decoded = decodeIndexPage(bytes, { kind, modality, path });
    if (decoded.type === "leaf") { for (const entry of decoded.entries) yield entry.bytes; }
    else for (const child of decoded.children) yield* visit(child.page);
  };
  if (index.form === "paged" || index.form === "scalar-btree-v1") yield* visit(index.root);
}

/** The content of a Track in a tree. */
export function treeContent(
  kind: EntryKind,
  subject: Subject,
  track: Track,
  read: ReadObject,
): TrackContent {
  const { index } = track;
  const count = index.form === "paged"
    ? index.totalItems
    : index.form === "scalar-btree-v1"
    ? index.totalEntries
    : 0;
  const content: TrackContent = {
    track,
    kind,
    count,
    async difference(side) {
      const other = side.track?.index;
      if (
        (index.form === "paged" || index.form === "scalar-btree-v1") &&
        other?.form === index.form && other.root === index.root
      ) return { added: [], removed: [] };
      return await wholeDifference(kind, { base: subject, side: subject }, content, side);
    },
    async meeting(intervals) {
      const met = [];
      for await (const bytes of leaves(kind, subject, track, read)) {
        const entry = parseIndexEntry(subject, kind, bytes);
        if (meetsAny(intervals, entry.start, entry.end)) met.push(entry);
      }
      return met;
    },
    entries: () => leaves(kind, subject, track, read),
  };
  return content;
}
