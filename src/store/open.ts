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

/** Everything that any backend can be told. */
export interface OpenOptions extends FileOptions {
  /** Where backends look up their settings; default: the process's environment. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/**
 * Opens the store behind `url`; no request is made yet.
 * @throws DreamDBError usage
 */
export async function openConnector(
  url: string,
  options: OpenOptions = {},
): Promise<Connector> {
  if (url.startsWith("file:")) return new FileConnector(url, options);
  if (url === "memory:") return new MemoryConnector();
  throw new DreamDBError({
    code: "usage",
    found: `the backend ${JSON.stringify(url)}`,
    expected: "file:///FOLDER or memory:",
    next: "Give the backend as a URL, as in file:///data/store.",
  });
}
