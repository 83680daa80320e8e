/**
 * Track: the index of one field, either inline (an array of entries) or the root of a tree of
 * pages (FORMAT 5, PAGED 3 and 7).
 *
 * Inline entries are kept as the bytes they are: a Track of a hundred thousand entries is one
 * view, not a hundred thousand objects. `index-entry.ts` reads single entries.
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import { addressBytes } from "../encoding/address.ts";
import { CborCursor } from "../encoding/cbor-cursor.ts";
import { CborWriter } from "../encoding/cbor-writer.ts";
import type { Coverage } from "./coverage.ts";
import { malformedObject } from "./malformed.ts";
import type { Subject } from "./malformed.ts";
import { expectEnd, readAddress } from "./page-entry.ts";

/** An index whose entries stand in the Track itself. */
export interface InlineIndex {
  readonly form: "inline";
  readonly count: number;
  /** The encoded entries, one after another, without the array head. */
  readonly entries: Uint8Array;
}

/** An index in a tree of Index Pages (PAGED 3). */
export interface PagedIndex {
  readonly form: "paged";
  readonly root: Address;
  readonly fanout: number;
  readonly pageCount: number;
  readonly totalItems: number;
  readonly treeHeight: number;
}

/** An index in a scalar B-tree (PAGED 7). */
export interface BtreeIndex {
  readonly form: "scalar-btree-v1";
  readonly root: Address;
  readonly pageCount: number;
  readonly treeHeight: number;
  readonly totalEntries: number;
}

/** A field with a HotShard that was not flushed (FORMAT 5.2). */
export interface HotOverlayIndex {
  readonly form: "hot-overlay-v1";
  readonly hotShard: Address;
  readonly baseTrack: Address;
}

/** Every form of an index. */
export type TrackIndex = InlineIndex | PagedIndex | BtreeIndex | HotOverlayIndex;

/** A decoded Track. */
export interface Track {
  readonly coverage: Coverage;
  readonly modality: string;
  readonly timeline: Address;
  /** `object_index`, or `items` of a geometry Track. */
  readonly index: TrackIndex;
  /** Geometry Tracks name their index `items`. */
  readonly indexName: "object_index" | "items";
  /** The encoded `init_segment` of a CMAF video Track, carried as it is. */
  readonly initSegment: Uint8Array | undefined;
  /** The second index of a VideoItem Track, by item key. */
  readonly itemKeyIndex: TrackIndex | undefined;
}

const FORMS = ["paged", "scalar-btree-v1", "hot-overlay-v1"];

function readDescriptor(subject: Subject, cursor: CborCursor): TrackIndex {
  const numbers = new Map<string, number>();
  const addresses = new Map<string, Address>();
  let form = "";
  for (let left = cursor.readMapLength(); left > 0; left--) {
    const key = cursor.readText();
    if (key === "form") form = cursor.readText();
    else if (cursor.peekMajor() === 0) numbers.set(key, cursor.readSafeUint());
    else addresses.set(key, readAddress(subject, cursor, key));
  }
  if (!FORMS.includes(form)) {
    throw malformedObject(subject, `index form ${JSON.stringify(form)}`, FORMS.join(", "));
  }
  const take = <Value>(values: Map<string, Value>, key: string): Value => {
    const value = values.get(key);
    values.delete(key);
    if (value === undefined) throw malformedObject(subject, `no ${key} in the index`, key);
    return value;
  };
  const count = (key: string) => take(numbers, key);
  const address = (key: string) => take(addresses, key);
  const index: TrackIndex = form === "paged"
    ? {
      form,
      root: address("root"),
      fanout: count("fanout"),
      pageCount: count("page_count"),
      totalItems: count("total_items"),
      treeHeight: count("tree_height"),
    }
    : form === "scalar-btree-v1"
    ? {
      form,
      root: address("root"),
      pageCount: count("page_count"),
      treeHeight: count("tree_height"),
      totalEntries: count("total_entries"),
    }
    : { form: "hot-overlay-v1", hotShard: address("hot_shard"), baseTrack: address("base_track") };
  const unknown = [...numbers.keys(), ...addresses.keys()];
  if (unknown.length > 0) {
    throw malformedObject(subject, `unknown keys ${unknown.join(", ")} in the index`, form);
  }
  return index;
}

function readIndex(subject: Subject, cursor: CborCursor, deferred: boolean): TrackIndex {
  if (cursor.peekMajor() === 5) return readDescriptor(subject, cursor);
  const count = cursor.readArrayLength();
  const start = cursor.offset;
  if (deferred) cursor.offset = cursor.bytes.length;
  else for (let left = count; left > 0; left--) cursor.skip();
  return { form: "inline", count, entries: cursor.bytes.subarray(start, cursor.offset) };
}

/** How to decode a Track. */
export interface DecodeTrackOptions {
  /**
   * Leaves inline entries that end the object unread: whoever reads them checks that they are
   * `count` canonical items and nothing more. Versions of one Track are compared this way without
   * walking what they have in common.
   */
  readonly deferEntries?: boolean;
}

/**
 * Decodes a Track.
 *
 * @param bytes canonical CBOR; inline entries stay views of it
 * @param path where it was read from, for messages
 * @throws DreamDBError malformed-cbor, malformed-object
 */
export function decodeTrack(
  bytes: Uint8Array,
  path?: string,
  options: DecodeTrackOptions = {},
): Track {
  const subject: Subject = { kind: "track", path };
  const cursor = new CborCursor(bytes);
  let coverage: Coverage | undefined;
  let modality: string | undefined;
  let timeline: Address | undefined;
  let index: TrackIndex | undefined;
  let indexName: Track["indexName"] = "object_index";
  let initSegment: Uint8Array | undefined;
  let itemKeyIndex: TrackIndex | undefined;
  let before = "";
  for (let left = cursor.readMapLength(); left > 0; left--) {
    const key = cursor.readText();
    if (key.length < before.length || (key.length === before.length && key <= before)) {
      throw malformedObject(subject, `key ${key} after ${before}`, "keys in canonical order");
    }
    before = key;
    switch (key) {
      case "coverage": {
        const length = cursor.readArrayLength();
        if (length !== 2) throw malformedObject(subject, `coverage of ${length}`, "two elements");
        coverage = { start: cursor.readUint(), end: cursor.readUint() };
        break;
      }
      case "modality":
        modality = cursor.readText();
        break;
      case "timeline":
        timeline = readAddress(subject, cursor, "timeline");
        break;
      case "object_index":
      case "items":
        if (index !== undefined) {
          throw malformedObject(subject, "both items and object_index", "one of them");
        }
        index = readIndex(subject, cursor, options.deferEntries === true && left === 1);
        indexName = key;
        break;
      case "init_segment": {
        const start = cursor.offset;
        cursor.skip();
        initSegment = bytes.subarray(start, cursor.offset);
        break;
      }
      case "item_key_index":
        itemKeyIndex = readIndex(subject, cursor, false);
        break;
      default:
        throw malformedObject(subject, `the unknown key ${JSON.stringify(key)}`, "a Track's keys");
    }
  }
  expectEnd(subject, cursor);
  if (
    coverage === undefined || modality === undefined || timeline === undefined ||
    index === undefined
  ) {
    throw malformedObject(
      subject,
      "a key is missing",
      "coverage, modality, timeline and object_index",
    );
  }
  if (coverage.start >= coverage.end) {
    throw malformedObject(
      subject,
      `coverage [${coverage.start}, ${coverage.end}]`,
      "start below end",
    );
  }
  return { coverage, modality, timeline, index, indexName, initSegment, itemKeyIndex };
}

function writeIndex(writer: CborWriter, index: TrackIndex): void {
  switch (index.form) {
    case "inline":
      writer.arrayHead(index.count);
      writer.raw(index.entries);
      return;
    case "paged":
      writeDescriptor(writer, index.form, [
        ["root", index.root],
        ["fanout", index.fanout],
        ["page_count", index.pageCount],
        ["total_items", index.totalItems],
        ["tree_height", index.treeHeight],
      ]);
      return;
    case "scalar-btree-v1":
      writeDescriptor(writer, index.form, [
        ["root", index.root],
        ["page_count", index.pageCount],
        ["tree_height", index.treeHeight],
        ["total_entries", index.totalEntries],
      ]);
      return;
    case "hot-overlay-v1":
      writeDescriptor(writer, index.form, [
        ["hot_shard", index.hotShard],
        ["base_track", index.baseTrack],
      ]);
      return;
  }
}

/** Writes an index that is a map: its form and `fields`, which stand in canonical order. */
function writeDescriptor(
  writer: CborWriter,
  form: string,
  fields: readonly (readonly [string, Address | number])[],
): void {
  writer.mapHead(1 + fields.length);
  writer.text("form");
  writer.text(form);
  for (const [key, value] of fields) {
    writer.text(key);
    if (typeof value === "number") writer.uint(value);
    else writer.bytes(addressBytes(value));
  }
}

/** Encodes a Track canonically. */
export function encodeTrack(track: Track): Uint8Array {
  const writer = new CborWriter();
  writer.mapHead(
    4 + (track.initSegment === undefined ? 0 : 1) + (track.itemKeyIndex === undefined ? 0 : 1),
  );
  if (track.indexName === "items") {
    writer.text("items");
    writeIndex(writer, track.index);
  }
  writer.text("coverage");
  writer.arrayHead(2);
  writer.uint(track.coverage.start);
  writer.uint(track.coverage.end);
  writer.text("modality");
  writer.text(track.modality);
  writer.text("timeline");
  writer.bytes(addressBytes(track.timeline));
  if (track.initSegment !== undefined) {
    writer.text("init_segment");
    writer.raw(track.initSegment);
  }
  if (track.indexName === "object_index") {
    writer.text("object_index");
    writeIndex(writer, track.index);
  }
  if (track.itemKeyIndex !== undefined) {
    writer.text("item_key_index");
    writeIndex(writer, track.itemKeyIndex);
  }
  return writer.finish();
}
