/**
 * Entries of index trees: what a leaf holds, in the absolute inline form of the entry, however the
 * leaf stores it (PAGED 4.1).
 *
 * @module
 */

import type { CborCursor } from "../encoding/cbor-cursor.ts";
import { compareBytes } from "../encoding/bytes.ts";
import { addressFromBytes } from "../encoding/address.ts";
import type { Address } from "../encoding/address.ts";
import { malformedObject, requireAddress } from "./malformed.ts";
import type { Subject } from "./malformed.ts";

/**
 * One entry of a tree. An `IndexEntry` with absolute times is one, too; this is the part of it
 * that trees are built and searched by.
 */
export interface PageEntry {
  /** The encoded entry with absolute times; of a VideoItem the start counts from zero. */
  readonly bytes: Uint8Array;
  /** The cell's text, the value's key, or nothing. */
  readonly group: Uint8Array;
  /** First anchor, in nanoseconds. */
  readonly start: bigint;
  /** Last anchor + 1, in nanoseconds. */
  readonly end: bigint;
}

/** What an internal page says about a page below it; undefined is what its form does not say. */
export interface PageChild {
  readonly page: Address;
  /** First and last cell or sort key below; of Index Pages only spatial ones of the new form. */
  readonly low: Uint8Array | undefined;
  readonly high: Uint8Array | undefined;
  /** Lowest start and highest end below, in nanoseconds; only of Index Pages. */
  readonly start: bigint | undefined;
  readonly end: bigint | undefined;
  /** Leaf entries below; not of B-trees. */
  readonly entryCount: number | undefined;
}

/** The order of children in a tree: by first cell or sort key, or by start. */
export function comparePageChildren(a: PageChild, b: PageChild): number {
  if (a.low !== undefined && b.low !== undefined) return compareBytes(a.low, b.low);
  const [start, other] = [a.start ?? 0n, b.start ?? 0n];
  return start < other ? -1 : start > other ? 1 : 0;
}

/** Bytes of the shortest CBOR form of an unsigned integer. */
export function uintLength(value: bigint | number): number {
  if (value < 24) return 1;
  if (value < 0x100) return 2;
  if (value < 0x1_0000) return 3;
  return value < 0x1_0000_0000 ? 5 : 9;
}

/** Moves past an address and checks that it is one; the cheap way when nobody asks for its text. */
export function skipAddress(subject: Subject, cursor: CborCursor): void {
  const { bytes: all, offset } = cursor;
  if (
    all[offset] === 0x58 && all[offset + 1] === 33 && all[offset + 2] === 0x1e &&
    offset + 35 <= all.length
  ) {
    cursor.offset = offset + 35;
    return;
  }
  readAddressBytes(subject, cursor);
}

/**
 * Reads an address and leaves it in bytes, because its letters are dear to make.
 * @param name what the address is in the object, for messages
 * @throws DreamDBError malformed-cbor, malformed-object
 */
export function readAddressBytes(
  subject: Subject,
  cursor: CborCursor,
  name = "the address of an entry",
): Uint8Array {
  const bytes = cursor.readBytes();
  requireAddress(subject, name, bytes);
  return bytes;
}

/** Reads an address. @throws DreamDBError malformed-cbor, malformed-object */
export function readAddress(subject: Subject, cursor: CborCursor, name?: string): Address {
  return addressFromBytes(readAddressBytes(subject, cursor, name));
}

/**
 * Reads the next key of a map whose keys are known, in their one canonical order.
 * @throws DreamDBError malformed-object when it is another one
 */
export function expectKey(subject: Subject, cursor: CborCursor, key: string): void {
  const found = cursor.readText();
  if (found !== key) {
    throw malformedObject(
      subject,
      `the key ${JSON.stringify(found.slice(0, 40))}`,
      `${JSON.stringify(key)}, the next key of this kind of page`,
    );
  }
}

/** Checks that nothing follows the object. @throws DreamDBError malformed-object */
export function expectEnd(subject: Subject, cursor: CborCursor): void {
  if (cursor.done) return;
  throw malformedObject(
    subject,
    `${cursor.bytes.length - cursor.offset} bytes after the object`,
    "nothing behind it",
  );
}
