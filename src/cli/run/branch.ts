/**
 * Runs `branch create`, `branch list` and `branch delete`.
 *
 * @module
 */

import { isAddress } from "../../encoding/address.ts";
import { DreamDBError, isDreamDBError } from "../../errors.ts";
import { createManifestReader } from "../../history/manifest-reader.ts";
import { checkWritableRefName } from "../../model/ref-name.ts";
import { mapConcurrent } from "../../store/limit.ts";
import { compareNaturally } from "../branch-names.ts";
import type { StoreOptions } from "../common-options.ts";
import { EXIT } from "../exit-codes.ts";
import { withStore } from "../open-store.ts";
import type { Outcome, RunContext } from "../outcome.ts";
import { missingRefs, resolveStart } from "../resolve-start.ts";
import { usageError } from "../values.ts";

const READERS = 32;

/** Creates a ref at the tip of another, or at a Manifest. */
export async function runBranchCreate(
  options: StoreOptions & { readonly name: string; readonly from: string },
  context: RunContext,
): Promise<Outcome> {
  const { name, from } = options;
  checkWritableRefName(name);
  if (isAddress(name)) {
    throw usageError(
      `the name ${name}, which is an address`,
      "a name that cannot be taken for an address",
      "Choose another name.",
    );
  }
  return await withStore(options, context, async (connector) => {
    const call = { signal: context.signal };
    const start = await resolveStart(connector, from, call);
    // A ref to something that is no Manifest would break every reader.
    await createManifestReader(connector, call).read(start.address);
    const outcome = await connector.createRef(name, start.address, call);
    if (outcome === "exists" && await connector.readRef(name, call) !== start.address) {
      throw usageError(
        `${name} exists already, at another Manifest than ${from}`,
        "a name that is free",
        `Choose another name, or delete it first with \`dreamdb branch delete ${name} --yes\`.`,
      );
    }
    const status = outcome === "created" ? "created" : "already-there";
    return {
      exitCode: EXIT.done,
      document: {
        status,
        backend: connector.url,
        ref: name,
        from: start.ref ?? null,
        address: start.address,
        error: null,
      },
      text: status === "created"
        ? `created ${name} at ${start.address}\n`
        : `${name} is already at ${start.address}\n`,
    };
  });
}

/** Lists refs with what they hold. */
export async function runBranchList(
  options: StoreOptions & { readonly prefix: string },
  context: RunContext,
): Promise<Outcome> {
  return await withStore(options, context, async (connector) => {
    const call = { signal: context.signal };
    const names = [...await connector.listRefs(options.prefix, call)].sort(compareNaturally);
    const refs = await mapConcurrent(
      names,
      READERS,
      async (name) => {
        try {
          // Deleted between listing and reading: left out.
          const address = await connector.readRef(name, call);
          return address === undefined ? undefined : { name, address };
        } catch (error) {
          if (!isDreamDBError(error, "malformed-ref")) throw error;
          return { name, address: null };
        }
      },
      context.signal,
    );
    const found = refs.filter((ref) => ref !== undefined);
    return {
      exitCode: EXIT.done,
      document: { status: "ok", backend: connector.url, refs: found, error: null },
      text: found.map(({ name, address }) => `${address ?? "malformed ref".padEnd(53)}  ${name}\n`)
        .join(""),
    };
  });
}

/** Deletes a ref; the objects it named stay. */
export async function runBranchDelete(
  options: StoreOptions & { readonly name: string; readonly confirmed: boolean },
  context: RunContext,
): Promise<Outcome> {
  const { name, confirmed } = options;
  checkWritableRefName(name);
  if (!confirmed) {
    throw usageError(
      `branch delete ${name} without --yes`,
      "--yes, since a deleted ref cannot be brought back",
      `Say it: dreamdb branch delete ${name} --yes.`,
    );
  }
  return await withStore(options, context, async (connector) => {
    const call = { signal: context.signal };
    const address = await connector.readRef(name, call);
    if (address === undefined) throw missingRefs(connector, [name]);
    const outcome = await connector.deleteRef(name, address, call);
    if (outcome === "conflict") {
      throw new DreamDBError({
        code: "publish-conflict",
        ref: name,
        attempts: 1,
        found: `${name} moved while it was being deleted`,
        expected: `${name} at ${address}`,
        next: "Nothing was deleted; look at what it holds now, then run again.",
      });
    }
    return {
      exitCode: EXIT.done,
      document: { status: "deleted", backend: connector.url, ref: name, address, error: null },
      text: `deleted ${name}, which was at ${address}\n`,
    };
  });
}
