/**
 * Pages of scalar B-trees: the index of integer, float, text and timestamp fields (PAGED 7).
 *
 * @module
 */

import { addressBytes } from "../encoding/address.ts";
import type { Address } from "../encoding/address.ts";
import { compareBytes } from "../encoding/bytes.ts";
import { CborCursor } from "../encoding/cbor-cursor.ts";
import { CborWriter } from "../encoding/cbor-writer.ts";
import { readChildRecords } from "./child-records.ts";
import type { ChildRecords } from "./child-records.ts";
import { malformedObject } from "./malformed.ts";
import type { Subject } from "./malformed.ts";
import { expectEnd, expectKey, readAddress, skipAddress } from "./page-entry.ts";
import type { PageChild, PageEntry } from "./page-entry.ts";
import { orderedAlgorithm, sortKey } from "./scalar-key.ts";
import type { OrderedAlgorithm } from "./scalar-key.ts";

const EMPTY = new Uint8Array(0);

/** How large a page may be. */
export interface BtreeLimits {
  readonly pageBytes: number;
  /** Most entries of a leaf. */
  readonly leafFanout: number;
  /** Most children of an internal page. */
  readonly internalFanout: number;
}

/** The reference's limits (PAGED 7). */
export const BTREE_LIMITS: BtreeLimits = {
  pageBytes: 65_536,
  leafFanout: 4_096,
  internalFanout: 256,
};

/** A leaf entry; `group` is the value's key. */
export interface BtreeEntry extends PageEntry {
  /** What entries are ordered by first; see `sortKey`. */
  readonly sort: Uint8Array;
}

/** What an internal page says about a page below it: the sort keys of its first and last entry. */
export interface BtreeChild extends PageChild {
  readonly low: Uint8Array;
  readonly high: Uint8Array;
}

/** A page; leaves are level 0. */
export type BtreePage =
  | { readonly type: "leaf"; readonly entries: readonly BtreeEntry[] }
  | {
    readonly type: "internal";
    readonly level: number;
    readonly children: readonly BtreeChild[];
    /** Where each of the children stands. */
    readonly records: ChildRecords<BtreeChild>;
  };

/** What the page must belong to. */
export interface BtreePageContext {
  readonly algorithm: OrderedAlgorithm;
  readonly limits?: BtreeLimits | undefined;
  readonly path?: string | undefined;
  /** Pages of another version of the tree, in order; see `readChildRecords`. */
  readonly like?: readonly ChildRecords<BtreeChild>[] | undefined;
}

/** The algorithm a page names. @throws DreamDBError malformed-cbor, malformed-object */
export function btreePageAlgorithm(bytes: Uint8Array, path?: string): OrderedAlgorithm {
  const subject = { kind: "B-tree page", path };
  const cursor = new CborCursor(bytes);
  for (let left = cursor.readMapLength(); left > 0; left--) {
    if (cursor.readText() !== "algorithm") {
      cursor.skip();
      continue;
    }
    const name = cursor.readText();
    const algorithm = orderedAlgorithm(name);
    if (algorithm !== undefined) return algorithm;
    throw malformedObject(subject, `the algorithm ${JSON.stringify(name)}`, "dreamdb.btree-…");
  }
  throw malformedObject(subject, "no field 'algorithm'", "a field 'algorithm'");
}

/**
 * Decodes a B-tree page and checks what one page can show: keys, algorithm, size, number and order
 * of entries or children (PAGED 7).
 * @throws DreamDBError malformed-cbor, malformed-object
 */
export function decodeBtreePage(bytes: Uint8Array, context: BtreePageContext): BtreePage {
  const subject = { kind: "B-tree page", path: context.path };
  const limits = context.limits ?? BTREE_LIMITS;
  if (bytes.length > limits.pageBytes) {
    throw malformedObject(subject, `${bytes.length} bytes`, `at most ${limits.pageBytes}`);
  }
  const cursor = new CborCursor(bytes);
  const fields = cursor.readMapLength();
  if (fields !== 4) throw malformedObject(subject, `${fields} fields`, "4 fields");
  expectKey(subject, cursor, "type");
  const type = cursor.readText();
  if (type !== "leaf" && type !== "internal") {
    throw malformedObject(subject, `the type ${JSON.stringify(type)}`, '"leaf" or "internal"');
  }
  expectKey(subject, cursor, "level");
  const level = cursor.readSafeUint();
  if ((level === 0) !== (type === "leaf")) {
    throw malformedObject(subject, `level ${level} of type "${type}"`, "level 0 for leaves only");
  }
  expectKey(subject, cursor, "entries");
  const count = cursor.readArrayLength();
  const most = type === "leaf" ? limits.leafFanout : limits.internalFanout;
  if (count === 0 || count > most) {
    throw malformedObject(subject, `${count} entries in a page of type "${type}"`, `1 to ${most}`);
  }
  const page: BtreePage = type === "leaf"
    ? { type, entries: readEntries(subject, context.algorithm, cursor, count) }
    : { type, level, ...readChildren(subject, context, cursor, count) };
  expectKey(subject, cursor, "algorithm");
  const algorithm = cursor.readText();
  if (algorithm !== context.algorithm) {
    throw malformedObject(
      subject,
      `the algorithm ${JSON.stringify(algorithm)}`,
      `"${context.algorithm}", that of its field`,
    );
  }
  expectEnd(subject, cursor);
  return page;
}

/** Encodes a leaf; entries must be in order. */
export function encodeBtreeLeaf(
  algorithm: OrderedAlgorithm,
  entries: readonly PageEntry[],
): Uint8Array {
  const writer = new CborWriter(65_600);
  writeHead(writer, 0, entries.length);
  for (const entry of entries) writer.raw(entry.bytes);
  writer.text("algorithm");
  writer.text(algorithm);
  return writer.finish();
}

/** Encodes an internal page; children must be in order. */
export function encodeBtreeInternal(
  algorithm: OrderedAlgorithm,
  level: number,
  children: readonly PageChild[],
): Uint8Array {
  const writer = new CborWriter(16_400);
  writeHead(writer, level, children.length);
  for (const child of children) writeChild(writer, child);
  writer.text("algorithm");
  writer.text(algorithm);
  return writer.finish();
}

/** Encodes a decoded page; the inverse of `decodeBtreePage`. */
export function encodeBtreePage(page: BtreePage, algorithm: OrderedAlgorithm): Uint8Array {
  return page.type === "leaf"
    ? encodeBtreeLeaf(algorithm, page.entries)
    : encodeBtreeInternal(algorithm, page.level, page.children);
}

/** What the page above says about `page`; `address` is the page's own. */
export function btreeChildOf(page: BtreePage, address: Address): BtreeChild {
  const [low, high] = page.type === "leaf"
    ? [page.entries[0]?.sort, page.entries.at(-1)?.sort]
    : [page.children[0]?.low, page.children.at(-1)?.high];
  return btreeChild(address, low ?? EMPTY, high ?? EMPTY);
}

/** Bytes that one child takes in an internal page. */
export function btreeChildLength(child: PageChild): number {
  const writer = new CborWriter(96);
  writeChild(writer, child);
  return writer.length;
}

/** Makes a B-tree entry of an index entry. @throws DreamDBError malformed-cbor, malformed-object */
export function btreeEntry(
  algorithm: OrderedAlgorithm,
  entry: PageEntry,
  subject?: Subject,
): BtreeEntry {
  const { bytes, group, start, end } = entry;
  return { bytes, group, start, end, sort: sortKey(algorithm, group, subject) };
}

/**
 * The total order of leaf entries (PAGED 7): sort key, key, t_start, t_end, bucket, unpacked before
 * packed, offset, length. What follows the key is compared as bytes, which is the same order because
 * shortest integers sort bytewise and addresses have one length.
 */
export function compareBtreeEntries(a: BtreeEntry, b: BtreeEntry): number {
  return compareBytes(a.sort, b.sort) || compareBytes(a.group, b.group) ||
    compareBytes(afterKey(a), afterKey(b));
}

function afterKey(entry: PageEntry): Uint8Array {
  const keyLength = entry.group.length;
  const headLength = keyLength < 24 ? 1 : keyLength < 0x100 ? 2 : keyLength < 0x1_0000 ? 3 : 5;
  return entry.bytes.subarray(1 + headLength + keyLength);
}

function writeHead(writer: CborWriter, level: number, count: number): void {
  writer.mapHead(4);
  writer.text("type");
  writer.text(level === 0 ? "leaf" : "internal");
  writer.text("level");
  writer.uint(level);
  writer.text("entries");
  writer.arrayHead(count);
}

/** What a page above says about the B-tree page `page`; `low` and `high` are sort keys. */
export function btreeChild(page: Address, low: Uint8Array, high: Uint8Array): BtreeChild {
  return { page, low, high, start: undefined, end: undefined, entryCount: undefined };
}

function writeChild(writer: CborWriter, child: PageChild): void {
  writer.arrayHead(3);
  writer.bytes(child.low ?? EMPTY);
  writer.bytes(child.high ?? EMPTY);
  writer.bytes(addressBytes(child.page));
}

function readEntries(
  subject: Subject,
  algorithm: OrderedAlgorithm,
  cursor: CborCursor,
  count: number,
): readonly BtreeEntry[] {
  const entries: BtreeEntry[] = [];
  let before: BtreeEntry | undefined;
  for (let index = 0; index < count; index++) {
    const at = cursor.offset;
    const length = cursor.readArrayLength();
    if (length !== 4 && length !== 6) {
      throw malformedObject(subject, `entry ${index} has ${length} elements`, "4 or 6");
    }
    const group = cursor.readBytes();
    const start = cursor.readUint();
    const end = cursor.readUint();
    if (start >= end) {
      throw malformedObject(subject, `an entry from ${start} to ${end}`, "a start below the end");
    }
    skipAddress(subject, cursor);
    if (length === 6) {
      cursor.readUint();
      cursor.readUint();
    }
    const bytes = cursor.bytes.subarray(at, cursor.offset);
    const entry = btreeEntry(algorithm, { bytes, group, start, end }, subject);
    if (before !== undefined && compareBtreeEntries(before, entry) > 0) {
      throw malformedObject(subject, `entry ${index} is out of order`, "entries ascending");
    }
    entries.push(entry);
    before = entry;
  }
  return entries;
}

function readChildren(
  subject: Subject,
  { algorithm, like = [] }: BtreePageContext,
  cursor: CborCursor,
  count: number,
): { readonly children: readonly BtreeChild[]; readonly records: ChildRecords<BtreeChild> } {
  const check = (highest: Uint8Array | undefined, low: Uint8Array, index: number): void => {
    if (highest === undefined || compareBytes(highest, low) <= 0) return;
    throw malformedObject(subject, `child ${index} is out of order`, "children ascending");
  };
  const records = readChildRecords<BtreeChild>(cursor, count, like, {
    read(index) {
      const length = cursor.readArrayLength();
      if (length !== 3) {
        throw malformedObject(subject, `child ${index} has ${length} elements`, "3");
      }
      const low = cursor.readBytes();
      const high = cursor.readBytes();
      if (algorithm !== "dreamdb.btree-string" && (low.length !== 8 || high.length !== 8)) {
        throw malformedObject(subject, `a sort key of ${low.length} bytes`, "8 bytes");
      }
      check(low, high, index);
      return btreeChild(readAddress(subject, cursor), low, high);
    },
    check: (before, child, index) => check(before.high, child.low, index),
  });
  return { children: records.children, records };
}
