/**
 * From ref names to the sides of a merge: tips, merge bases, and the branches that need no merge.
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import { DreamDBError, isDreamDBError } from "../errors.ts";
import { walkAncestry } from "../history/ancestry.ts";
import type { Ancestry } from "../history/ancestry.ts";
import type { ManifestReader } from "../history/manifest-reader.ts";
import type { Manifest } from "../model/manifest.ts";
import { checkRefName } from "../model/ref-name.ts";
import type { CallOptions, Connector } from "../store/connector.ts";
import { mapConcurrent } from "../store/limit.ts";
import type { Refusal, Warning } from "./refusal.ts";
import type { MergeRequest } from "./request.ts";
import type { BranchSide, SharedBase, Side, Sides } from "./sides.ts";

/** What became of a branch named in the request. */
export type BranchState = "merged" | "already-merged" | "same-tip" | "repeated";

/** One branch of the request. */
export interface ResolvedBranch {
  readonly name: string;
  readonly tip: Address;
  readonly state: BranchState;
}

/** The refs of a request and what they point to. */
export interface ResolvedRefs {
  readonly trunk: Address;
  readonly branches: readonly { readonly name: string; readonly tip: Address }[];
}

/** The sides, or the refusals that history gives. */
export interface ResolvedSides {
  readonly branches: readonly ResolvedBranch[];
  readonly sides: Sides | undefined;
  readonly mergeBases: readonly Address[];
  readonly refusals: readonly Refusal[];
  readonly warnings: readonly Warning[];
}

/**
 * Reads the refs. All names are checked before the first is read, all are read before the first
 * missing one is reported.
 * @throws DreamDBError invalid-ref-name, usage, ref-missing, malformed-ref
 */
export async function resolveRefs(
  connector: Connector,
  request: MergeRequest,
  concurrency: number,
  options: CallOptions,
): Promise<ResolvedRefs> {
  const names = [request.ref, ...request.branches];
  for (const name of names) checkRefName(name);
  if (request.branches.length === 0) {
    throw new DreamDBError({
      code: "usage",
      found: "no branch to merge",
      expected: "at least one branch",
      next: "Name the branches with --branches, --branch, --branches-from or --branch-glob.",
    });
  }
  if (request.branches.includes(request.ref)) {
    throw new DreamDBError({
      code: "usage",
      found: `${request.ref} both as the ref to merge into and as a branch`,
      expected: "branches other than the ref they are merged into",
      next: `Take ${request.ref} out of the branches.`,
    });
  }
  const malformed: DreamDBError[] = [];
  const tips = await mapConcurrent(names, concurrency, async (name, _index, signal) => {
    try {
      return await connector.readRef(name, { signal });
    } catch (error) {
      if (!isDreamDBError(error, "malformed-ref")) throw error;
      malformed.push(error);
      return null;
    }
  }, options.signal);
  const missing = names.filter((_, index) => tips[index] === undefined);
  if (missing.length > 0) {
    const distinct = [...new Set(missing)];
    throw new DreamDBError({
      code: "ref-missing",
      names: distinct,
      found: `${distinct.length === 1 ? "no ref" : "no refs"} ${
        distinct.join(", ")
      } in ${connector.url}`,
      expected: "every ref that is named",
      next: "See which refs there are with `dreamdb branch list`; nothing has been changed.",
    });
  }
  const [firstMalformed] = malformed;
  if (firstMalformed !== undefined) throw firstMalformed;
  const [trunk, ...rest] = tips;
  if (!trunk) throw new Error("unreachable: a missing ref was reported above");
  return {
    trunk,
    branches: request.branches.flatMap((name, index) => {
      const tip = rest[index];
      return tip ? [{ name, tip }] : [];
    }),
  };
}

/** Walks the history of the refs and lines up the sides. */
export async function resolveSides(
  reader: ManifestReader,
  refs: ResolvedRefs,
  request: MergeRequest,
): Promise<ResolvedSides> {
  const trunkManifest = await reader.read(refs.trunk);
  const trunk: Side = { position: 0, name: request.ref, tip: refs.trunk, manifest: trunkManifest };
  const states = new Map<number, BranchState>();
  const seen = new Set<Address>();
  const distinct: { index: number; name: string; tip: Address }[] = [];
  refs.branches.forEach(({ name, tip }, index) => {
    if (tip === refs.trunk) states.set(index, "same-tip");
    else if (seen.has(tip)) states.set(index, "repeated");
    else distinct.push({ index, name, tip });
    seen.add(tip);
  });
  const tips = [
    { address: refs.trunk, manifest: trunkManifest },
    ...await Promise.all(
      distinct.map(async ({ tip }) => ({ address: tip, manifest: await reader.read(tip) })),
    ),
  ];
  const report = (): ResolvedBranch[] =>
    refs.branches.map(({ name, tip }, index) => ({
      name,
      tip,
      state: states.get(index) ?? "merged",
    }));
  if (distinct.length === 0) {
    return { branches: report(), sides: undefined, mergeBases: [], refusals: [], warnings: [] };
  }
  const names = [request.ref, ...distinct.map(({ name }) => name)];
  const ancestry = await walkAncestry(tips, reader.readIfPresent, request.maxDepth);
  const warnings = missingHistory(reader);
  if (ancestry.status === "depth-exceeded") {
    const far = ancestry.tips.map((position) => names[position] ?? "");
    return {
      branches: report(),
      sides: undefined,
      mergeBases: [],
      warnings,
      refusals: [{
        code: "depth-bound",
        message: `no common ancestor within ${ancestry.maxDepth} steps of ${far.join(", ")}`,
        next: "If the branches do share history with the ref, pass a larger --max-depth.",
        sides: far,
      }],
    };
  }

  const refusals: Refusal[] = [];
  const branches: BranchSide[] = [];
  for (const [offset, { index, name, tip }] of distinct.entries()) {
    const position = offset + 1;
    const manifest = tips[position]?.manifest;
    const bases = ancestry.best(0, position);
    const [base, ...more] = bases;
    if (manifest === undefined) continue;
    if (base === tip) {
      states.set(index, "already-merged");
      continue;
    }
    if (base === undefined) {
      const [gone] = reader.missing();
      // Damage is judged before rules: with a hole in the history nobody can say that there is none.
      if (gone !== undefined) await reader.read(gone);
      refusals.push({
        code: "no-common-ancestor",
        message: `${name} and ${request.ref} have no common ancestor`,
        next: "Branches must be made from the ref they are merged into; ingest the records again " +
          "on such a branch.",
        sides: [request.ref, name],
        addresses: [refs.trunk, tip],
      });
    } else if (more.length > 0) {
      refusals.push({
        code: "ambiguous-merge-base",
        message: `${name} and ${request.ref} have ${bases.length} best common ancestors: ` +
          bases.join(", "),
        next: `Merge ${request.ref} into ${name} first, then ${name} has one base.`,
        sides: [request.ref, name],
        addresses: bases,
      });
    } else {
      branches.push({
        position,
        name,
        tip,
        manifest,
        base,
        baseManifest: await reader.read(base),
      });
    }
  }
  if (refusals.length === 0 && branches.length > 1 && ancestry.common.length === 0) {
    refusals.push({
      code: "no-common-ancestor",
      message: `${names.join(", ")} have no common ancestor of all`,
      next: "Merge the branches that share history with each other in runs of their own.",
      sides: names,
    });
  }
  const sides: Sides | undefined = branches.length === 0 ? undefined : {
    trunk,
    branches,
    ancestry,
    settled: await settledManifest(reader, trunk, branches),
    shared: await sharedBases(reader, ancestry, branches),
  };
  return {
    branches: report(),
    sides,
    mergeBases: [...new Set(branches.map(({ base }) => base))],
    refusals,
    warnings,
  };
}

function missingHistory(reader: ManifestReader): Warning[] {
  const missing = reader.missing();
  return missing.length === 0 ? [] : [{
    code: "missing-history",
    message: `${missing.length} older Manifests are no longer in the store; the walk ended there`,
    addresses: missing,
  }];
}

/** The latest merge on trunk's own line since the bases. */
async function settledManifest(
  reader: ManifestReader,
  trunk: Side,
  branches: readonly BranchSide[],
): Promise<Manifest | undefined> {
  const bases = new Set(branches.map(({ base }) => base));
  let address: Address | undefined = trunk.tip;
  while (address !== undefined && !bases.has(address)) {
    const manifest: Manifest | undefined = await reader.readIfPresent(address);
    if (manifest === undefined || manifest.parents.length > 1) return manifest;
    address = manifest.parents[0];
  }
  return undefined;
}

async function sharedBases(
  reader: ManifestReader,
  ancestry: Ancestry,
  branches: readonly BranchSide[],
): Promise<readonly SharedBase[]> {
  const merging = new Set(branches.map(({ position }) => position));
  const shared: SharedBase[] = [];
  for (const { address, positions, bases, older } of ancestry.sharedApart) {
    const those = positions.filter((position) => merging.has(position));
    if (those.length > 1) {
      const manifest = await reader.read(address);
      const baseManifests = await Promise.all(bases.map((base) => reader.read(base)));
      shared.push({ address, manifest, baseManifests, older, positions: those });
    }
  }
  return shared;
}
