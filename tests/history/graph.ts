import { addressOf } from "../../src/encoding/address.ts";
import type { Address } from "../../src/encoding/address.ts";
import type { Manifest } from "../../src/model/manifest.ts";
import { walkAncestry } from "../../src/history/ancestry.ts";
import type { Ancestry, DepthExceeded } from "../../src/history/ancestry.ts";

/** A Manifest of a drawn history: a name, its parents, and a time when that matters. */
export type Line = readonly [name: string, parents: string, ts?: bigint];

/** A history of Manifests that hold nothing; later lines are newer unless a time says otherwise. */
export class Graph {
  readonly #manifests = new Map<Address, Manifest>();
  readonly #parents = new Map<string, readonly string[]>();
  /** Every address that was read, in order. */
  readonly read: string[] = [];
  readonly #names = new Map<Address, string>();
  readonly #gone = new Set<string>();

  constructor(lines: readonly Line[]) {
    for (const [index, [name, parents, ts]] of lines.entries()) {
      const names = parents.split(" ").filter((parent) => parent !== "");
      this.#parents.set(name, names);
      this.#names.set(addressFor(name), name);
      this.#manifests.set(addressFor(name), {
        ts: ts ?? 1_800_000_000_000_000_000n + BigInt(index),
        writer: "",
        parents: names.map(addressFor),
        timelines: [],
        registry: new Map(),
        tracks: { form: "legacy", active: [] },
        extra: new Map(),
      });
    }
  }

  /** Takes a Manifest out of the store. */
  collect(name: string): this {
    this.#gone.add(name);
    return this;
  }

  manifest(name: string): Manifest {
    const manifest = this.#manifests.get(addressFor(name));
    if (manifest === undefined) throw new Error(`no Manifest ${name}`);
    return manifest;
  }

  name(address: Address): string {
    return this.#names.get(address) ?? address;
  }

  async walk(tips: readonly string[], maxDepth = 1000): Promise<Ancestry | DepthExceeded> {
    return await walkAncestry(
      tips.map((tip) => ({ address: addressFor(tip), manifest: this.manifest(tip) })),
      (address) => {
        const name = this.name(address);
        this.read.push(name);
        return Promise.resolve(this.#gone.has(name) ? undefined : this.#manifests.get(address));
      },
      maxDepth,
    );
  }

  /** The walk's answers by name: common ancestors of all, then of trunk and each branch. */
  async bases(tips: readonly string[], maxDepth?: number): Promise<readonly string[]> {
    const walked = await this.walk(tips, maxDepth);
    if (walked.status === "depth-exceeded") return [`too far: ${walked.tips.join(" ")}`];
    const names = (addresses: readonly Address[]) =>
      addresses.map((address) => this.name(address)).sort().join(" ");
    return [
      names(walked.common),
      ...tips.slice(1).map((_, index) => names(walked.best(0, index + 1))),
    ];
  }

  /** All ancestors of a Manifest that are in the store, itself included. */
  ancestors(name: string): ReadonlySet<string> {
    const found = new Set<string>();
    const waiting = [name];
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      if (found.has(at) || this.#gone.has(at)) continue;
      found.add(at);
      waiting.push(...this.#parents.get(at) ?? []);
    }
    return found;
  }

  /** The best common ancestors of `tips`, found by looking at everything. */
  bestSlowly(tips: readonly string[]): string {
    const [first, ...others] = tips.map((tip) => this.ancestors(tip));
    const common = [...first ?? []].filter((name) => others.every((set) => set.has(name)));
    return common.filter((name) =>
      !common.some((other) => other !== name && this.ancestors(other).has(name))
    ).sort().join(" ");
  }
}

export function addressFor(name: string): Address {
  return addressOf(new TextEncoder().encode(name));
}
