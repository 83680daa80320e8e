/**
 * Counting what a run asks of its store.
 *
 * @module
 */

import type { Connector } from "./connector.ts";
import { holding } from "./limit.ts";

/** What kind of object a request is about, as far as its path tells. */
export type RequestKind = "ref" | "manifest" | "track" | "page" | "bucket" | "other";

/** Counters of one run; they grow while it runs. */
export interface StoreStatistics {
  readonly requests: Record<RequestKind, number>;
  bytesRead: number;
  bytesWritten: number;
  /** Objects that were not there before. */
  objectsWritten: number;
  /** Objects that turned out to be there already. */
  objectsPresent: number;
  /** Index pages that were read. */
  pagesRead: number;
  /** Index pages among `objectsWritten`. */
  pagesWritten: number;
}

/** The kind of the object at `path` (FORMAT 1.2). */
export function requestKind(path: string): RequestKind {
  if (path.startsWith("refs/")) return "ref";
  if (path.startsWith("manifests/")) return "manifest";
  // timeline/modality/folder/address; without `split`, as this is asked twice for every page.
  const modalityAt = path.indexOf("/") + 1;
  const folderAt = path.indexOf("/", modalityAt) + 1;
  const folderEnd = path.indexOf("/", folderAt);
  if (modalityAt === 0 || folderAt === 0 || folderEnd < 0) return "other";
  const folder = path.slice(folderAt, folderEnd);
  if (folder === "track") return "track";
  if (folder === "index" || folder === "video-item-key-index") return "page";
  if (folder === "bucket" || folder === "vectors") return "bucket";
  // The folder of Fragments is sixteen zeros and would pass for a cell.
  if (path.startsWith("embedding.", modalityAt) && /^[01]+$/.test(folder)) return "bucket";
  return "other";
}

/** The same store, counting. A request that fails counts as a request. */
export function withStatistics(
  connector: Connector,
): { readonly connector: Connector; readonly statistics: StoreStatistics } {
  const statistics: StoreStatistics = {
    requests: { ref: 0, manifest: 0, track: 0, page: 0, bucket: 0, other: 0 },
    bytesRead: 0,
    bytesWritten: 0,
    objectsWritten: 0,
    objectsPresent: 0,
    pagesRead: 0,
    pagesWritten: 0,
  };
  const { requests } = statistics;
  return {
    statistics,
    connector: {
      url: connector.url,
      async get(path, options) {
        const kind = requestKind(path);
        requests[kind]++;
        if (kind === "page") statistics.pagesRead++;
        const bytes = await connector.get(path, options);
        statistics.bytesRead += bytes?.length ?? 0;
        return bytes;
      },
      async putIfAbsent(path, bytes, options) {
        const kind = requestKind(path);
        requests[kind]++;
        const outcome = await connector.putIfAbsent(path, bytes, options);
        if (outcome === "present") statistics.objectsPresent++;
        else {
          statistics.objectsWritten++;
          if (kind === "page") statistics.pagesWritten++;
          statistics.bytesWritten += bytes.length;
        }
        return outcome;
      },
      flush: (options) => connector.flush(options),
      readRef(name, options) {
        requests.ref++;
        return connector.readRef(name, options);
      },
      createRef(name, to, options) {
        requests.ref++;
        return connector.createRef(name, to, options);
      },
      compareAndSetRef(name, expected, next, options) {
        requests.ref++;
        return connector.compareAndSetRef(name, expected, next, options);
      },
      listRefs(prefix, options) {
        requests.ref++;
        return connector.listRefs(prefix, options);
      },
      deleteRef(name, expected, options) {
        requests.ref++;
        return connector.deleteRef(name, expected, options);
      },
      ...holding(connector),
      close: () => connector.close(),
    },
  };
}
