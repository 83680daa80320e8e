/**
 * Writes index pages while a tree is being built, several at once.
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import { putObject } from "../store/objects.ts";
import type { CallOptions, Connector } from "../store/connector.ts";
import { indexPagePath, videoItemKeyIndexPath } from "../store/paths.ts";
import type { PageSink } from "./tree/tree-format.ts";

/** A sink for pages; `finish` resolves when all of them are written. */
export interface PageWriter {
  readonly sink: PageSink;
  /** The same for pages of a VideoItem Track's index by key. */
  readonly keySink: PageSink;
  finish(): Promise<void>;
}

/** Writes the pages of one Track's index, at most `concurrency` at once. */
export function createPageWriter(
  connector: Connector,
  timeline: Address,
  modality: string,
  concurrency: number,
  options: CallOptions,
): PageWriter {
  const writing = new Set<Promise<unknown>>();
  let failure: { readonly error: unknown } | undefined;
  const check = (): void => {
    if (failure !== undefined) throw failure.error;
  };
  const put = async (path: string, bytes: Uint8Array): Promise<void> => {
    while (writing.size >= concurrency) await Promise.race(writing);
    check();
    const write: Promise<unknown> = putObject(connector, path, bytes, options)
      .catch((error: unknown) => {
        failure ??= { error };
      })
      .finally(() => writing.delete(write));
    writing.add(write);
  };
  return {
    sink: (address, bytes) => put(indexPagePath(timeline, modality, address), bytes),
    keySink: (address, bytes) => put(videoItemKeyIndexPath(timeline, modality, address), bytes),
    async finish() {
      await Promise.all(writing);
      check();
    },
  };
}
