/**
 * The sides of a merge: trunk and the branches, each with the Manifest it stands at and, for a
 * branch, the Manifest from which its changes are counted.
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import type { Ancestry } from "../history/ancestry.ts";
import type { Manifest } from "../model/manifest.ts";

/** One side. */
export interface Side {
  /** Position in the walk of the ancestry; trunk is 0. */
  readonly position: number;
  /** The ref's name. */
  readonly name: string;
  readonly tip: Address;
  readonly manifest: Manifest;
}

/** A branch; `base` is the best common ancestor of trunk and it. */
export interface BranchSide extends Side {
  readonly base: Address;
  readonly baseManifest: Manifest;
}

/** All sides, the history between them, and what trunk had settled before this round. */
export interface Sides {
  readonly trunk: Side;
  readonly branches: readonly BranchSide[];
  readonly ancestry: Ancestry;
  /**
   * The Manifest of trunk's latest merge since the bases, if any: what trunk got by it counts as
   * settled, and a new round does not fuse it once more.
   */
  readonly settled: Manifest | undefined;
  /**
   * For branches that share history which trunk does not have: the Manifests at which that history
   * ends, with the branches (positions) that grew from each.
   */
  readonly shared: readonly SharedBase[];
}

/** A best common ancestor of two or more branches that trunk has not. */
export interface SharedBase {
  readonly address: Address;
  readonly manifest: Manifest;
  /** Its own best common ancestors with trunk: what they lack was added in shared history. */
  readonly baseManifests: readonly Manifest[];
  /** Those of the other shared bases that are its ancestors. */
  readonly older: readonly Address[];
  readonly positions: readonly number[];
}
