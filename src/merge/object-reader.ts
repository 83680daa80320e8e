/**
 * Reads objects of one run, hash-checked, each at most once while it stays in the cache.
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import type { CallOptions, Connector } from "../store/connector.ts";
import { getObject } from "../store/objects.ts";
import { requestKind } from "../store/statistics.ts";
import { RecentlyUsed } from "./recently-used.ts";

/** Reads the object at `path` whose bytes hash to `address`. */
export type ReadObject = (path: string, address: Address) => Promise<Uint8Array>;

/** How many bytes of objects a run keeps, pages not counted. */
export const CACHE_BYTES = 256 * 1024 * 1024;
/** How many bytes of index pages it keeps: a merge walks over indexes of any size. */
const PAGE_CACHE_BYTES = 24 * 1024 * 1024;

/**
 * A reader with a cache of `cacheBytes`, and one for pages; what was not asked for of late is
 * dropped.
 * @throws DreamDBError object-missing, hash-mismatch and what the store throws
 */
export function createObjectReader(
  connector: Connector,
  options: CallOptions,
  cacheBytes = CACHE_BYTES,
): ReadObject {
  const objects = new Cache(cacheBytes);
  const pages = new Cache(Math.min(cacheBytes, PAGE_CACHE_BYTES));
  return (path, address) =>
    (requestKind(path) === "page" ? pages : objects).get(
      path,
      () => getObject(connector, path, address, options),
    );
}

class Cache {
  readonly #kept: RecentlyUsed<Promise<Uint8Array>>;
  /** What is being read, and what could not be. */
  readonly #reading = new Map<string, Promise<Uint8Array>>();

  constructor(most: number) {
    this.#kept = new RecentlyUsed(most);
  }

  get(path: string, read: () => Promise<Uint8Array>): Promise<Uint8Array> {
    const known = this.#kept.get(path) ?? this.#reading.get(path);
    if (known !== undefined) return known;
    const reading = read().then((found) => {
      // Of a Buffer `slice` would be a view, and a key of a few bytes keep a whole page in memory.
      const bytes = new Uint8Array(found.buffer, found.byteOffset, found.byteLength);
      this.#kept.set(path, reading, bytes.length);
      this.#reading.delete(path);
      return bytes;
    });
    this.#reading.set(path, reading);
    return reading;
  }
}
