/**
 * The format of Index Page trees: SpatialBucket, Fragment, event and VideoItem Tracks (PAGED 4, 5).
 *
 * @module
 */

import { compareBytes } from "../../encoding/bytes.ts";
import { comparePageEntries, leafEntryFixedLength } from "../../model/index-leaf.ts";
import type { PagedKind } from "../../model/index-leaf.ts";
import {
  decodeIndexPage,
  encodeIndexInternal,
  encodeIndexLeaf,
  indexChildLength,
} from "../../model/index-page.ts";
import type { IndexChild } from "../../model/index-page.ts";
import { malformedObject } from "../../model/malformed.ts";
import { uintLength } from "../../model/page-entry.ts";
import type { PageEntry } from "../../model/page-entry.ts";
import { KeptPages, recordsOf } from "./kept-pages.ts";
import { spatialLeaves } from "./spatial-leaves.ts";
import type { PageMeter, TreeChild, TreeFormat, TreePage } from "./tree-format.ts";

/** Bytes at which the reference calls a page full (PAGED 5). */
export const INDEX_PAGE_TARGET = 16_384;

/** Map head, keys and type of a leaf; an internal page's type is four bytes longer. */
const LEAF_FRAME = 1 + 5 + 5 + 6 + 6 + 8 + 9;
const INTERNAL_FRAME = LEAF_FRAME + 4;

/**
 * The format of one Track's Index Pages.
 * @param modality the Track's modality, repeated in every page
 * @param pageTarget bytes that a page of several items does not exceed
 */
export function indexFormat(
  kind: PagedKind,
  modality: string,
  pageTarget = INDEX_PAGE_TARGET,
): TreeFormat<PageEntry> {
  const spatial = kind === "spatial-bucket";
  const modalityLength = new TextEncoder().encode(modality).length;
  const tail = uintLength(modalityLength) + modalityLength;
  return {
    name: "Index Page",
    internalRule: "even",
    canonical: false,
    ...(spatial ? spatialLeaves(modality, pageTarget) : {}),
    key: (entry) => spatial ? entry.group : undefined,
    entry: (entry) => entry,
    kept: new KeptPages(),
    decode(bytes, height, address, like = []): TreePage<PageEntry> {
      const page = decodeIndexPage(bytes, {
        kind,
        modality,
        path: address,
        like: recordsOf<IndexChild>(like),
      });
      if ((page.type === "leaf") !== (height === 1)) {
        throw malformedObject(
          { kind: "Index Page", path: address },
          `a page of type "${page.type}" with ${height} levels to go`,
          "leaves in the last level only, as tree_height says",
        );
      }
      return page.type === "leaf"
        ? { leaf: true, entries: page.entries }
        : { leaf: false, children: page.children, records: page.records };
    },
    encodeLeaf: (entries) => encodeIndexLeaf(kind, modality, entries),
    encodeInternal: (children) => encodeIndexInternal(modality, children),
    childOf(page, address) {
      const items = page.leaf ? page.entries : page.children;
      let start: bigint | undefined;
      let end: bigint | undefined;
      for (const item of items) {
        if (item.start !== undefined && (start === undefined || item.start < start)) {
          start = item.start;
        }
        if (item.end !== undefined && (end === undefined || item.end > end)) end = item.end;
      }
      const entryCount = page.leaf
        ? page.entries.length
        : page.children.reduce((total, child) => total + (child.entryCount ?? 0), 0);
      const [low, high] = !spatial
        ? [undefined, undefined]
        : page.leaf
        ? [page.entries[0]?.group.slice(), page.entries.at(-1)?.group.slice()]
        : [page.children[0]?.low, page.children.at(-1)?.high];
      return { page: address, low, high, start, end, entryCount };
    },
    leafMeter: () => new LeafMeter(kind, pageTarget - LEAF_FRAME - tail),
    internalMeter: () => new InternalMeter(pageTarget - INTERNAL_FRAME - tail),
    compare: (a, b) => comparePageEntries(kind, a, b),
    compareRegion: (a, b) => spatial ? compareBytes(a.group, b.group) : compareTimes(a, b),
    canRoute: (children) => !spatial || children.every((child) => child.low !== undefined),
    reaches(child, entry) {
      if (!spatial) return child.start !== undefined && child.start <= entry.start;
      return child.low !== undefined && compareBytes(child.low, entry.group) <= 0;
    },
    isBefore(child, entry) {
      if (!spatial) return child.start !== undefined && entry.start < child.start;
      return child.low !== undefined && compareBytes(entry.group, child.low) < 0;
    },
    isAfter(child, entry) {
      if (!spatial) return child.end !== undefined && entry.start >= child.end;
      return child.high !== undefined && compareBytes(entry.group, child.high) > 0;
    },
  };
}

function compareTimes(a: PageEntry, b: PageEntry): number {
  return a.start < b.start ? -1 : a.start > b.start ? 1 : 0;
}

/** Sizes of a leaf whose `t_min`, and with it every relative start, follows its entries. */
class LeafMeter implements PageMeter<PageEntry> {
  readonly #kind: PagedKind;
  readonly #room: number;
  #starts: bigint[] = [];
  #fixed = 0;
  #relative = 0;
  #start = 0n;
  #end = 0n;

  constructor(kind: PagedKind, room: number) {
    this.#kind = kind;
    this.#room = room;
  }

  tryAdd(entry: PageEntry): boolean {
    const first = this.#starts.length === 0;
    const start = first || entry.start < this.#start ? entry.start : this.#start;
    const end = first || entry.end > this.#end ? entry.end : this.#end;
    const fixed = this.#fixed + leafEntryFixedLength(this.#kind, entry);
    let relative = uintLength(entry.start - start);
    if (start === this.#start) relative += this.#relative;
    else for (const other of this.#starts) relative += uintLength(other - start);
    const size = uintLength(start) + uintLength(end) + uintLength(this.#starts.length + 1) +
      fixed + relative;
    if (!first && size > this.#room) return false;
    this.#starts.push(entry.start);
    this.#fixed = fixed;
    this.#relative = relative;
    this.#start = start;
    this.#end = end;
    return true;
  }

  clear(): void {
    this.#starts = [];
    this.#fixed = 0;
    this.#relative = 0;
  }
}

/** Sizes of an internal page, whose children have absolute times. */
class InternalMeter implements PageMeter<TreeChild> {
  readonly #room: number;
  #count = 0;
  #length = 0;
  #start = 0n;
  #end = 0n;

  constructor(room: number) {
    this.#room = room;
  }

  tryAdd(child: TreeChild): boolean {
    const first = this.#count === 0;
    const childStart = child.start ?? 0n;
    const childEnd = child.end ?? 0n;
    const start = first || childStart < this.#start ? childStart : this.#start;
    const end = first || childEnd > this.#end ? childEnd : this.#end;
    const length = this.#length + indexChildLength(child);
    const size = uintLength(start) + uintLength(end) + uintLength(this.#count + 1) + length;
    if (!first && size > this.#room) return false;
    this.#count++;
    this.#length = length;
    this.#start = start;
    this.#end = end;
    return true;
  }

  clear(): void {
    this.#count = 0;
    this.#length = 0;
  }
}
