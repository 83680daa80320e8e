/**
 * What the algorithms on index trees need to know of a tree: how pages are read and written, in
 * which order entries stand, and how much fits into a page. Index Pages and scalar B-trees differ
 * in all of these and in nothing else.
 *
 * @module
 */

import type { Address } from "../../encoding/address.ts";
import { compareBytes, equalBytes } from "../../encoding/bytes.ts";
import { DreamDBError, isDreamDBError } from "../../errors.ts";
import { malformedObject } from "../../model/malformed.ts";
import type { ChildRecords } from "../../model/child-records.ts";
import type { PageChild, PageEntry } from "../../model/page-entry.ts";
import type { IndexDifference } from "./entry-sets.ts";
import type { NewLeaf } from "./leaf-cut.ts";
import type { KeptPages } from "./kept-pages.ts";

/** Reads a page; the caller checks the hash, bounds concurrency and may cache. */
export type PageLoader = (address: Address) => Promise<Uint8Array>;

/** Takes a new page; pages below come before the page that names them. */
export type PageSink = (address: Address, bytes: Uint8Array) => void | Promise<void>;

/** A tree, as its descriptor in the Track says. */
export interface Tree {
  readonly root: Address;
  /** Levels; 1 when the root is a leaf. */
  readonly height: number;
  readonly pageCount: number;
  readonly entryCount: number;
  /**
   * At least the children of the widest page; 0 when the root is a leaf. Undefined when the
   * descriptor does not say it, as of a B-tree.
   */
  readonly fanout: number | undefined;
}

/** What a page says about a page below it. */
export type TreeChild = PageChild;

/** A decoded page. */
export type TreePage<Entry extends PageEntry> =
  | { readonly leaf: true; readonly entries: readonly Entry[] }
  | {
    readonly leaf: false;
    readonly children: readonly TreeChild[];
    /** Where each of the children stands, of formats whose pages are read beside each other. */
    readonly records?: ChildRecords<TreeChild> | undefined;
  };

/** Measures a page while it is filled. */
export interface PageMeter<Item> {
  /** Adds an item if the page stays within its limits; an empty page takes any item. */
  tryAdd(item: Item): boolean;
  /** Begins a new page. */
  clear(): void;
}

/** How one kind of tree works. */
export interface TreeFormat<Entry extends PageEntry> {
  /** Name of the pages in messages. */
  readonly name: string;
  /** How internal levels are cut when a tree is built as a whole; leaves are filled greedily. */
  readonly internalRule: "greedy" | "even";
  /** Whether the reference, too, builds the tree as a whole when it merges (PAGED 7 and 8). */
  readonly canonical: boolean;

  /** Decoded pages that are kept, of formats that keep them. */
  readonly kept?: KeptPages<Entry> | undefined;

  /** The cell or sort key of an entry; undefined in trees that are ordered by time alone. */
  key(entry: Entry): Uint8Array | undefined;
  /** Makes the format's entry of an index entry with absolute times. */
  entry(entry: PageEntry): Entry;
  /**
   * Decodes a page strictly.
   * @param height levels from this page down; 1 for a leaf
   * @param like pages of one level of another tree, in order: children that are the same there are
   * the same objects in the result
   * @throws DreamDBError malformed-cbor, malformed-object
   */
  decode(
    bytes: Uint8Array,
    height: number,
    address: Address,
    like?: readonly TreePage<Entry>[],
  ): TreePage<Entry>;
  /**
   * What leaves of two trees have that the others lack, when their bytes show it; undefined when
   * they have to be decoded to tell. Entries share no memory with pages.
   */
  compareLeaves?(
    base: readonly TreeChild[],
    side: readonly TreeChild[],
    load: PageLoader,
  ): Promise<IndexDifference<Entry> | undefined>;
  /**
   * The leaves that take the place of a leaf when entries, in the order of a leaf, are put in;
   * undefined when the leaf has to be decoded for it.
   * @throws DreamDBError malformed-object, and what `load` throws
   */
  growLeaf?(
    child: TreeChild,
    added: readonly Entry[],
    load: PageLoader,
  ): Promise<readonly NewLeaf[] | undefined>;
  encodeLeaf(entries: readonly Entry[]): Uint8Array;
  encodeInternal(children: readonly TreeChild[], height: number): Uint8Array;
  /** What the page above says about this one; shares no memory with the page. */
  childOf(page: TreePage<Entry>, address: Address): TreeChild;
  leafMeter(): PageMeter<Entry>;
  internalMeter(): PageMeter<TreeChild>;

  /** The order of entries in a leaf; those it calls equal stay in the order they came. */
  compare(a: Entry, b: Entry): number;
  /**
   * The order that holds across leaves: entries it calls equal form a region (a cell, a start, a
   * value) and may stand in any order in neighbouring leaves.
   */
  compareRegion(a: Entry, b: Entry): number;
  /** Whether children have what `route` needs; pages of the old form do not (PAGED 6). */
  canRoute(children: readonly TreeChild[]): boolean;
  /** Whether a new entry belongs to `child` or a later child, rather than to an earlier one. */
  reaches(child: TreeChild, entry: Entry): boolean;
  /** Whether `entry` can only stand before what is below `child`. */
  isBefore(child: TreeChild, entry: Entry): boolean;
  /** Whether `entry` can only stand after what is below `child`. */
  isAfter(child: TreeChild, entry: Entry): boolean;
}

/** Makes a format's entries of index entries, in the order of a leaf; ties by their bytes. */
export function sortedEntries<Entry extends PageEntry>(
  format: TreeFormat<Entry>,
  entries: Iterable<PageEntry>,
): Entry[] {
  return Array.from(entries, (entry) => format.entry(entry))
    .sort((a, b) => format.compare(a, b) || compareBytes(a.bytes, b.bytes));
}

/** A copy of an entry that does not keep the page it was read from in memory. */
export function detach<Entry extends PageEntry>(format: TreeFormat<Entry>, entry: Entry): Entry {
  const { bytes, group, start, end } = entry;
  return format.entry({ bytes: bytes.slice(), group: group.slice(), start, end });
}

/** How to load a page. */
export interface LoadOptions<Entry extends PageEntry> {
  /** Pages of the same level of another tree; see `decode`. */
  readonly like?: readonly TreePage<Entry>[] | undefined;
  /** Whether a decoded leaf is kept, for a tree that is read again; internal pages always are. */
  readonly keepLeaf?: boolean | undefined;
}

/**
 * Loads a page and checks it against what the page above said about it.
 * @throws DreamDBError malformed-cbor, malformed-object, and what `load` throws
 */
export async function loadPage<Entry extends PageEntry>(
  format: TreeFormat<Entry>,
  load: PageLoader,
  child: TreeChild,
  height: number,
  { like, keepLeaf = false }: LoadOptions<Entry> = {},
): Promise<TreePage<Entry>> {
  const kept = height > 1 || keepLeaf ? format.kept : undefined;
  let page = kept?.get(child.page, height);
  if (page === undefined) {
    const bytes = await load(child.page);
    page = inPage(format.name, child, () => format.decode(bytes, height, child.page, like));
  }
  checkChild(format.name, format.childOf(page, child.page), child);
  kept?.keep(child.page, height, page);
  return page;
}

/** Checks what the page above said about a page. @throws DreamDBError malformed-object */
export function checkChild(name: string, actual: TreeChild, child: TreeChild): void {
  for (const key of ["start", "end", "entryCount"] as const) {
    if (child[key] !== undefined && actual[key] !== undefined && child[key] !== actual[key]) {
      throw malformedObject(
        { kind: name, path: child.page },
        `its ${key} is ${actual[key]}`,
        `${child[key]}, as the page above says`,
      );
    }
  }
  for (const key of ["low", "high"] as const) {
    const said = child[key];
    const found = actual[key];
    if (said !== undefined && (found === undefined || !equalBytes(said, found))) {
      throw malformedObject(
        { kind: name, path: child.page },
        `its ${key} key is not the one that the page above says`,
        "the same key",
      );
    }
  }
}

/** Runs a decoder and has what it throws name the page. */
export function inPage<Decoded>(name: string, child: TreeChild, decode: () => Decoded): Decoded {
  try {
    return decode();
  } catch (error) {
    if (!isDreamDBError(error) || error.fault.code !== "malformed-cbor") throw error;
    const { found, expected, next, offset } = error.fault;
    throw new DreamDBError({
      code: "malformed-object",
      kind: name,
      path: child.page,
      found: `${found} at byte ${offset} of the ${name} ${child.page}`,
      expected,
      next,
    }, { cause: error });
  }
}

/** The root as if a page above it said what the descriptor says. */
export function rootOf(tree: Tree): TreeChild {
  return {
    page: tree.root,
    low: undefined,
    high: undefined,
    start: undefined,
    end: undefined,
    entryCount: tree.entryCount,
  };
}
