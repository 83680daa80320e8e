/**
 * Finding out what a store can do: the work behind `dreamdb store check`.
 *
 * @module
 */

import { checkFileStore } from "./file-check.ts";
import type { OpenOptions } from "./open.ts";
import { openConnector } from "./open.ts";
import { S3Connector } from "./s3.ts";
import { checkS3Store } from "./s3-check.ts";
import type { CheckOptions, StoreCheck } from "./store-check.ts";
import { ok, storeCheck } from "./store-check.ts";

/**
 * Tries out the store behind a backend URL. What it writes lies outside of the protocol's folders
 * and is deleted again; no ref and no object of the store is touched.
 * @throws DreamDBError usage, store-missing, store-failure
 */
export async function checkStore(
  url: string,
  options: OpenOptions & CheckOptions = {},
): Promise<StoreCheck> {
  if (url.startsWith("file:")) return await checkFileStore(url, options);
  const connector = await openConnector(url, options);
  if (connector instanceof S3Connector) return await checkS3Store(connector.http, options);
  return storeCheck(connector.url, [ok("memory", "A store in memory has nothing to check.")]);
}
