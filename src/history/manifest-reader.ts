/**
 * Reads Manifests, each at most once a run.
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import { isDreamDBError } from "../errors.ts";
import { decodeManifest } from "../model/manifest.ts";
import type { Manifest } from "../model/manifest.ts";
import type { CallOptions, Connector } from "../store/connector.ts";
import { getObject } from "../store/objects.ts";
import { manifestPath } from "../store/paths.ts";

/** Loads Manifests by address. */
export interface ManifestReader {
  /**
   * The Manifest at `address`.
   * @throws DreamDBError object-missing, hash-mismatch, malformed-object
   */
  read(address: Address): Promise<Manifest>;
  /** The same, or undefined when the store no longer has it (a collected ancestor). */
  readIfPresent(address: Address): Promise<Manifest | undefined>;
  /** The addresses that were asked for and are not in the store. */
  missing(): readonly Address[];
}

/** A reader over a store; Manifests stay cached for its lifetime. */
export function createManifestReader(connector: Connector, options: CallOptions): ManifestReader {
  const cache = new Map<Address, Promise<Manifest | undefined>>();
  const gone = new Set<Address>();

  const load = async (address: Address): Promise<Manifest | undefined> => {
    const path = manifestPath(address);
    try {
      return decodeManifest(await getObject(connector, path, address, options), path);
    } catch (error) {
      if (!isDreamDBError(error, "object-missing")) throw error;
      gone.add(address);
      return undefined;
    }
  };
  const readIfPresent = (address: Address): Promise<Manifest | undefined> => {
    const known = cache.get(address);
    if (known !== undefined) return known;
    const loading = load(address);
    cache.set(address, loading);
    return loading;
  };
  return {
    readIfPresent,
    async read(address) {
      const manifest = await readIfPresent(address);
      if (manifest !== undefined) return manifest;
      const path = manifestPath(address);
      // Asked again for its own error: the cache only remembers that it is gone.
      return decodeManifest(await getObject(connector, path, address, options), path);
    },
    missing: () => [...gone],
  };
}
