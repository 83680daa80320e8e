/**
 * Reads objects of one run, hash-checked, each at most once while it stays in the cache.
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import type { CallOptions, Connector } from "../store/connector.ts";
import { getObject } from "../store/objects.ts";
import { requestKind } from "../store/statistics.ts";

/** Reads the object at `path` whose bytes hash to `address`. */
export type ReadObject = (path: string, address: Address) => Promise<Uint8Array>;

/** How many bytes of objects a run keeps, pages not counted. */
export const CACHE_BYTES = 256 * 1024 * 1024;
/** How many bytes of index pages it keeps: a merge walks over indexes of any size. */
const PAGE_CACHE_BYTES = 24 * 1024 * 1024;

/**
 * A reader with a cache of `cacheBytes`, and one for pages; what was asked for longest ago is
 * dropped first.
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
  readonly #most: number;
  readonly #readings = new Map<string, Promise<Uint8Array>>();
  /** Bytes of what has been read, what was asked for longest ago first. */
  readonly #sizes = new Map<string, number>();
  #held = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get(path: string, read: () => Promise<Uint8Array>): Promise<Uint8Array> {
    const known = this.#readings.get(path);
    if (known === undefined) return this.#read(path, read);
    const size = this.#sizes.get(path);
    if (size !== undefined) {
      this.#sizes.delete(path);
      this.#sizes.set(path, size);
    }
    return known;
  }

  #read(path: string, read: () => Promise<Uint8Array>): Promise<Uint8Array> {
    const reading = read().then((found) => {
      // Of a Buffer `slice` would be a view, and a key of a few bytes keep a whole page in memory.
      const bytes = new Uint8Array(found.buffer, found.byteOffset, found.byteLength);
      this.#sizes.set(path, bytes.length);
      this.#held += bytes.length;
      for (const [oldest, size] of this.#sizes) {
        if (this.#held <= this.#most) break;
        this.#held -= size;
        this.#sizes.delete(oldest);
        this.#readings.delete(oldest);
      }
      return bytes;
    });
    this.#readings.set(path, reading);
    return reading;
  }
}
