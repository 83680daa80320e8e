/**
 * Opens the store that the command line names.
 *
 * @module
 */

import type { Connector } from "../store/connector.ts";
import { openConnector } from "../store/open.ts";
import type { OpenOptions } from "../store/open.ts";
import type { StoreOptions } from "./common-options.ts";
import type { RunContext } from "./outcome.ts";

/** What a store is opened with. */
export function openOptions(options: StoreOptions, context: RunContext): OpenOptions {
  const { concurrency, lockTimeout, endpoint, region, profile } = options;
  return {
    environment: context.terminal.environment,
    unsafeNoLock: options.unsafeNoLock,
    onWait: (message) => context.note(message),
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(lockTimeout === undefined ? {} : { lockTimeout }),
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(region === undefined ? {} : { region }),
    ...(profile === undefined ? {} : { profile }),
  };
}

/** Opens the store, lets `work` use it, and closes it whatever happens. */
export async function withStore<T>(
  options: StoreOptions,
  context: RunContext,
  work: (connector: Connector) => Promise<T>,
): Promise<T> {
  const connector = await openConnector(options.backend, openOptions(options, context));
  try {
    return await work(connector);
  } finally {
    await connector.close();
  }
}
