/**
 * Tombstone pages: the tree of deleted anchors below a tombstone index. A page of level 0 holds
 * tombstones, one of a higher level holds references to pages one level lower.
 *
 * @module
 */

import { addressBytes } from "../encoding/address.ts";
import type { Address } from "../encoding/address.ts";
import { encodeCanonical } from "../encoding/cbor-encode.ts";
import type { CborMap, CborValue } from "../encoding/cbor-value.ts";
import {
  asAddress,
  asArray,
  asCount,
  asMap,
  asText,
  asUint,
  checkKeys,
  malformedObject,
} from "./malformed.ts";
import type { Subject } from "./malformed.ts";
import { decodeMap, requireValue } from "./object-map.ts";

const PAGE_KIND = "dreamdb.tombstone-page.v1";
const MAX_REASON_BYTES = 256;
const MAX_LEVEL = 64;

/** One deletion (FORMAT 8). */
export interface Tombstone {
  /** Nanoseconds on the timeline. */
  readonly anchor: bigint;
  /** Milliseconds since 1970. */
  readonly deletedAt: bigint;
  /** At most 256 bytes of UTF-8. */
  readonly reason: string | undefined;
}

/** Where a page is and what it must hold. */
export interface TombstonePageReference {
  readonly page: Address;
  readonly level: number;
  /** Tombstones in and below the page. */
  readonly count: number;
  /** The lowest and the highest anchor in and below the page, both inclusive. */
  readonly min: bigint;
  readonly max: bigint;
}

/** A page of the tree. */
export type TombstonePage =
  | { readonly level: 0; readonly tombstones: readonly Tombstone[] }
  | { readonly level: number; readonly children: readonly TombstonePageReference[] };

/**
 * Decodes a tombstone page: anchors strictly ascending, child ranges disjoint and ascending.
 * @throws DreamDBError malformed-cbor, malformed-object
 */
export function decodeTombstonePage(bytes: Uint8Array, path?: string): TombstonePage {
  const subject = { kind: "tombstone page", path };
  const map = decodeMap(subject, bytes);
  requireValue(subject, "'kind'", map.get("kind"), PAGE_KIND);
  const level = asLevel(subject, map);
  if (level === 0) {
    checkKeys(subject, "the object", map, ["kind", "level", "entries"]);
    const tombstones = asArray(subject, "'entries'", map.get("entries")).map((value, index) =>
      decodeTombstone(subject, asMap(subject, `tombstone ${index}`, value))
    );
    requireAscending(subject, tombstones.map(({ anchor }) => ({ min: anchor, max: anchor })));
    return { level, tombstones };
  }
  checkKeys(subject, "the object", map, ["kind", "level", "children"]);
  const children = asArray(subject, "'children'", map.get("children")).map((value, index) =>
    decodePageReference(subject, `child ${index}`, value)
  );
  requireAscending(subject, children);
  for (const child of children) {
    if (child.level !== level - 1) {
      throw malformedObject(subject, `a child of level ${child.level}`, `level ${level - 1}`);
    }
  }
  return { level, children };
}

/** Encodes a tombstone page; the inverse of `decodeTombstonePage`. */
export function encodeTombstonePage(page: TombstonePage): Uint8Array {
  return encodeCanonical(
    new Map<string, CborValue>([
      ["kind", PAGE_KIND],
      ["level", BigInt(page.level)],
      "tombstones" in page
        ? ["entries", page.tombstones.map(encodeTombstone)]
        : ["children", page.children.map(encodePageReference)],
    ]),
  );
}

/**
 * Checks that a page is what the reference to it says: level, count, lowest and highest anchor.
 * @throws DreamDBError malformed-object
 */
export function checkTombstonePage(
  reference: TombstonePageReference,
  page: TombstonePage,
  path?: string,
): void {
  const found = describePage(page);
  for (const key of ["level", "count", "min", "max"] as const) {
    if (found[key] !== reference[key]) {
      throw malformedObject(
        { kind: "tombstone page", path },
        `its ${key} is ${found[key]}`,
        `${reference[key]}, as the page or index above says`,
      );
    }
  }
}

/** Takes one tombstone apart. @throws DreamDBError malformed-object */
export function decodeTombstone(subject: Subject, map: CborMap): Tombstone {
  checkKeys(subject, "a tombstone", map, ["anchor", "deleted_at"], ["reason"]);
  const anchor = asUint(subject, "'anchor'", map.get("anchor"));
  const deletedAt = asUint(subject, "'deleted_at'", map.get("deleted_at"));
  if (!map.has("reason")) return { anchor, deletedAt, reason: undefined };
  const reason = asText(subject, "'reason'", map.get("reason"));
  const length = new TextEncoder().encode(reason).length;
  if (length > MAX_REASON_BYTES) {
    throw malformedObject(
      subject,
      `a reason of ${length} bytes for anchor ${anchor}`,
      `at most ${MAX_REASON_BYTES}`,
    );
  }
  return { anchor, deletedAt, reason };
}

/** The CBOR form of one tombstone. */
export function encodeTombstone(tombstone: Tombstone): CborMap {
  const fields: [string, CborValue][] = [
    ["anchor", tombstone.anchor],
    ["deleted_at", tombstone.deletedAt],
  ];
  if (tombstone.reason !== undefined) fields.push(["reason", tombstone.reason]);
  return new Map(fields);
}

/** Takes a page reference apart. @throws DreamDBError malformed-object */
export function decodePageReference(
  subject: Subject,
  name: string,
  value: CborValue | undefined,
): TombstonePageReference {
  const map = asMap(subject, name, value);
  checkKeys(subject, name, map, ["max", "min", "hash", "count", "level"]);
  const reference = {
    page: asAddress(subject, `'hash' of ${name}`, map.get("hash")),
    level: asLevel(subject, map),
    count: asCount(subject, `'count' of ${name}`, map.get("count")),
    min: asUint(subject, `'min' of ${name}`, map.get("min")),
    max: asUint(subject, `'max' of ${name}`, map.get("max")),
  };
  if (reference.count === 0 || reference.min > reference.max) {
    throw malformedObject(
      subject,
      `${name} has ${reference.count} tombstones from ${reference.min} to ${reference.max}`,
      "at least one tombstone and min <= max",
    );
  }
  return reference;
}

/** The CBOR form of a page reference. */
export function encodePageReference(reference: TombstonePageReference): CborMap {
  return new Map<string, CborValue>([
    ["max", reference.max],
    ["min", reference.min],
    ["hash", addressBytes(reference.page)],
    ["count", BigInt(reference.count)],
    ["level", BigInt(reference.level)],
  ]);
}

function asLevel(subject: Subject, map: CborMap): number {
  const level = asCount(subject, "'level'", map.get("level"));
  if (level <= MAX_LEVEL) return level;
  throw malformedObject(subject, `'level' is ${level}`, `at most ${MAX_LEVEL}`);
}

function requireAscending(
  subject: Subject,
  ranges: readonly { readonly min: bigint; readonly max: bigint }[],
): void {
  if (ranges.length === 0) throw malformedObject(subject, "an empty page", "at least one entry");
  ranges.forEach((range, index) => {
    const before = ranges[index - 1];
    if (before !== undefined && before.max >= range.min) {
      throw malformedObject(
        subject,
        `entry ${index} begins at anchor ${range.min} after ${before.max}`,
        "anchors strictly ascending",
      );
    }
  });
}

function describePage(page: TombstonePage): Omit<TombstonePageReference, "page"> {
  const level = page.level;
  if ("tombstones" in page) {
    const min = page.tombstones[0]?.anchor ?? 0n;
    const max = page.tombstones.at(-1)?.anchor ?? 0n;
    return { level, count: page.tombstones.length, min, max };
  }
  const count = page.children.reduce((total, child) => total + child.count, 0);
  return { level, count, min: page.children[0]?.min ?? 0n, max: page.children.at(-1)?.max ?? 0n };
}
