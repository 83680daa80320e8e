/**
 * The fields of a test store: what the schema and the registry say of each, and how records become
 * payload objects and index entries, as the reference writes them (FORMAT 1.3, 4.4, 5 to 7).
 *
 * @module
 */

import { addressBytes, addressOf } from "../../src/encoding/address.ts";
import type { Address } from "../../src/encoding/address.ts";
import { compareBytes, concatBytes } from "../../src/encoding/bytes.ts";
import { encodeCanonical } from "../../src/encoding/cbor-encode.ts";
import type { CborMap, CborValue } from "../../src/encoding/cbor-value.ts";
import { CborWriter } from "../../src/encoding/cbor-writer.ts";
import type { TrackClass } from "../../src/model/binding.ts";
import { encodeScalarEntry, encodeSpatialEntry } from "../../src/model/index-entry.ts";
import { encodeAnchorArray, encodeAnchorSet } from "../../src/model/scalar-bucket.ts";
import { encodeScalarIndex } from "../../src/model/scalar-index.ts";
import type { ScalarValue } from "../../src/model/scalar-key.ts";
import { encodeSpatialBucket } from "../../src/model/spatial-bucket.ts";
import { encodeVectorSidecar } from "../../src/model/vector-sidecar.ts";
import {
  arrayItemPath,
  bucketPath,
  cellPath,
  fragmentPath,
  scalarIndexPath,
  spatialIndexPath,
  vectorCompressorPath,
  vectorsPath,
} from "../../src/store/paths.ts";

/** Dimensions of every vector of a test store. */
export const DIMENSIONS = 4;

/** A vector and the cell it lies in; cells are numbers of 20 bits. */
export interface Embedded {
  readonly cell: number;
  readonly vector: readonly number[];
}

/** A record's value of one field. */
export type FieldValue = ScalarValue | Embedded | Uint8Array;

/** One record. */
export interface Row {
  /** Nanoseconds. */
  readonly anchor: bigint;
  readonly values: Readonly<Record<string, FieldValue>>;
}

/** A field of a test store. */
export type FieldSpec =
  | {
    readonly kind: "embedding";
    /** Another seed makes another SpatialIndex. */
    readonly seed?: number;
    readonly rerank?: boolean;
    /** Records hold codes instead of vectors; another seed makes another VectorCompressor. */
    readonly compressorSeed?: number;
    readonly bucketMaxBytes?: number;
    /** The field is a Layer over this one. */
    readonly layerOver?: string;
  }
  | { readonly kind: "image"; readonly mime: string; readonly packed?: boolean }
  | {
    readonly kind: "categorical" | "bool" | "int" | "float" | "string" | "timestamp";
    /** Anchor sets in the form of releases 0.0.1 and 0.0.2. */
    readonly arrays?: boolean;
    /** One object a value, as `add_scalar_layer` writes it. */
    readonly unpacked?: boolean;
  }
  | { readonly kind: "array" }
  | { readonly kind: "constant"; readonly value: string };

/** An object to write. */
export interface StoredObject {
  readonly path: string;
  readonly bytes: Uint8Array;
  /** Payload gets a Bao outboard. */
  readonly payload: boolean;
}

const SCALAR_TAGS = {
  categorical: "cat",
  bool: "bool",
  int: "i64",
  float: "f64",
  string: "str",
  timestamp: "ts",
} as const;

const ITEM_TYPE: CborMap = new Map<string, CborValue>([
  ["codec", "raw"],
  ["dtype", "f32"],
  ["frame", "none"],
  ["shape", [2n, 2n]],
  ["units", "none"],
  ["family", "dense-array"],
  ["layout", "c"],
  ["version", 1n],
  ["axis_order", "none"],
  ["endianness", "little"],
  ["codec_version", 1n],
  ["semantic_type", "none"],
]);

/** The cell's text. */
export function cellName(cell: number): string {
  return cell.toString(2).padStart(20, "0");
}

/** The modality tag of a field; `version` numbers embeddings of one tag from 1. */
export function modalityOf(name: string, field: FieldSpec, version: number): string {
  switch (field.kind) {
    case "embedding": {
      const cap = field.bucketMaxBytes === undefined
        ? ""
        : `.bucket_max_bytes=${field.bucketMaxBytes}`;
      const suffix = version === 1 ? "" : `.version=${version}`;
      return `embedding.f32.dim=${DIMENSIONS}.bucketed${cap}${suffix}`;
    }
    case "image":
      return `image.${field.mime}`;
    case "array":
      return `array.f32.kind=event.storage=unbucketed.shape=2x2.item=${
        addressOf(encodeCanonical(ITEM_TYPE))
      }`;
    case "constant":
      return `${name}.text`;
    default:
      return `scalar.${SCALAR_TAGS[field.kind]}.field=${name}`;
  }
}

/** The class of a field's Track. */
export function classOf(field: FieldSpec): TrackClass {
  if (field.kind === "constant") return "constant";
  return field.kind === "embedding" || field.kind === "image" ? "continuous" : "event";
}

function seedBytes(seed: number): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, index) => (seed * 31 + index * 7) & 0xff);
}

function spatialIndexObject(field: Extract<FieldSpec, { kind: "embedding" }>): Uint8Array {
  return encodeCanonical(
    new Map<string, CborValue>([
      ["dim", BigInt(DIMENSIONS)],
      ["bits", 20n],
      ["metric", "cosine"],
      [
        "params",
        new Map<string, CborValue>([["seed", seedBytes(field.seed ?? 1)], ["version", 1n]]),
      ],
      ["algorithm", "dreamdb.lsh-cosine"],
    ]),
  );
}

function compressorObject(seed: number): Uint8Array {
  return encodeCanonical(
    new Map<string, CborValue>([
      ["dim", BigInt(DIMENSIONS)],
      ["metric", "cosine"],
      [
        "params",
        new Map<string, CborValue>([
          ["version", 1n],
          ["bits_per_dim", 1n],
          ["rotation_seed", seedBytes(seed)],
          ["with_correction_factors", true],
        ]),
      ],
      ["algorithm", "dreamdb.rabitq-cosine"],
      ["code_bytes", 5n],
      ["supports_decode", true],
    ]),
  );
}

function scalarIndexObject(name: string, field: FieldSpec): Uint8Array {
  if (field.kind === "categorical" || field.kind === "bool") {
    return encodeScalarIndex({
      metric: "categorical",
      algorithm: "dreamdb.bitmap-categorical",
      fieldName: name,
      version: 1,
      cardinalityLimit: 65_536,
    });
  }
  const type = field.kind === "float" ? "float64" : field.kind === "string" ? "string" : "int64";
  return encodeScalarIndex({
    metric: "ordinal",
    algorithm: `dreamdb.btree-${type}`,
    fieldName: name,
    version: 1,
    leafFanout: 4096,
    internalFanout: 256,
  });
}

/** What a field adds to the registry under its modality, and the objects it needs. */
export function registryOf(
  name: string,
  field: FieldSpec,
): { readonly value: CborMap | undefined; readonly objects: readonly StoredObject[] } {
  switch (field.kind) {
    case "embedding": {
      const index = spatialIndexObject(field);
      const objects = [{
        path: spatialIndexPath(addressOf(index)),
        bytes: index,
        payload: false,
      }];
      const value = new Map<string, CborValue>([
        ["algorithm", "dreamdb.lsh-cosine"],
        ["spatial_index", [addressBytes(addressOf(index))]],
      ]);
      if (field.compressorSeed !== undefined) {
        const bytes = compressorObject(field.compressorSeed);
        objects.push({ path: vectorCompressorPath(addressOf(bytes)), bytes, payload: false });
        value.set("vector_compressor", addressBytes(addressOf(bytes)));
      }
      return { value, objects };
    }
    case "array":
      return { value: new Map([["item_type", ITEM_TYPE]]), objects: [] };
    case "image":
    case "constant":
      return { value: undefined, objects: [] };
    default: {
      const bytes = scalarIndexObject(name, field);
      return {
        value: new Map([["scalar_index_hash", addressBytes(addressOf(bytes))]]),
        objects: [{ path: scalarIndexPath(addressOf(bytes)), bytes, payload: false }],
      };
    }
  }
}

/** A field's entry in the schema. */
export function schemaOf(name: string, field: FieldSpec, modality: string): CborMap {
  const base: [string, CborValue][] = [["name", name], ["required", false]];
  switch (field.kind) {
    case "embedding": {
      const entry: [string, CborValue][] = [
        ["kind", "embedding"],
        ["dim", BigInt(DIMENSIONS)],
        ["algorithm", "dreamdb.lsh-cosine"],
      ];
      if (field.rerank === true) entry.push(["rerank", true]);
      if (field.bucketMaxBytes !== undefined) {
        entry.push(["bucket_max_bytes", BigInt(field.bucketMaxBytes)]);
      }
      if (field.compressorSeed !== undefined) {
        entry.push([
          "compressor",
          addressBytes(addressOf(compressorObject(field.compressorSeed))),
        ]);
      }
      return new Map([...base, ...entry]);
    }
    case "image":
      return new Map<string, CborValue>([...base, ["kind", "image"], ["mime", field.mime]]);
    case "array":
      return new Map<string, CborValue>([
        ...base,
        ["kind", "array"],
        ["item_type", ITEM_TYPE],
        ["track_kind", "event"],
        ["object_kind", "unbucketed"],
      ]);
    case "constant":
      return new Map<string, CborValue>([...base, ["kind", "constant"], ["modality", modality]]);
    default:
      return new Map<string, CborValue>([...base, ["kind", "scalar"], ["value_type", field.kind]]);
  }
}

/** Where a field's objects lie. */
export interface FieldPlace {
  readonly name: string;
  readonly timeline: Address;
  readonly modality: string;
}

/** Entries to be added to an index, with the objects they name. */
export interface Encoded {
  readonly entries: readonly Uint8Array[];
  readonly objects: readonly StoredObject[];
}

/** Encodes the values that `rows` have of one field, as one append does. */
export function encodeRows(field: FieldSpec, place: FieldPlace, rows: readonly Row[]): Encoded {
  const having = rows.flatMap(({ anchor, values }) => {
    const value = values[place.name];
    return value === undefined ? [] : [{ anchor, value }];
  });
  if (having.length === 0) return { entries: [], objects: [] };
  switch (field.kind) {
    case "embedding":
      return encodeEmbeddings(
        field,
        place,
        having.map(({ anchor, value }) => ({ anchor, ...value as Embedded })),
      );
    case "image":
      return encodeImages(
        field,
        place,
        having.map(({ anchor, value }) => ({ anchor, bytes: value as Uint8Array })),
      );
    case "array":
      return encodeArrays(
        place,
        having.map(({ anchor, value }) => ({ anchor, bytes: value as Uint8Array })),
      );
    case "constant":
      throw new Error("a Constant is set, not appended to");
    default:
      return encodeScalars(
        field,
        place,
        having.map(({ anchor, value }) => ({ anchor, value: value as ScalarValue })),
      );
  }
}

/** A record of a bucket. */
export interface BucketRecord extends Embedded {
  readonly anchor: bigint;
}

function floats(vector: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(vector.length * 4);
  const view = new DataView(bytes.buffer);
  vector.forEach((value, index) => view.setFloat32(index * 4, value, true));
  return bytes;
}

function recordOf(compressed: boolean, { anchor, vector }: BucketRecord): Uint8Array {
  const head = new Uint8Array(8);
  new DataView(head.buffer).setBigUint64(0, anchor);
  const code = () => {
    const bytes = new Uint8Array(5);
    bytes[0] = vector.reduce((bits, value, index) => value > 0 ? bits | (1 << index) : bits, 0);
    new DataView(bytes.buffer).setFloat32(1, Math.hypot(...vector), true);
    return bytes;
  };
  return concatBytes([head, compressed ? code() : floats(vector)]);
}

/** One bucket a cell, with records in the order they come. */
export function encodeEmbeddings(
  field: Extract<FieldSpec, { kind: "embedding" }>,
  place: FieldPlace,
  records: readonly BucketRecord[],
): Encoded {
  const cells = Map.groupBy(records, ({ cell }) => cell);
  const entries: Uint8Array[] = [];
  const objects: StoredObject[] = [];
  for (const [cell, inside] of [...cells].sort(([a], [b]) => a - b)) {
    const compressed = field.compressorSeed !== undefined;
    const parts = inside.map((record) => recordOf(compressed, record));
    const bytes = encodeSpatialBucket({
      spatialIndex: addressOf(spatialIndexObject(field)),
      modality: place.modality.slice(0, 32),
      compressor: field.compressorSeed === undefined
        ? undefined
        : addressOf(compressorObject(field.compressorSeed)),
      recordSize: parts[0]?.length ?? 0,
      count: parts.length,
      records: concatBytes(parts),
    });
    const address = addressOf(bytes);
    objects.push({
      path: cellPath(place.timeline, place.modality, cellName(cell), address),
      bytes,
      payload: true,
    });
    let rerank: Uint8Array | undefined;
    if (field.rerank === true) {
      const sidecar = encodeVectorSidecar({
        modality: place.modality.slice(0, 32),
        recordSize: DIMENSIONS * 4,
        count: inside.length,
        vectors: concatBytes(inside.map(({ vector }) => floats(vector))),
      });
      rerank = addressBytes(addressOf(sidecar));
      objects.push({
        path: vectorsPath(place.timeline, place.modality, addressOf(sidecar)),
        bytes: sidecar,
        payload: true,
      });
    }
    const anchors = inside.map(({ anchor }) => anchor);
    entries.push(encodeSpatialEntry(
      new TextEncoder().encode(cellName(cell)),
      smallest(anchors),
      largest(anchors) + 1n,
      bytes.length,
      addressBytes(address),
      rerank === undefined ? undefined : 0,
      rerank,
    ));
  }
  return { entries, objects };
}

function encodeImages(
  field: Extract<FieldSpec, { kind: "image" }>,
  place: FieldPlace,
  items: readonly { readonly anchor: bigint; readonly bytes: Uint8Array }[],
): Encoded {
  const at = (bytes: Uint8Array) => fragmentPath(place.timeline, place.modality, addressOf(bytes));
  if (field.packed !== true) {
    return {
      entries: items.map(({ anchor, bytes }) => {
        const writer = new CborWriter();
        writer.arrayHead(4);
        writer.uint(anchor);
        writer.uint(anchor + 1n);
        writer.uint(bytes.length);
        writer.bytes(addressBytes(addressOf(bytes)));
        return writer.finish();
      }),
      objects: items.map(({ bytes }) => ({ path: at(bytes), bytes, payload: true })),
    };
  }
  const pack = concatBytes(items.map(({ bytes }) => bytes));
  let offset = 0;
  const entries = items.map(({ anchor, bytes }) => {
    const writer = new CborWriter();
    writer.arrayHead(6);
    writer.uint(anchor);
    writer.uint(anchor + 1n);
    writer.uint(bytes.length);
    writer.bytes(addressBytes(addressOf(pack)));
    writer.boolean(false);
    writer.uint(offset);
    offset += bytes.length;
    return writer.finish();
  });
  return { entries, objects: [{ path: at(pack), bytes: pack, payload: true }] };
}

function encodeArrays(
  place: FieldPlace,
  items: readonly { readonly anchor: bigint; readonly bytes: Uint8Array }[],
): Encoded {
  return {
    entries: items.map(({ anchor, bytes }) => {
      const writer = new CborWriter();
      writer.arrayHead(2);
      writer.bytes(addressBytes(addressOf(bytes)));
      writer.uint(anchor);
      return writer.finish();
    }),
    objects: items.map(({ anchor, bytes }) => ({
      path: arrayItemPath(place.timeline, place.modality, anchor, addressOf(bytes)),
      bytes,
      payload: true,
    })),
  };
}

/** One anchor set a value, in one pack. */
export function encodeScalars(
  field: { readonly arrays?: boolean; readonly unpacked?: boolean },
  place: FieldPlace,
  items: readonly { readonly anchor: bigint; readonly value: ScalarValue }[],
): Encoded {
  const byKey = Map.groupBy(
    items.map(({ anchor, value }) => ({ anchor, key: encodeCanonical(value) })),
    ({ key }) => [...key].join(" "),
  );
  const sets = [...byKey.values()].flatMap((group) => {
    const key = group[0]?.key;
    if (key === undefined) return [];
    const anchors = BigUint64Array.from(new Set(group.map(({ anchor }) => anchor))).sort();
    const bytes = field.arrays === true ? encodeAnchorArray(anchors) : encodeAnchorSet(anchors);
    return [{ key, anchors, bytes }];
  }).sort((a, b) => compareBytes(a.key, b.key));
  const path = (bytes: Uint8Array) => bucketPath(place.timeline, place.modality, addressOf(bytes));
  if (field.unpacked === true || field.arrays === true) {
    return {
      entries: sets.map(({ key, anchors, bytes }) => {
        const writer = new CborWriter();
        writer.arrayHead(4);
        writer.bytes(key);
        writer.uint(anchors[0] ?? 0n);
        writer.uint((anchors.at(-1) ?? 0n) + 1n);
        writer.bytes(addressBytes(addressOf(bytes)));
        return writer.finish();
      }),
      objects: sets.map(({ bytes }) => ({ path: path(bytes), bytes, payload: true })),
    };
  }
  const pack = concatBytes(sets.map(({ bytes }) => bytes));
  let offset = 0;
  const entries = sets.map(({ key, anchors, bytes }) => {
    const at = offset;
    offset += bytes.length;
    return encodeScalarEntry(
      key,
      anchors[0] ?? 0n,
      (anchors.at(-1) ?? 0n) + 1n,
      addressBytes(addressOf(pack)),
      at,
      bytes.length,
    );
  });
  return { entries, objects: [{ path: path(pack), bytes: pack, payload: true }] };
}

function smallest(anchors: readonly bigint[]): bigint {
  return anchors.reduce((least, anchor) => anchor < least ? anchor : least);
}

function largest(anchors: readonly bigint[]): bigint {
  return anchors.reduce((most, anchor) => anchor > most ? anchor : most);
}
