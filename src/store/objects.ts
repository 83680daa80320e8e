/**
 * Reading and writing content-addressed objects, with the hash checked both ways: the reference
 * returns damaged buckets and images as data (FORMAT 1.6), we never do.
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import { addressOf, parseAddress } from "../encoding/address.ts";
import { baoOutboard } from "../encoding/bao.ts";
import { DreamDBError } from "../errors.ts";
import type { CallOptions, Connector } from "./connector.ts";
import { outboardPath } from "./paths.ts";

/**
 * The object at `path`, whose bytes hash to `address`. Wrong bytes are read once more, since a
 * transport can damage what the store still has right.
 * @throws DreamDBError object-missing, hash-mismatch, and what the connector throws
 */
export async function getObject(
  connector: Connector,
  path: string,
  address: Address,
  options?: CallOptions,
): Promise<Uint8Array> {
  let found: Address | undefined;
  for (let attempt = 0; attempt < 2; attempt++) {
    const bytes = await connector.get(path, options);
    if (bytes === undefined) {
      throw new DreamDBError({
        code: "object-missing",
        path,
        found: `no object at ${path} in ${connector.url}`,
        expected: "every object that a Manifest or Track refers to",
        next: "The store is incomplete: restore the object, or verify the store to see all that " +
          "are missing.",
      });
    }
    found = addressOf(bytes);
    if (found === address) return bytes;
  }
  throw new DreamDBError({
    code: "hash-mismatch",
    path,
    found: `bytes with the address ${found} at ${path} in ${connector.url}`,
    expected: `bytes with the address ${address}`,
    next: "The object is damaged: restore it from a copy of the store.",
  });
}

/**
 * Writes an object under a path that ends in its address.
 * @throws DreamDBError internal when the path names another address
 */
export async function putObject(
  connector: Connector,
  path: string,
  bytes: Uint8Array,
  options?: CallOptions,
): Promise<"written" | "present"> {
  const address = addressOf(bytes);
  if (!path.endsWith(`/${address}`)) {
    throw new DreamDBError({
      code: "internal",
      found: `an object with the address ${address} about to be written to ${path}`,
      expected: "a path that ends in the object's address",
      next: "Nothing was written; report this as a bug.",
    });
  }
  return await connector.putIfAbsent(path, bytes, options);
}

/**
 * Writes a bucket, sidecar or fragment and then its Bao outboard, as the reference does (FORMAT 1.2, 1.7).
 */
export async function putPayload(
  connector: Connector,
  path: string,
  bytes: Uint8Array,
  options?: CallOptions,
): Promise<"written" | "present"> {
  const outcome = await putObject(connector, path, bytes, options);
  const address = parseAddress(path.slice(path.lastIndexOf("/") + 1));
  await connector.putIfAbsent(outboardPath(address), baoOutboard(bytes), options);
  return outcome;
}
