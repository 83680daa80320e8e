import { addressBytes, addressOf } from "../../../src/encoding/address.ts";
import type { Address } from "../../../src/encoding/address.ts";
import { encodeCanonical } from "../../../src/encoding/cbor-encode.ts";
import type { CborValue } from "../../../src/encoding/cbor-value.ts";
import type { PageLoader, PageSink } from "../../../src/merge/tree/tree-format.ts";
import { parseIndexEntry } from "../../../src/model/index-entry.ts";
import type { EntryKind, IndexEntry } from "../../../src/model/index-entry.ts";
import type { ScalarValue } from "../../../src/model/scalar-key.ts";

/** A real anchor: nanoseconds in 2027. */
export const BASE_TIME = 1_800_000_000_000_000_000n;

/** Pages in memory, with a record of what was read and written. */
export class MemoryPages {
  readonly pages = new Map<Address, Uint8Array>();
  readonly read: Address[] = [];
  readonly written: Address[] = [];

  readonly load: PageLoader = (address) => {
    this.read.push(address);
    const bytes = this.pages.get(address);
    return bytes === undefined
      ? Promise.reject(new Error(`no page ${address}`))
      : Promise.resolve(bytes);
  };

  readonly sink: PageSink = (address, bytes) => {
    if (addressOf(bytes) !== address) throw new Error(`page ${address} has other bytes`);
    this.written.push(address);
    this.pages.set(address, bytes);
  };

  /** Puts a page that no tree was built of. */
  put(bytes: Uint8Array): Address {
    const address = addressOf(bytes);
    this.pages.set(address, bytes);
    return address;
  }
}

const numbered = (number: number) =>
  addressBytes(addressOf(Uint8Array.of(number & 255, (number >> 8) & 255, number >> 16)));

function entry(kind: EntryKind, fields: readonly CborValue[]): IndexEntry {
  return parseIndexEntry({ kind: "entry" }, kind, encodeCanonical(fields));
}

/** The entry of a bucket; `number` tells entries with the same cell and time apart. */
export function spatialEntry(cell: string, tick: number | bigint, number: number): IndexEntry {
  const start = BASE_TIME + BigInt(tick);
  return entry("spatial-bucket", [cell, start, start + 2n, 200n, numbered(number)]);
}

export function fragmentEntry(tick: number, number: number): IndexEntry {
  const start = BASE_TIME + BigInt(tick);
  return entry("fragment", [start, start + 1n, 4n, numbered(number), false, BigInt(number)]);
}

export function eventEntry(tick: number, number: number): IndexEntry {
  return entry("event-array", [numbered(number), BASE_TIME + BigInt(tick)]);
}

export function scalarEntry(value: ScalarValue, tick: number, number: number): IndexEntry {
  const start = BASE_TIME + BigInt(tick);
  const key = encodeCanonical(value);
  return entry("scalar-btree", [key, start, start + 1n, numbered(number), BigInt(number), 31n]);
}
