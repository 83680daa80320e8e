/**
 * Reads objects of one run, hash-checked, each at most once while it stays in the cache.
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import type { CallOptions, Connector } from "../store/connector.ts";
import { getObject } from "../store/objects.ts";

/** Reads the object at `path` whose bytes hash to `address`. */
export type ReadObject = (path: string, address: Address) => Promise<Uint8Array>;

/** How many bytes of objects a run keeps. */
export const CACHE_BYTES = 256 * 1024 * 1024;

/**
 * A reader with a cache of `cacheBytes`; what was read longest ago is dropped first.
 * @throws DreamDBError object-missing, hash-mismatch and what the store throws
 */
export function createObjectReader(
  connector: Connector,
  options: CallOptions,
  cacheBytes = CACHE_BYTES,
): ReadObject {
  const cache = new Map<string, Promise<Uint8Array>>();
  const sizes = new Map<string, number>();
  let held = 0;
  return (path, address) => {
    const known = cache.get(path);
    if (known !== undefined) return known;
    const reading = getObject(connector, path, address, options).then((bytes) => {
      sizes.set(path, bytes.length);
      held += bytes.length;
      for (const [oldest, size] of sizes) {
        if (held <= cacheBytes) break;
        held -= size;
        sizes.delete(oldest);
        cache.delete(oldest);
      }
      return bytes;
    });
    cache.set(path, reading);
    return reading;
  };
}
