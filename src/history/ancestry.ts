/**
 * The part of the Manifest graph between some tips and their common ancestors.
 *
 * All tips are walked together, newest Manifest first, over all parents. A Manifest that every tip
 * reaches is a common ancestor and the walk stops there: as long as `ts` grows from parent to child
 * nothing behind a common ancestor is read. Where a clock went backwards the walk reads more, but
 * its answer is the same, because reachability is propagated again whenever it grows.
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import type { Manifest } from "../model/manifest.ts";

/** A tip that did not come to a common ancestor within the bound. */
export interface DepthExceeded {
  readonly status: "depth-exceeded";
  /** Positions in `tips`. */
  readonly tips: readonly number[];
  readonly maxDepth: number;
}

/** The walked graph. */
export interface Ancestry {
  readonly status: "walked";
  /** The Manifests that every tip reaches and that are no ancestors of another such. */
  readonly common: readonly Address[];
  /** The best common ancestors of two tips, by their positions in `tips`. */
  best(first: number, second: number): readonly Address[];
  /** Whether `tips[position]` reaches `address`, as far as the graph was walked. */
  reaches(position: number, address: Address): boolean;
  /**
   * Best common ancestors of tips other than the first that the first does not reach: history that
   * branches share and trunk lacks. Each with the positions that reach it, with its own best common
   * ancestors with the first tip, and with those of the others that are its ancestors.
   */
  readonly sharedApart: readonly {
    readonly address: Address;
    readonly positions: readonly number[];
    readonly bases: readonly Address[];
    readonly older: readonly Address[];
  }[];
  /** How many Manifests were visited. */
  readonly visited: number;
}

interface Node {
  readonly address: Address;
  readonly manifest: Manifest;
  /** One bit a tip that reaches this Manifest. */
  reached: bigint;
  /** Steps from the nearest tip of each, undefined when it is not reached. */
  readonly depth: (number | undefined)[];
  expanded: boolean;
  children: Node[];
}

/**
 * Walks from `tips` to their common ancestors.
 *
 * @param tips the tips, each once; tips[0] is trunk's
 * @param read loads a Manifest, or undefined when it was collected: such a parent is a dead end
 * @param maxDepth the most steps from a tip to a common ancestor
 */
export async function walkAncestry(
  tips: readonly { readonly address: Address; readonly manifest: Manifest }[],
  read: (address: Address) => Promise<Manifest | undefined>,
  maxDepth: number,
): Promise<Ancestry | DepthExceeded> {
  const everyTip = (1n << BigInt(tips.length)) - 1n;
  const nodes = new Map<Address, Node>();
  const waiting = new Set<Node>();
  const exceeded = new Set<number>();

  const node = (address: Address, manifest: Manifest): Node => {
    const known = nodes.get(address);
    if (known !== undefined) return known;
    const fresh: Node = {
      address,
      manifest,
      reached: 0n,
      depth: new Array(tips.length),
      expanded: false,
      children: [],
    };
    nodes.set(address, fresh);
    return fresh;
  };
  tips.forEach((tip, position) => {
    const start = node(tip.address, tip.manifest);
    start.reached |= 1n << BigInt(position);
    start.depth[position] = 0;
    waiting.add(start);
  });

  const isCommon = (candidate: Node): boolean => candidate.reached === everyTip;

  /** Hands what reaches `child` on to its parent; true when the parent learnt something. */
  const propagate = (child: Node, parent: Node): boolean => {
    let changed = !parent.children.includes(child);
    if (changed) parent.children.push(child);
    if ((parent.reached | child.reached) !== parent.reached) {
      parent.reached |= child.reached;
      changed = true;
    }
    child.depth.forEach((depth, position) => {
      const before = parent.depth[position];
      if (depth !== undefined && (before === undefined || depth + 1 < before)) {
        parent.depth[position] = depth + 1;
        changed = true;
      }
    });
    return changed;
  };

  const expand = async (child: Node): Promise<void> => {
    // A tip that is out of steps here may have another, shorter way to the base, as trunk has to the
    // base of a long branch that it contains: the walk goes on for those that have steps left.
    if (child.depth.every((depth) => depth === undefined || depth >= maxDepth)) {
      if (!isCommon(child)) {
        child.depth.forEach((depth, position) => {
          if (depth !== undefined) exceeded.add(position);
        });
      }
      return;
    }
    child.expanded = true;
    const parents = await Promise.all(
      [...new Set(child.manifest.parents)].map(async (address) => {
        const known = nodes.get(address);
        const manifest = known === undefined ? await read(address) : known.manifest;
        return manifest === undefined ? undefined : node(address, manifest);
      }),
    );
    for (const parent of parents) {
      if (parent !== undefined && propagate(child, parent)) waiting.add(parent);
    }
  };

  const bestOf = (bits: bigint): Node[] =>
    [...nodes.values()].filter((candidate) =>
      (candidate.reached & bits) === bits &&
      !candidate.children.some((child) => (child.reached & bits) === bits)
    );
  // One common ancestor may turn out to be behind another that has not been expanded: with two or
  // more, of all tips or of trunk and one branch, the walk goes on until that is told.
  const pairs = tips.slice(1).map((_, index) => 1n | 1n << BigInt(index + 1));
  const undecided = (): boolean =>
    waiting.size > 0 && [everyTip, ...pairs].some((bits) => bestOf(bits).length > 1);

  while ([...waiting].some((candidate) => !isCommon(candidate)) || undecided()) {
    const newestFirst = [...waiting].sort((a, b) =>
      a.manifest.ts < b.manifest.ts ? 1 : a.manifest.ts > b.manifest.ts ? -1 : 0
    );
    // A waiting Manifest can become common only through those that are newer. While the newer ones
    // and itself are not reached by every tip, it will have to be expanded whatever comes: all
    // these are read at once.
    const certain: Node[] = [];
    let together = 0n;
    for (const candidate of newestFirst) {
      together |= candidate.reached;
      if (together === everyTip) break;
      certain.push(candidate);
    }
    const next = certain.length > 0 ? certain : newestFirst.slice(0, 1);
    for (const candidate of next) waiting.delete(candidate);
    await Promise.all(next.map(expand));
  }
  const without = [everyTip, ...pairs].some((bits) => bestOf(bits).length === 0);
  if (exceeded.size > 0 && without) {
    return { status: "depth-exceeded", tips: [...exceeded].sort((a, b) => a - b), maxDepth };
  }

  const addressesOf = (bits: bigint): readonly Address[] =>
    bestOf(bits).map(({ address }) => address).sort();

  return {
    status: "walked",
    common: addressesOf(everyTip),
    best: (first, second) => addressesOf((1n << BigInt(first)) | (1n << BigInt(second))),
    reaches: (position, address) =>
      ((nodes.get(address)?.reached ?? 0n) >> BigInt(position) & 1n) === 1n,
    sharedApart: sharedApart(nodes, tips.length),
    visited: nodes.size,
  };
}

/** See `Ancestry`. */
function sharedApart(
  nodes: ReadonlyMap<Address, Node>,
  tipCount: number,
): Ancestry["sharedApart"] {
  const positionsOf = ({ reached }: Node): number[] =>
    Array.from({ length: tipCount }, (_, position) => position)
      .filter((position) => (reached >> BigInt(position) & 1n) === 1n);
  const apart = [...nodes.values()].filter((node) =>
    !ofTrunk(node) && positionsOf(node).length > 1 &&
    !node.children.some((child) => (child.reached & node.reached) === node.reached)
  );
  return apart.map((shared) => {
    const all = apart.length < 2 ? undefined : behind(nodes, shared, ofTrunk);
    return {
      address: shared.address,
      positions: positionsOf(shared),
      bases: basesOf(nodes, shared),
      older: apart.filter((other) => all?.has(other) ?? false).map(({ address }) => address),
    };
  });
}

function ofTrunk({ reached }: Node): boolean {
  return (reached & 1n) === 1n;
}

/** All Manifests that one leads to, but for those behind others for which `stops` holds. */
function behind(
  nodes: ReadonlyMap<Address, Node>,
  first: Node,
  stops: (node: Node) => boolean,
): ReadonlySet<Node> {
  const parentsOf = ({ manifest }: Node) =>
    manifest.parents.flatMap((address) => nodes.get(address) ?? []);
  const found = new Set<Node>();
  const waiting = parentsOf(first);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    if (!stops(next)) waiting.push(...parentsOf(next));
  }
  return found;
}

/** The best common ancestors of a Manifest that trunk does not reach, and trunk. */
function basesOf(nodes: ReadonlyMap<Address, Node>, from: Node): readonly Address[] {
  const met = [...behind(nodes, from, ofTrunk)].filter(ofTrunk);
  const older = met.length < 2 ? [] : met.map((each) => behind(nodes, each, () => false));
  return met.filter((each) => !older.some((all) => all.has(each)))
    .map(({ address }) => address).sort();
}
