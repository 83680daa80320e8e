import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { addressFromBytes } from "../../../src/encoding/address.ts";
import type { Address } from "../../../src/encoding/address.ts";
import { bytesKey } from "../../../src/encoding/bytes.ts";
import type { IndexSource } from "../../../src/merge/tree/diff.ts";
import { btreeFormat } from "../../../src/merge/tree/btree-format.ts";
import { treeOf } from "../../../src/merge/tree/descriptor.ts";
import { indexFormat } from "../../../src/merge/tree/index-format.ts";
import type { PageLoader, Tree, TreeFormat } from "../../../src/merge/tree/tree-format.ts";
import { walkLeaves } from "../../../src/merge/tree/walk.ts";
import { readIndexEntries } from "../../../src/model/index-entry.ts";
import { pagedKind } from "../../../src/model/index-leaf.ts";
import { decodeManifest } from "../../../src/model/manifest.ts";
import type { PageEntry } from "../../../src/model/page-entry.ts";
import type { OrderedAlgorithm } from "../../../src/model/scalar-key.ts";
import { trackKindOf } from "../../../src/model/track-kind.ts";
import { decodeTrack } from "../../../src/model/track.ts";
import type { Track } from "../../../src/model/track.ts";
import { unpackFixture } from "../../support/fixtures.ts";

/** One version of a Track after another, as the reference wrote them, and where the pages are. */
export interface History {
  readonly name: string;
  readonly folder: string;
  readonly versions: readonly Version[];
}

export interface Version {
  readonly track: Track;
  /** Written by a merge of two branches. */
  readonly merged: boolean;
}

export const histories: readonly History[] = [...ownTrees(), ...pagedStores()];

export function historyOf(name: string): History {
  const history = histories.find((each) => each.name === name);
  if (history === undefined) throw new Error(`no history ${name}`);
  return history;
}

/** The trees of the fixture `trees`. */
function* ownTrees(): Generator<History> {
  const root = unpackFixture("trees");
  for (const name of readdirSync(root)) {
    const sequence = join(root, name, "sequence.json");
    if (!existsSync(sequence)) continue;
    const { tracks } = JSON.parse(readFileSync(sequence, "utf8")) as { tracks: string[] };
    const folder = join(root, name);
    const versions = tracks.map((address) => ({
      track: decodeTrack(read(join(folder, "track", address))),
      merged: false,
    }));
    yield { name, folder, versions };
  }
}

/** The fields of the example stores: trunk's versions from the first commit to the last. */
function* pagedStores(): Generator<History> {
  const root = unpackFixture("paged-stores");
  for (const store of readdirSync(root)) {
    const manifests = [];
    let next: Address | undefined = addressFromBytes(read(join(root, store, "refs/trunk")));
    while (next !== undefined) {
      const manifest = decodeManifest(read(join(root, store, "manifests", next)));
      manifests.unshift(manifest);
      next = manifest.parents[0];
    }
    for (const { field, timeline, modality } of manifests.at(-1)?.tracks.active ?? []) {
      const kind = trackKindOf(modality);
      if (pagedKind(kind) === undefined && kind !== "scalar-btree") continue;
      const folder = join(root, store, timeline, modality);
      const seen = new Set<Address>();
      const versions: Version[] = [];
      for (const manifest of manifests) {
        const binding = manifest.tracks.active.find((one) => one.field === field);
        if (binding === undefined || seen.has(binding.address)) continue;
        seen.add(binding.address);
        const track = decodeTrack(read(join(folder, "track", binding.address)));
        versions.push({ track, merged: manifest.parents.length > 1 });
      }
      yield { name: `${store} ${field}`, folder, versions };
    }
  }
}

export function formatOf(modality: string): TreeFormat<PageEntry> {
  const kind = trackKindOf(modality);
  const paged = pagedKind(kind);
  if (paged !== undefined) return indexFormat(paged, modality);
  const type = modality.split(".")[1] ?? "";
  const algorithms: Record<string, OrderedAlgorithm> = {
    i64: "dreamdb.btree-int64",
    ts: "dreamdb.btree-int64",
    f64: "dreamdb.btree-float64",
    str: "dreamdb.btree-string",
  };
  const algorithm = algorithms[type];
  if (algorithm === undefined) throw new Error(`no tree for ${modality}`);
  // The tests treat entries of both families alike; a B-tree format makes what it needs of them.
  return btreeFormat(algorithm) as unknown as TreeFormat<PageEntry>;
}

/** Reads the pages of a history. */
export function loaderOf(history: History): PageLoader {
  return (address) => Promise.resolve(read(join(history.folder, "index", address)));
}

export function treeIn(track: Track): Tree | undefined {
  const { index } = track;
  return index.form === "paged" || index.form === "scalar-btree-v1" ? treeOf(index) : undefined;
}

/** A version as something to compare. */
export function sourceOf(track: Track): IndexSource {
  const tree = treeIn(track);
  return tree === undefined ? { entries: inlineEntries(track) } : { tree };
}

export async function allEntries(track: Track, history: History): Promise<PageEntry[]> {
  const tree = treeIn(track);
  if (tree === undefined) return inlineEntries(track);
  const entries: PageEntry[] = [];
  const format = formatOf(track.modality);
  for await (const leaf of walkLeaves(format, tree, loaderOf(history))) entries.push(...leaf);
  return entries;
}

export function keysOf(entries: Iterable<PageEntry>): string[] {
  return Array.from(entries, ({ bytes }) => bytesKey(bytes)).sort();
}

function inlineEntries(track: Track): PageEntry[] {
  const kind = trackKindOf(track.modality);
  if (track.index.form !== "inline") throw new Error(`index of form ${track.index.form}`);
  if (kind === "graph-page" || kind === "unknown") throw new Error(`kind ${kind}`);
  return [...readIndexEntries({ kind: "track" }, kind, track.index.entries)];
}

function read(file: string): Uint8Array {
  return new Uint8Array(readFileSync(file));
}
