/**
 * Key pages: the tree behind a VideoItem Track's `item_key_index` once it is paged (PAGED 7b).
 *
 * @module
 */

import { addressBytes } from "../encoding/address.ts";
import type { Address } from "../encoding/address.ts";
import { compareBytes } from "../encoding/bytes.ts";
import { CborCursor } from "../encoding/cbor-cursor.ts";
import { CborWriter } from "../encoding/cbor-writer.ts";
import { MAX_U64 } from "./coverage.ts";
import { malformedObject } from "./malformed.ts";
import type { Subject } from "./malformed.ts";
import { expectEnd, expectKey, readAddress } from "./page-entry.ts";
import type { PageChild } from "./page-entry.ts";

/** One item by its key. */
export interface VideoKeyEntry {
  readonly key: Uint8Array;
  /** Absolute, in nanoseconds. */
  readonly start: bigint;
  /** Nanoseconds. */
  readonly duration: bigint;
  readonly item: Address;
}

/** What an internal key page says about a page below it: its first and last key. */
export interface VideoKeyChild extends PageChild {
  readonly low: Uint8Array;
  readonly high: Uint8Array;
  readonly entryCount: number;
}

/** A key page. */
export type VideoKeyPage =
  | { readonly type: "leaf"; readonly entries: readonly VideoKeyEntry[] }
  | { readonly type: "internal"; readonly children: readonly VideoKeyChild[] };

/**
 * Decodes a key page: keys strictly ascending, child ranges disjoint.
 * @throws DreamDBError malformed-cbor, malformed-object
 */
export function decodeVideoKeyPage(bytes: Uint8Array, path?: string): VideoKeyPage {
  const subject = { kind: "VideoItem key page", path };
  const cursor = new CborCursor(bytes);
  const fields = cursor.readMapLength();
  if (fields !== 3) throw malformedObject(subject, `${fields} fields`, "3 fields");
  expectKey(subject, cursor, "v");
  const version = cursor.readUint();
  if (version !== 1n) throw malformedObject(subject, `version ${version}`, "1");
  expectKey(subject, cursor, "type");
  const type = cursor.readText();
  if (type !== "leaf" && type !== "internal") {
    throw malformedObject(subject, `the type ${JSON.stringify(type)}`, '"leaf" or "internal"');
  }
  expectKey(subject, cursor, type === "leaf" ? "entries" : "children");
  const count = cursor.readArrayLength();
  if (count === 0) throw malformedObject(subject, "no entries", "at least one");
  const page: VideoKeyPage = type === "leaf"
    ? { type, entries: readEntries(subject, cursor, count) }
    : { type, children: readChildren(subject, cursor, count) };
  expectEnd(subject, cursor);
  return page;
}

/** Encodes a key page; the inverse of `decodeVideoKeyPage`. */
export function encodeVideoKeyPage(page: VideoKeyPage): Uint8Array {
  const writer = new CborWriter(16_400);
  writer.mapHead(3);
  writer.text("v");
  writer.uint(1);
  writer.text("type");
  writer.text(page.type);
  if (page.type === "leaf") {
    writer.text("entries");
    writer.arrayHead(page.entries.length);
    for (const { key, start, duration, item } of page.entries) {
      writer.arrayHead(4);
      writer.bytes(key);
      writer.uint(start);
      writer.uint(duration);
      writer.bytes(addressBytes(item));
    }
  } else {
    writer.text("children");
    writer.arrayHead(page.children.length);
    for (const { low, high, page: below, entryCount } of page.children) {
      writer.arrayHead(4);
      writer.bytes(low);
      writer.bytes(high);
      writer.bytes(addressBytes(below));
      writer.uint(entryCount);
    }
  }
  return writer.finish();
}

function readEntries(subject: Subject, cursor: CborCursor, count: number): VideoKeyEntry[] {
  const entries: VideoKeyEntry[] = [];
  for (let index = 0; index < count; index++) {
    const length = cursor.readArrayLength();
    if (length !== 4) throw malformedObject(subject, `entry ${index} has ${length} elements`, "4");
    const key = cursor.readBytes();
    requireAbove(subject, entries.at(-1)?.key, key);
    const start = cursor.readUint();
    const duration = cursor.readUint();
    if (duration === 0n || start + duration > MAX_U64) {
      throw malformedObject(subject, `an item from ${start} for ${duration}`, "a time range");
    }
    entries.push({ key, start, duration, item: readAddress(subject, cursor) });
  }
  return entries;
}

function readChildren(subject: Subject, cursor: CborCursor, count: number): VideoKeyChild[] {
  const children: VideoKeyChild[] = [];
  for (let index = 0; index < count; index++) {
    const length = cursor.readArrayLength();
    if (length !== 4) throw malformedObject(subject, `child ${index} has ${length} elements`, "4");
    const low = cursor.readBytes();
    const high = cursor.readBytes();
    requireAbove(subject, children.at(-1)?.high, low);
    if (compareBytes(low, high) > 0) {
      throw malformedObject(subject, `child ${index} ends before it begins`, "first <= last key");
    }
    const page = readAddress(subject, cursor);
    const entryCount = cursor.readSafeUint();
    children.push({ page, low, high, start: undefined, end: undefined, entryCount });
  }
  return children;
}

function requireAbove(subject: Subject, before: Uint8Array | undefined, key: Uint8Array): void {
  if (before === undefined || compareBytes(before, key) < 0) return;
  throw malformedObject(subject, "keys out of order", "keys strictly ascending");
}
