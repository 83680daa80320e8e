/**
 * Manifest: one state of a dataset. Its parents make the history, its bindings name one Track a
 * field, its registry holds the schema and everything that belongs to no Track (FORMAT 4).
 *
 * Two families exist. Releases 0.0.1 to 0.0.8 write `tracks` as a plain array ("legacy", the form
 * the mission document describes); later ones write a closed map with a `form` name.
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import { addressBytes } from "../encoding/address.ts";
import { decodeCanonical } from "../encoding/cbor-decode.ts";
import { encodeCanonical } from "../encoding/cbor-encode.ts";
import type { CborMap, CborValue } from "../encoding/cbor-value.ts";
import {
  compareBindings,
  compareEdges,
  decodeBinding,
  decodeEdge,
  encodeBinding,
  encodeEdge,
} from "./binding.ts";
import type { Binding, Edge } from "./binding.ts";
import {
  asAddress,
  asArray,
  asMap,
  asText,
  asUint,
  checkKeys,
  malformedObject,
} from "./malformed.ts";
import type { Subject } from "./malformed.ts";

/** The names of the map form; the keys each has beside form, edges, active and lineage. */
const LINEAGE_FORMS: ReadonlyMap<string, readonly string[]> = new Map([
  ["lineage-v1", []],
  ["lineage-v2", ["backfill_claims"]],
  ["lineage-v4", ["backfill_claims"]],
  ["lineage-v5", ["origins"]],
]);

/** The most bytes the encoded `tracks` map may have (FORMAT 4.2). */
export const MAX_TRACKS_BYTES = 1_048_576;

/** `tracks` of releases 0.0.1 to 0.0.8. */
export interface LegacyTracks {
  readonly form: "legacy";
  readonly active: readonly Binding[];
}

/** `tracks` since release 0.0.9. */
export interface LineageTracks {
  readonly form: "lineage-v1" | "lineage-v2" | "lineage-v4" | "lineage-v5";
  readonly active: readonly Binding[];
  readonly lineage: readonly Binding[];
  readonly edges: readonly Edge[];
  /** `backfill_claims` or `origins`, carried as they are. */
  readonly rest: CborMap;
}

/** A decoded Manifest. */
export interface Manifest {
  /** Nanoseconds since 1970. */
  readonly ts: bigint;
  readonly writer: string;
  readonly parents: readonly Address[];
  readonly timelines: readonly Address[];
  readonly registry: CborMap;
  readonly tracks: LegacyTracks | LineageTracks;
  /** Top-level keys that readers ignore. */
  readonly extra: CborMap;
}

const REQUIRED = ["ts", "tracks", "writer", "parents", "registry", "timelines"];

function strictlyIncreasing<T>(
  subject: Subject,
  name: string,
  items: readonly T[],
  compare: (a: T, b: T) => number,
): void {
  for (let index = 1; index < items.length; index++) {
    const before = items[index - 1];
    const item = items[index];
    if (before !== undefined && item !== undefined && compare(before, item) >= 0) {
      throw malformedObject(
        subject,
        `${name}[${index}] is out of order`,
        `${name} sorted, each once`,
      );
    }
  }
}

function decodeTracks(
  subject: Subject,
  value: CborValue | undefined,
): LegacyTracks | LineageTracks {
  if (Array.isArray(value)) {
    return {
      form: "legacy",
      active: value.map((entry) => decodeBinding(subject, entry, false)),
    };
  }
  const map = asMap(subject, "tracks", value);
  const form = asText(subject, "tracks form", map.get("form"));
  const rest = LINEAGE_FORMS.get(form);
  if (rest === undefined) {
    throw malformedObject(
      subject,
      `tracks form ${JSON.stringify(form)}`,
      [...LINEAGE_FORMS.keys()].join(", "),
    );
  }
  checkKeys(subject, "tracks", map, ["form", "edges", "active", "lineage", ...rest]);
  const active = asArray(subject, "active", map.get("active"))
    .map((entry) => decodeBinding(subject, entry, true));
  const lineage = asArray(subject, "lineage", map.get("lineage"))
    .map((entry) => decodeBinding(subject, entry, true));
  const edges = asArray(subject, "edges", map.get("edges"))
    .map((entry) => decodeEdge(subject, entry));
  strictlyIncreasing(subject, "active", active, compareBindings);
  strictlyIncreasing(subject, "lineage", lineage, compareBindings);
  strictlyIncreasing(subject, "edges", edges, compareEdges);
  return {
    form: form as LineageTracks["form"],
    active,
    lineage,
    edges,
    rest: new Map(rest.flatMap((key) => {
      const kept = map.get(key);
      return kept === undefined ? [] : [[key, kept] as const];
    })),
  };
}

/**
 * Decodes a Manifest.
 *
 * @param bytes canonical CBOR
 * @param path where it was read from, for messages
 * @throws DreamDBError malformed-cbor, malformed-object
 */
export function decodeManifest(bytes: Uint8Array, path?: string): Manifest {
  const subject: Subject = { kind: "manifest", path };
  const map = asMap(subject, "the object", decodeCanonical(bytes));
  checkKeys(subject, "manifest", map, REQUIRED, [...map.keys()]);
  return {
    ts: asUint(subject, "ts", map.get("ts")),
    writer: asText(subject, "writer", map.get("writer")),
    parents: asArray(subject, "parents", map.get("parents"))
      .map((parent) => asAddress(subject, "parent", parent)),
    timelines: asArray(subject, "timelines", map.get("timelines"))
      .map((timeline) => asAddress(subject, "timeline", timeline)),
    registry: asMap(subject, "registry", map.get("registry")),
    tracks: decodeTracks(subject, map.get("tracks")),
    extra: new Map([...map].filter(([key]) => !REQUIRED.includes(key))),
  };
}

function tracksValue(tracks: LegacyTracks | LineageTracks): CborValue {
  if (tracks.form === "legacy") return tracks.active.map(encodeBinding);
  return new Map<string, CborValue>([
    ["form", tracks.form],
    ["edges", tracks.edges.map(encodeEdge)],
    ["active", tracks.active.map(encodeBinding)],
    ["lineage", tracks.lineage.map(encodeBinding)],
    ...tracks.rest,
  ]);
}

/** The length in bytes of the encoded `tracks`, which readers bound by MAX_TRACKS_BYTES. */
export function encodedTracksLength(tracks: LegacyTracks | LineageTracks): number {
  return encodeCanonical(tracksValue(tracks)).length;
}

/** Encodes a Manifest canonically. */
export function encodeManifest(manifest: Manifest): Uint8Array {
  return encodeCanonical(
    new Map<string, CborValue>([
      ["ts", manifest.ts],
      ["tracks", tracksValue(manifest.tracks)],
      ["writer", manifest.writer],
      ["parents", manifest.parents.map(addressBytes)],
      ["registry", manifest.registry],
      ["timelines", manifest.timelines.map(addressBytes)],
      ...manifest.extra,
    ]),
  );
}
