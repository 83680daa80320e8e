/**
 * Opens the store that the command line names.
 *
 * @module
 */

import type { Connector } from "../store/connector.ts";
import { openConnector } from "../store/open.ts";
import type { StoreOptions } from "./common-options.ts";
import type { RunContext } from "./outcome.ts";

/** Opens the store, lets `work` use it, and closes it whatever happens. */
export async function withStore<T>(
  options: StoreOptions,
  context: RunContext,
  work: (connector: Connector) => Promise<T>,
): Promise<T> {
  const connector = await openConnector(options.backend, {
    environment: context.terminal.environment,
    unsafeNoLock: options.unsafeNoLock,
    onWait: (message) => context.note(message),
    ...(options.concurrency === undefined ? {} : { concurrency: options.concurrency }),
    ...(options.lockTimeout === undefined ? {} : { lockTimeout: options.lockTimeout }),
  });
  try {
    return await work(connector);
  } finally {
    await connector.close();
  }
}
