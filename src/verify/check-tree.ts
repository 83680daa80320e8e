/**
 * Trees of pages: every page is read, and what the page above and the descriptor say of it must be
 * true (PAGED 4 and 7).
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import { bytesKey } from "../encoding/bytes.ts";
import {
  btreeChildOf,
  btreePageAlgorithm,
  decodeBtreePage,
  encodeBtreePage,
} from "../model/btree-page.ts";
import { pagedKind } from "../model/index-leaf.ts";
import { decodeIndexPage, encodeIndexPage, indexChildOf } from "../model/index-page.ts";
import type { IndexChild } from "../model/index-page.ts";
import type { PageEntry } from "../model/page-entry.ts";
import type { BtreeIndex, PagedIndex } from "../model/track.ts";
import { decodeVideoKeyPage, encodeVideoKeyPage } from "../model/video-key-page.ts";
import type { VideoKeyEntry } from "../model/video-key-page.ts";
import { mapConcurrent } from "../store/limit.ts";
import { indexPagePath, videoItemKeyIndexPath } from "../store/paths.ts";
import type { Field } from "./field.ts";
import type { Place, Verification } from "./verification.ts";

const CHILDREN_AT_ONCE = 8;

/** What is below a page, as it was found. */
export interface TreeSummary {
  readonly height: number;
  readonly pages: number;
  readonly entries: number;
  /** What the page above must say, as text. */
  readonly claim: string;
  /** Nanoseconds; undefined in trees without times. */
  readonly start: bigint | undefined;
  readonly end: bigint | undefined;
}

interface Page<Entry> {
  readonly entries: readonly Entry[];
  readonly children: readonly { readonly page: Address; readonly claim: string }[];
  readonly claim: string;
  readonly start: bigint | undefined;
  readonly end: bigint | undefined;
}

interface Tree<Entry> {
  readonly place: (page: Address) => Place;
  readonly read: (place: Place) => Promise<Page<Entry> | undefined>;
  /** Called for each leaf, once however many Tracks share it. */
  readonly onLeaf: (entries: readonly Entry[]) => Promise<void>;
}

/** Checks a tree of Index Pages against its descriptor. */
export async function checkPagedIndex(
  run: Verification,
  track: Place,
  field: Field,
  index: PagedIndex,
  onLeaf: (entries: readonly PageEntry[]) => Promise<void>,
): Promise<TreeSummary | undefined> {
  const kind = pagedKind(field.kind);
  if (kind === undefined) {
    run.report("index", track, `a paged index of a Track of kind ${field.kind}`);
    return undefined;
  }
  const summary = await checkPage(run, {
    onLeaf,
    place: (address) => pagePlace(field, address),
    async read(place) {
      const context = { kind, modality: field.modality, path: place.path };
      const page = await run.structural(
        place,
        (bytes) => decodeIndexPage(bytes, context),
        (decoded) => encodeIndexPage(decoded, context),
      );
      if (page === undefined) return undefined;
      const { start, end } = page;
      const claim = childClaim(indexChildOf(kind, page, place.address));
      return page.type === "leaf" ? { entries: page.entries, children: [], claim, start, end } : {
        entries: [],
        children: page.children.map((child) => ({ page: child.page, claim: childClaim(child) })),
        claim,
        start,
        end,
      };
    },
  }, index.root);
  compareNumbers(run, track, summary, {
    height: index.treeHeight,
    pages: index.pageCount,
    entries: index.totalItems,
  });
  return summary;
}

/** Checks a scalar B-tree against its descriptor. */
export async function checkBtreeIndex(
  run: Verification,
  track: Place,
  field: Field,
  index: BtreeIndex,
  onLeaf: (entries: readonly PageEntry[]) => Promise<void>,
): Promise<TreeSummary | undefined> {
  const summary = await checkPage(run, {
    onLeaf,
    place: (address) => pagePlace(field, address),
    async read(place) {
      const decoded = await run.structural(
        place,
        (bytes, path) => {
          const algorithm = btreePageAlgorithm(bytes, path);
          return { algorithm, page: decodeBtreePage(bytes, { algorithm, path }) };
        },
        ({ algorithm, page }) => encodeBtreePage(page, algorithm),
      );
      if (decoded === undefined) return undefined;
      const { page } = decoded;
      const { low, high } = btreeChildOf(page, place.address);
      return {
        entries: page.type === "leaf" ? page.entries : [],
        children: page.type === "leaf"
          ? []
          : page.children.map((child) => ({ page: child.page, claim: keyClaim(child) })),
        claim: keyClaim({ low, high }),
        start: undefined,
        end: undefined,
      };
    },
  }, index.root);
  compareNumbers(run, track, summary, {
    height: index.treeHeight,
    pages: index.pageCount,
    entries: index.totalEntries,
  });
  return summary;
}

/** Checks the tree of a VideoItem Track's keys against its descriptor. */
export async function checkKeyIndex(
  run: Verification,
  track: Place,
  field: Field,
  index: PagedIndex,
  onLeaf: (entries: readonly VideoKeyEntry[]) => Promise<void>,
): Promise<void> {
  const summary = await checkPage(run, {
    onLeaf,
    place: (address) => ({
      path: videoItemKeyIndexPath(field.timeline, field.modality, address),
      address,
      kind: "VideoItem key page",
      field: field.name,
    }),
    async read(place) {
      const page = await run.structural(place, decodeVideoKeyPage, encodeVideoKeyPage);
      if (page === undefined) return undefined;
      const entries = page.type === "leaf" ? page.entries : [];
      const children = page.type === "leaf" ? [] : page.children;
      return {
        entries,
        children: children.map((child) => ({
          page: child.page,
          claim: `${bytesKey(child.low)} ${bytesKey(child.high)}`,
        })),
        claim: `${bytesKey(entries[0]?.key ?? children[0]?.low ?? new Uint8Array(0))} ${
          bytesKey(entries.at(-1)?.key ?? children.at(-1)?.high ?? new Uint8Array(0))
        }`,
        start: undefined,
        end: undefined,
      };
    },
  }, index.root);
  compareNumbers(run, track, summary, {
    height: index.treeHeight,
    pages: index.pageCount,
    entries: index.totalItems,
  });
}

function pagePlace(field: Field, address: Address): Place {
  return {
    path: indexPagePath(field.timeline, field.modality, address),
    address,
    kind: "index page",
    field: field.name,
  };
}

function childClaim({ start, end, entryCount, low, high }: IndexChild): string {
  const cells = [low, high]
    .map((cell) => cell === undefined ? "" : new TextDecoder().decode(cell)).join(" to ");
  return `from ${start} to ${end}, ${entryCount} entries, cells ${cells}`;
}

function keyClaim(child: { readonly low: Uint8Array; readonly high: Uint8Array }): string {
  return `keys ${Buffer.from(child.low).toString("hex")} to ${
    Buffer.from(child.high).toString("hex")
  }`;
}

/** Old internal pages say nothing of cells (PAGED 4.2). */
function claimsAgree(said: string, found: string): boolean {
  return said === found || (said.endsWith("cells  to ") && found.startsWith(said.slice(0, -4)));
}

function checkPage<Entry>(
  run: Verification,
  tree: Tree<Entry>,
  address: Address,
): Promise<TreeSummary | undefined> {
  const place = tree.place(address);
  return run.once(`tree ${place.path}`, async () => {
    const page = await tree.read(place);
    if (page === undefined) return undefined;
    const { claim, start, end } = page;
    if (page.children.length === 0) {
      await tree.onLeaf(page.entries);
      return { height: 1, pages: 1, entries: page.entries.length, claim, start, end };
    }
    const below = await mapConcurrent(
      page.children,
      CHILDREN_AT_ONCE,
      (child) => checkPage(run, tree, child.page),
      run.scope.signal,
    );
    const summaries = below.filter((summary) => summary !== undefined);
    below.forEach((summary, index) => {
      const said = page.children[index]?.claim ?? "";
      if (summary === undefined || claimsAgree(said, summary.claim)) return;
      run.report("index", place, `child ${index} is said to be ${said}; it is ${summary.claim}`);
    });
    if (new Set(summaries.map(({ height }) => height)).size > 1) {
      run.report("index", place, "the children are trees of different heights");
    }
    // Of a tree with a page missing nothing more can be said.
    if (summaries.length < below.length) return undefined;
    return {
      height: 1 + Math.max(...summaries.map(({ height }) => height)),
      pages: 1 + summaries.reduce((sum, { pages }) => sum + pages, 0),
      entries: summaries.reduce((sum, { entries }) => sum + entries, 0),
      claim,
      start,
      end,
    };
  });
}

function compareNumbers(
  run: Verification,
  track: Place,
  found: TreeSummary | undefined,
  said: { readonly height: number; readonly pages: number; readonly entries: number },
): void {
  if (found === undefined) return;
  for (const name of ["height", "pages", "entries"] as const) {
    if (found[name] === said[name]) continue;
    run.report("index", track, `the Track says ${name} ${said[name]}; its tree has ${found[name]}`);
  }
}
