/**
 * Not asking a store again for what it has just been given.
 *
 * @module
 */

import type { Connector } from "./connector.ts";
import { holding } from "./limit.ts";

/**
 * The same store; an object that was written through this value before is "present" without a
 * request. For a run that makes mostly the same objects again after it has lost a race.
 */
export function withWriteOnce(connector: Connector): Connector {
  const written = new Set<string>();
  return {
    url: connector.url,
    get: (path, options) => connector.get(path, options),
    async putIfAbsent(path, bytes, options) {
      if (written.has(path)) return "present";
      const outcome = await connector.putIfAbsent(path, bytes, options);
      written.add(path);
      return outcome;
    },
    flush: (options) => connector.flush(options),
    readRef: (name, options) => connector.readRef(name, options),
    createRef: (name, to, options) => connector.createRef(name, to, options),
    compareAndSetRef: (name, expected, next, options) =>
      connector.compareAndSetRef(name, expected, next, options),
    listRefs: (prefix, options) => connector.listRefs(prefix, options),
    deleteRef: (name, expected, options) => connector.deleteRef(name, expected, options),
    ...holding(connector),
    close: () => connector.close(),
  };
}
