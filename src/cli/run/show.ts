/**
 * Runs `show`: any object, by ref, by address or by path.
 *
 * @module
 */

import type { Address } from "../../encoding/address.ts";
import { addressOf, isAddress } from "../../encoding/address.ts";
import { DreamDBError, isDreamDBError } from "../../errors.ts";
import { isRefName } from "../../model/ref-name.ts";
import type { CallOptions, Connector } from "../../store/connector.ts";
import { mapConcurrent } from "../../store/limit.ts";
import { checkPath, manifestPath } from "../../store/paths.ts";
import type { StoreOptions } from "../common-options.ts";
import { describeObject } from "../describe-object.ts";
import { EXIT } from "../exit-codes.ts";
import { findObject } from "../find-object.ts";
import type { FoundObject } from "../find-object.ts";
import { documentText } from "../json.ts";
import { withStore } from "../open-store.ts";
import type { Outcome, RunContext } from "../outcome.ts";
import { missingRefs } from "../resolve-start.ts";
import { checkExpanded } from "../values.ts";

/** What `show` was asked. */
export interface ShowOptions extends StoreOptions {
  /** A ref, an address or a path. */
  readonly what: string;
  /** The ref whose fields tell first where an address may lie. */
  readonly ref: string;
}

const MOST_REFS = 1000;

/** Reads one object, checks its hash and describes it. */
export async function runShow(options: ShowOptions, context: RunContext): Promise<Outcome> {
  checkExpanded("the argument", options.what);
  return await withStore(options, context, async (connector) => {
    const call = { signal: context.signal };
    const { ref, object } = await locate(connector, options, call);
    const actual = addressOf(object.bytes);
    const name = object.path.slice(object.path.lastIndexOf("/") + 1);
    if (isAddress(name) && name !== actual && !object.path.startsWith("bao-outboard/")) {
      throw new DreamDBError({
        code: "hash-mismatch",
        path: object.path,
        found: `bytes with the address ${actual} at ${object.path} in ${connector.url}`,
        expected: `bytes with the address ${name}`,
        next: "The object is damaged: restore it from a copy of the store.",
      });
    }
    const { kind, form, value } = describeObject(object.path, object.bytes);
    const described = { path: object.path, address: actual, kind, bytes: object.bytes.length };
    const body = { ...described, form, value };
    return {
      exitCode: EXIT.done,
      document: { status: "ok", backend: connector.url, ref: ref ?? null, ...body, error: null },
      text: documentText(ref === undefined ? body : { ref, ...body }),
    };
  });
}

interface Located {
  readonly ref: string | undefined;
  readonly object: FoundObject;
}

async function locate(
  connector: Connector,
  options: ShowOptions,
  call: CallOptions,
): Promise<Located> {
  const { what } = options;
  if (isAddress(what)) {
    const object = await findObject(
      connector,
      what,
      await likelyTips(connector, options, call),
      call,
    );
    if (object === undefined) throw missingObject(connector, what);
    return { ref: undefined, object };
  }
  const ref = what.startsWith("refs/") ? what.slice("refs/".length) : what;
  if (isRefName(ref)) {
    const tip = await connector.readRef(ref, call);
    if (tip !== undefined) {
      const object = await getAt(connector, manifestPath(tip), call);
      if (object !== undefined) return { ref, object };
      throw new DreamDBError({
        code: "object-missing",
        path: manifestPath(tip),
        found: `no Manifest at ${manifestPath(tip)}, which ${ref} names`,
        expected: "every ref to name a Manifest of the store",
        next: "Restore the object from a copy of the store.",
      });
    }
    if (!what.includes("/") || what.startsWith("refs/")) throw missingRefs(connector, [ref]);
  }
  const object = await getAt(connector, checkArgumentPath(what), call);
  if (object === undefined) throw missingObject(connector, what);
  return { ref: undefined, object };
}

async function getAt(
  connector: Connector,
  path: string,
  call: CallOptions,
): Promise<FoundObject | undefined> {
  const bytes = await connector.get(path, call);
  return bytes === undefined ? undefined : { path, bytes };
}

/** The tip of the ref in question first, then those of all others, as far as they can be listed. */
async function likelyTips(
  connector: Connector,
  options: ShowOptions,
  call: CallOptions,
): Promise<readonly Address[]> {
  let names: readonly string[] = [];
  try {
    names = (await connector.listRefs("", call)).slice(0, MOST_REFS);
  } catch (error) {
    // Listing may be forbidden where reading is allowed.
    if (!isDreamDBError(error, "permission-denied")) throw error;
  }
  const tips = await mapConcurrent([options.ref, ...names], 16, async (name) => {
    try {
      return await connector.readRef(name, call);
    } catch (error) {
      if (isDreamDBError(error, "malformed-ref")) return undefined;
      throw error;
    }
  }, call.signal);
  return [...new Set(tips.filter((tip) => tip !== undefined))];
}

function checkArgumentPath(path: string): string {
  try {
    return checkPath(path);
  } catch (error) {
    throw new DreamDBError({
      code: "usage",
      found: `${JSON.stringify(path)}, which is no ref, no address and no path`,
      expected: "a ref, an address of 53 letters, or a path as in manifests/ADDRESS",
      next: "See which refs there are with `dreamdb branch list`.",
    }, { cause: error });
  }
}

function missingObject(connector: Connector, what: string): DreamDBError {
  return new DreamDBError({
    code: "ref-missing",
    names: [what],
    found: `no object ${what} in ${connector.url}`,
    expected: "an object that some ref reaches",
    next: isAddress(what)
      ? "If it belongs to a field of one ref only, name that ref with --ref; or give its path."
      : "Give an address, a ref, or a path as in manifests/ADDRESS.",
  });
}
