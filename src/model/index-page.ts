/**
 * Index Pages: the tree that a Track's index becomes when it is too large to stand in the Track
 * (PAGED 4). Leaves store times relative to the page; here entries always have absolute times.
 *
 * @module
 */

import { addressBytes } from "../encoding/address.ts";
import type { Address } from "../encoding/address.ts";
import { compareBytes } from "../encoding/bytes.ts";
import { CborCursor } from "../encoding/cbor-cursor.ts";
import { CborWriter } from "../encoding/cbor-writer.ts";
import { checkCell, readLeafEntries, writeLeafEntry } from "./index-leaf.ts";
import type { PagedKind } from "./index-leaf.ts";
import { malformedObject } from "./malformed.ts";
import type { Subject } from "./malformed.ts";
import { readChildRecords } from "./child-records.ts";
import type { ChildRecords } from "./child-records.ts";
import { expectEnd, expectKey, readAddress } from "./page-entry.ts";
import type { PageChild, PageEntry } from "./page-entry.ts";

/** The hard cap of one Index Page in bytes (PAGED 6); writers stop at `PAGE_TARGET`. */
export const PAGE_LIMIT = 1_048_576;

/** What an internal page says about a page below it (PAGED 4.2). */
export interface IndexChild extends PageChild {
  readonly start: bigint;
  readonly end: bigint;
  readonly entryCount: number;
}

/** A page: a leaf with entries or an internal page with children. */
export type IndexPage =
  | {
    readonly type: "leaf";
    readonly start: bigint;
    readonly end: bigint;
    readonly entries: readonly PageEntry[];
  }
  | {
    readonly type: "internal";
    readonly start: bigint;
    readonly end: bigint;
    readonly children: readonly IndexChild[];
    /** Where each of the children stands. */
    readonly records: ChildRecords<IndexChild>;
  };

/** What the page must belong to. */
export interface IndexPageContext {
  readonly kind: PagedKind;
  /** The Track's modality, which every page repeats. */
  readonly modality: string;
  readonly path?: string | undefined;
  /** Pages of another version of the tree, in order; see `readChildRecords`. */
  readonly like?: readonly ChildRecords<IndexChild>[] | undefined;
}

/**
 * Decodes an Index Page and checks what one page can show: keys, modality, bounds, order of entries
 * or children (PAGED 4 and 6).
 * @throws DreamDBError malformed-cbor, malformed-object
 */
export function decodeIndexPage(bytes: Uint8Array, context: IndexPageContext): IndexPage {
  const subject = { kind: "Index Page", path: context.path };
  if (bytes.length > PAGE_LIMIT) {
    throw malformedObject(subject, `${bytes.length} bytes`, `at most ${PAGE_LIMIT}`);
  }
  const cursor = new CborCursor(bytes);
  const fields = cursor.readMapLength();
  if (fields !== 5) throw malformedObject(subject, `${fields} fields`, "5 fields");
  expectKey(subject, cursor, "type");
  const type = cursor.readText();
  if (type !== "leaf" && type !== "internal") {
    throw malformedObject(subject, `the type ${JSON.stringify(type)}`, '"leaf" or "internal"');
  }
  expectKey(subject, cursor, "t_max");
  const end = cursor.readUint();
  expectKey(subject, cursor, "t_min");
  const start = cursor.readUint();
  expectKey(subject, cursor, "entries");
  const count = cursor.readArrayLength();
  if (count === 0) throw malformedObject(subject, "no entries", "at least one");
  const page: IndexPage = type === "leaf"
    ? { type, start, end, entries: readLeafEntries(subject, context.kind, cursor, count, start) }
    : { type, start, end, ...readChildren(subject, context, cursor, count) };
  expectKey(subject, cursor, "modality");
  const modality = cursor.readText();
  if (modality !== context.modality) {
    throw malformedObject(
      subject,
      `the modality ${JSON.stringify(modality)}`,
      `${JSON.stringify(context.modality)}, that of its Track`,
    );
  }
  expectEnd(subject, cursor);
  checkBounds(subject, page);
  return page;
}

/** Encodes a leaf of entries with absolute times, which must be in the kind's order. */
export function encodeIndexLeaf(
  kind: PagedKind,
  modality: string,
  entries: readonly PageEntry[],
): Uint8Array {
  const { start, end } = bounds(entries);
  const writer = new CborWriter(16_400);
  writeHead(writer, "leaf", start, end, entries.length);
  for (const entry of entries) writeLeafEntry(writer, kind, entry, start);
  writer.text("modality");
  writer.text(modality);
  return writer.finish();
}

/** Encodes an internal page. */
export function encodeIndexInternal(
  modality: string,
  children: readonly PageChild[],
): Uint8Array {
  const { start, end } = bounds(children);
  const writer = new CborWriter(16_400);
  writeHead(writer, "internal", start, end, children.length);
  for (const child of children) writeChild(writer, child);
  writer.text("modality");
  writer.text(modality);
  return writer.finish();
}

/** Encodes a decoded page; the inverse of `decodeIndexPage`. */
export function encodeIndexPage(page: IndexPage, context: IndexPageContext): Uint8Array {
  return page.type === "leaf"
    ? encodeIndexLeaf(context.kind, context.modality, page.entries)
    : encodeIndexInternal(context.modality, page.children);
}

/** What the page above says about `page`; `address` is the page's own. */
export function indexChildOf(kind: PagedKind, page: IndexPage, address: Address): IndexChild {
  const { start, end } = page;
  if (page.type === "leaf") {
    const low = kind === "spatial-bucket" ? page.entries[0]?.group : undefined;
    const high = kind === "spatial-bucket" ? page.entries.at(-1)?.group : undefined;
    return { page: address, low, high, start, end, entryCount: page.entries.length };
  }
  return {
    page: address,
    low: page.children[0]?.low,
    high: page.children.at(-1)?.high,
    start,
    end,
    entryCount: page.children.reduce((total, child) => total + child.entryCount, 0),
  };
}

/** Bytes that one child takes in an internal page. */
export function indexChildLength(child: PageChild): number {
  const writer = new CborWriter(96);
  writeChild(writer, child);
  return writer.length;
}

/** The lowest start and the highest end of entries or children, in nanoseconds. */
function bounds(
  items: readonly { readonly start: bigint | undefined; readonly end: bigint | undefined }[],
): { readonly start: bigint; readonly end: bigint } {
  let start = items[0]?.start ?? 0n;
  let end = items[0]?.end ?? 0n;
  for (const item of items) {
    if (item.start !== undefined && item.start < start) start = item.start;
    if (item.end !== undefined && item.end > end) end = item.end;
  }
  return { start, end };
}

/** Writes what stands before the entries of a leaf. */
export function writeLeafHead(
  writer: CborWriter,
  start: bigint,
  end: bigint,
  count: number,
): void {
  writeHead(writer, "leaf", start, end, count);
}

function writeHead(
  writer: CborWriter,
  type: IndexPage["type"],
  start: bigint,
  end: bigint,
  count: number,
): void {
  writer.mapHead(5);
  writer.text("type");
  writer.text(type);
  writer.text("t_max");
  writer.uint(end);
  writer.text("t_min");
  writer.uint(start);
  writer.text("entries");
  writer.arrayHead(count);
}

function writeChild(writer: CborWriter, child: PageChild): void {
  const cells = child.low !== undefined && child.high !== undefined;
  writer.arrayHead(cells ? 6 : 4);
  writer.uint(child.start ?? 0n);
  writer.uint(child.end ?? 0n);
  writer.bytes(addressBytes(child.page));
  writer.uint(child.entryCount ?? 0);
  for (const cell of [child.low, child.high]) {
    if (cell !== undefined) writer.text(new TextDecoder().decode(cell));
  }
}

function readChildren(
  subject: Subject,
  { kind, like = [] }: IndexPageContext,
  cursor: CborCursor,
  count: number,
): { readonly children: readonly IndexChild[]; readonly records: ChildRecords<IndexChild> } {
  const records = readChildRecords<IndexChild>(cursor, count, like, {
    read: (index) => readChild(subject, kind, cursor, index),
    check(before, child, index) {
      if (inOrder(kind, before, child)) return;
      throw malformedObject(subject, `child ${index} is out of order`, "children ascending");
    },
  });
  return { children: records.children, records };
}

function readChild(
  subject: Subject,
  kind: PagedKind,
  cursor: CborCursor,
  index: number,
): IndexChild {
  const length = cursor.readArrayLength();
  const withCells = kind === "spatial-bucket" && length === 6;
  if (length !== 4 && !withCells) {
    throw malformedObject(
      subject,
      `child ${index} has ${length} elements`,
      kind === "spatial-bucket" ? "6, or 4 in the old form" : "4",
    );
  }
  const start = cursor.readUint();
  const end = cursor.readUint();
  const page = readAddress(subject, cursor);
  const entryCount = cursor.readSafeUint();
  const low = withCells ? cursor.readTextBytes() : undefined;
  const high = withCells ? cursor.readTextBytes() : undefined;
  if (low !== undefined) checkCell(subject, low);
  if (high !== undefined) checkCell(subject, high);
  return { page, low, high, start, end, entryCount };
}

function inOrder(kind: PagedKind, before: IndexChild, after: IndexChild): boolean {
  if (kind !== "spatial-bucket") return before.start <= after.start;
  const { low, high } = after;
  if (before.high === undefined || low === undefined || high === undefined) {
    // Pages of the old form have no cells: nothing to compare. A mix of both forms is malformed.
    return before.high === low;
  }
  return compareBytes(before.high, low) <= 0 && compareBytes(low, high) <= 0;
}

function checkBounds(subject: Subject, page: IndexPage): void {
  const actual = bounds(page.type === "leaf" ? page.entries : page.children);
  if (actual.start !== page.start || actual.end !== page.end) {
    throw malformedObject(
      subject,
      `t_min ${page.start} and t_max ${page.end}`,
      `${actual.start} and ${actual.end}, the bounds of what is in the page`,
    );
  }
}
