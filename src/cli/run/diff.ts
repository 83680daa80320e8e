/**
 * Runs `diff`: what the second of two Manifests has and the first lacks, and the other way round.
 *
 * @module
 */

import { bytesKey } from "../../encoding/bytes.ts";
import { encodeCanonical } from "../../encoding/cbor-encode.ts";
import { createManifestReader } from "../../history/manifest-reader.ts";
import { createObjectReader } from "../../merge/object-reader.ts";
import { createTrackLoader } from "../../merge/track-loader.ts";
import type { TrackLoader } from "../../merge/track-loader.ts";
import { fieldKey, fieldOf } from "../../model/binding.ts";
import type { Binding } from "../../model/binding.ts";
import type { EntryKind } from "../../model/index-entry.ts";
import type { Manifest } from "../../model/manifest.ts";
import { trackKindOf } from "../../model/track-kind.ts";
import { mapConcurrent } from "../../store/limit.ts";
import { cborJson } from "../cbor-json.ts";
import type { StoreOptions } from "../common-options.ts";
import { EXIT } from "../exit-codes.ts";
import type { JsonValue } from "../json.ts";
import { withStore } from "../open-store.ts";
import type { Outcome, RunContext } from "../outcome.ts";
import { resolveStart } from "../resolve-start.ts";
import { table } from "../style.ts";

const FIELDS_AT_ONCE = 4;

/** One field that is not the same on both sides. */
interface FieldDifference {
  readonly field: string;
  readonly modality: string;
  readonly kind: string;
  readonly change: "added" | "removed" | "changed";
  readonly before: string | null;
  readonly after: string | null;
  /** Null where entries of the kind cannot be compared. */
  readonly entriesAdded: number | null;
  readonly entriesRemoved: number | null;
}

interface RegistryDifference {
  readonly key: string;
  readonly before: JsonValue;
  readonly after: JsonValue;
}

/** Compares two refs or Manifests. */
export async function runDiff(
  options: StoreOptions & { readonly from: string; readonly to: string },
  context: RunContext,
): Promise<Outcome> {
  return await withStore(options, context, async (connector) => {
    const call = { signal: context.signal };
    const [from, to] = await Promise.all([
      resolveStart(connector, options.from, call),
      resolveStart(connector, options.to, call),
    ]);
    const reader = createManifestReader(connector, call);
    const [before, after] = await Promise.all([
      reader.read(from.address),
      reader.read(to.address),
    ]);
    const loader = createTrackLoader(createObjectReader(connector, call));
    const fields = await mapConcurrent(
      pairs(before, after),
      FIELDS_AT_ONCE,
      ({ old, young }) => compareField(loader, old, young),
      context.signal,
    );
    const registry = compareRegistries(before, after);
    return {
      exitCode: EXIT.done,
      document: {
        status: "ok",
        backend: connector.url,
        from: { ref: from.ref ?? null, address: from.address },
        to: { ref: to.ref ?? null, address: to.address },
        fields,
        registry,
        error: null,
      },
      text: diffText(fields, registry),
    };
  });
}

function pairs(
  before: Manifest,
  after: Manifest,
): { readonly old: Binding | undefined; readonly young: Binding | undefined }[] {
  const old = new Map(before.tracks.active.map((binding) => [fieldKey(binding), binding]));
  const young = new Map(after.tracks.active.map((binding) => [fieldKey(binding), binding]));
  return [...new Set([...old.keys(), ...young.keys()])].sort()
    .map((key) => ({ old: old.get(key), young: young.get(key) }))
    .filter((pair) => pair.old?.address !== pair.young?.address);
}

async function compareField(
  loader: TrackLoader,
  old: Binding | undefined,
  young: Binding | undefined,
): Promise<FieldDifference> {
  const example = young ?? old;
  if (example === undefined) throw new Error("unreachable: a pair has a side");
  const kind = trackKindOf(example.modality);
  const counts = kind === "unknown" || kind === "graph-page" ||
      (old !== undefined && young !== undefined && old.modality !== young.modality)
    ? undefined
    : await countEntries(loader, old, young, kind);
  return {
    field: fieldOf(example) || example.modality,
    modality: example.modality,
    kind,
    change: old === undefined ? "added" : young === undefined ? "removed" : "changed",
    before: old?.address ?? null,
    after: young?.address ?? null,
    entriesAdded: counts?.added ?? null,
    entriesRemoved: counts?.removed ?? null,
  };
}

async function countEntries(
  loader: TrackLoader,
  old: Binding | undefined,
  young: Binding | undefined,
  kind: EntryKind,
): Promise<{ readonly added: number; readonly removed: number } | undefined> {
  for (const binding of [old, young]) {
    if (binding === undefined) continue;
    if ((await loader.load(binding)).index.form === "hot-overlay-v1") return undefined;
  }
  const [before, after] = await Promise.all([
    loader.content(old, kind),
    loader.content(young, kind),
  ]);
  const { added, removed } = await before.difference(after);
  return { added: added.length, removed: removed.length };
}

function compareRegistries(before: Manifest, after: Manifest): readonly RegistryDifference[] {
  const keys = [...new Set([...before.registry.keys(), ...after.registry.keys()])].sort();
  return keys.flatMap((key): RegistryDifference[] => {
    const old = before.registry.get(key);
    const young = after.registry.get(key);
    const same = old !== undefined && young !== undefined &&
      bytesKey(encodeCanonical(old)) === bytesKey(encodeCanonical(young));
    return same ? [] : [{
      key,
      before: old === undefined ? null : cborJson(old),
      after: young === undefined ? null : cborJson(young),
    }];
  });
}

function diffText(
  fields: readonly FieldDifference[],
  registry: readonly RegistryDifference[],
): string {
  if (fields.length === 0 && registry.length === 0) return "no difference\n";
  const lines: string[] = [];
  if (fields.length > 0) {
    lines.push(...table(
      ["FIELD", "KIND", "CHANGE", "ADDED", "REMOVED"],
      fields.map((field) => [
        field.field,
        field.kind,
        field.change,
        field.entriesAdded === null ? "" : `+${field.entriesAdded}`,
        field.entriesRemoved === null ? "" : `-${field.entriesRemoved}`,
      ]),
    ));
  }
  for (const { key, before, after } of registry) {
    const change = before === null ? "added" : after === null ? "removed" : "changed";
    lines.push(`registry ${key}: ${change}`);
  }
  return `${lines.join("\n")}\n`;
}
