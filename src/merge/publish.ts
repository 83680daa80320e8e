/**
 * The one moment in which a merge becomes visible: the Ref moves from trunk's old tip to the new
 * Manifest, or it does not. Three outcomes are kept apart (DESIGN 1): committed, lost, unknown.
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import { createManifestReader } from "../history/manifest-reader.ts";
import type { RefCommitted, RefUnknown } from "../store/connector.ts";
import type { MergeEnvironment } from "./request.ts";

/** What became of the Ref write. */
export type Published =
  | RefCommitted
  | RefUnknown
  | { readonly status: "lost"; readonly found: Address | undefined };

/** Ours is as new as a Manifest gets: if it is below the tip at all, then few steps below. */
const SEARCH_DEPTH = 64;

/**
 * Moves `ref` from `expected` to `manifest`. Everything written before is made durable first.
 *
 * A write whose answer was lost may have been applied, and somebody may have published on top of
 * it since: then ours is among the ancestors of what the ref holds, and the merge is done.
 */
export async function publish(
  environment: MergeEnvironment,
  ref: string,
  expected: Address,
  manifest: Address,
): Promise<Published> {
  const { connector, signal } = environment;
  await connector.flush({ signal });
  // An aborted signal stops it only while nothing has been sent.
  const outcome = await connector.compareAndSetRef(ref, expected, manifest, { signal });
  if (outcome.status !== "conflict") return outcome;
  const { found, sent } = outcome;
  if (sent && found !== undefined && await isAncestor(environment, manifest, found, expected)) {
    return { status: "committed", note: "confirmed-after-unknown" };
  }
  return { status: "lost", found };
}

/**
 * Whether `ancestor` is `tip` or among its ancestors; tips move little while a ref is written.
 * @param below what `ancestor` was put on top of: it cannot be behind that, so nothing is read there
 */
async function isAncestor(
  environment: MergeEnvironment,
  ancestor: Address,
  tip: Address,
  below: Address,
): Promise<boolean> {
  const reader = createManifestReader(environment.connector, {});
  let level = [tip];
  const seen = new Set<Address>([tip, below]);
  for (let depth = 0; depth < SEARCH_DEPTH && level.length > 0; depth++) {
    if (level.includes(ancestor)) return true;
    const parents = await Promise.all(
      level.map(async (address) => (await reader.readIfPresent(address))?.parents ?? []),
    );
    level = parents.flat().filter((address) => !seen.has(address));
    for (const address of level) seen.add(address);
  }
  return false;
}
