/**
 * From a backend URL to a store.
 *
 * @module
 */

import { DreamDBError } from "../errors.ts";
import type { Connector } from "./connector.ts";
import type { FileOptions } from "./file.ts";
import { FileConnector } from "./file.ts";
import { MemoryConnector } from "./memory.ts";
import type { S3Options } from "./s3.ts";
import { S3Connector } from "./s3.ts";

/** Everything that any backend can be told; each takes what concerns it. */
export interface OpenOptions extends FileOptions, S3Options {}

/**
 * Opens the store behind `url`; no request is made yet.
 * @throws DreamDBError usage
 */
export async function openConnector(
  url: string,
  options: OpenOptions = {},
): Promise<Connector> {
  if (url.startsWith("file:")) return new FileConnector(url, options);
  if (url === "memory:" || url === "memory://") return new MemoryConnector();
  if (/^(?:s3|https?):\/\//.test(url)) return new S3Connector(url, options);
  throw new DreamDBError({
    code: "usage",
    found: `the backend ${JSON.stringify(url)}`,
    expected: "file:///FOLDER, s3://BUCKET[/PREFIX], http(s)://HOST/BUCKET[/PREFIX] or memory:",
    next: "Give the backend as a URL, as in file:///data/store.",
  });
}
