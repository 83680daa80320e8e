/**
 * From what a person wrote - a ref or an address - to a Manifest's address.
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import { isAddress } from "../encoding/address.ts";
import { DreamDBError } from "../errors.ts";
import { checkRefName } from "../model/ref-name.ts";
import type { CallOptions, Connector } from "../store/connector.ts";
import { checkExpanded } from "./values.ts";

/** Where to start, and by which name. */
export interface Start {
  readonly address: Address;
  /** The ref that was named; undefined for an address. */
  readonly ref: string | undefined;
}

/** An address stands for itself, everything else is a ref. */
export async function resolveStart(
  connector: Connector,
  text: string,
  options: CallOptions,
): Promise<Start> {
  if (isAddress(text)) return { address: text, ref: undefined };
  checkExpanded("the ref", text);
  checkRefName(text);
  const address = await connector.readRef(text, options);
  if (address === undefined) throw missingRefs(connector, [text]);
  return { address, ref: text };
}

/** The fault for refs that are not there. */
export function missingRefs(connector: Connector, names: readonly string[]): DreamDBError {
  return new DreamDBError({
    code: "ref-missing",
    names,
    found: `no ref ${names.join(", ")} in ${connector.url}`,
    expected: "a ref that exists, or an address",
    next: "See which refs there are with `dreamdb branch list`.",
  });
}
