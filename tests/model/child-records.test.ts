import { describe, expect, test } from "bun:test";
import fc from "fast-check";

import { addressOf } from "../../src/encoding/address.ts";
import { decodeBtreePage, encodeBtreeInternal } from "../../src/model/btree-page.ts";
import type { BtreeChild } from "../../src/model/btree-page.ts";
import type { ChildRecords } from "../../src/model/child-records.ts";
import { decodeIndexPage, encodeIndexInternal } from "../../src/model/index-page.ts";
import type { IndexChild } from "../../src/model/index-page.ts";
import type { PageChild } from "../../src/model/page-entry.ts";

const TIME = 1_800_000_000_000_000_000n;
const pageOf = (number: number) => addressOf(Uint8Array.of(number));
const textOf = (number: number) => new TextEncoder().encode(number.toString(2).padStart(8, "0"));

/** One kind of internal page with children numbered by where they stand and what they name. */
interface Kind {
  readonly name: string;
  readonly child: (place: number, page: number) => PageChild;
  readonly encode: (children: readonly PageChild[]) => Uint8Array;
  readonly decode: (
    bytes: Uint8Array,
    like?: readonly ChildRecords<PageChild>[],
  ) => ChildRecords<PageChild>;
}

const none = { start: undefined, end: undefined, entryCount: undefined } as const;
const spatial = { kind: "spatial-bucket", modality: "m" } as const;
const kinds: readonly Kind[] = [
  {
    name: "spatial Index Pages",
    child: (place, page) => ({
      page: pageOf(page),
      low: textOf(place),
      high: textOf(place),
      start: TIME + BigInt(page),
      end: TIME + BigInt(page + 1),
      entryCount: page,
    }),
    encode: (children) => encodeIndexInternal("m", children),
    decode(bytes, like) {
      const page = decodeIndexPage(bytes, {
        ...spatial,
        like: like as readonly ChildRecords<IndexChild>[],
      });
      if (page.type === "leaf") throw new Error("an internal page was made");
      return page.records;
    },
  },
  {
    name: "B-tree pages",
    child: (place, page) => ({
      page: pageOf(page),
      low: textOf(place),
      high: textOf(place),
      ...none,
    }),
    encode: (children) => encodeBtreeInternal("dreamdb.btree-int64", 1, children),
    decode(bytes, like) {
      const page = decodeBtreePage(bytes, {
        algorithm: "dreamdb.btree-int64",
        like: like as readonly ChildRecords<BtreeChild>[],
      });
      if (page.type === "leaf") throw new Error("an internal page was made");
      return page.records;
    },
  },
];

/** Pages of one level: children in order, some places more than once, cut into pages. */
const level = fc.array(fc.tuple(fc.nat(60), fc.nat(5)), { minLength: 1, maxLength: 40 })
  .map((children) => [...children].sort(([a], [b]) => a - b));
const cuts = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 40, maxLength: 40 });

function cut<Item>(items: readonly Item[], lengths: readonly number[]): Item[][] {
  const pieces: Item[][] = [];
  for (let from = 0; from < items.length;) {
    const length = lengths[pieces.length] ?? 1;
    pieces.push(items.slice(from, from + length));
    from += length;
  }
  return pieces;
}

describe.each(kinds)("children of $name, read beside another version", (kind) => {
  const pages = (children: readonly (readonly [number, number])[], lengths: readonly number[]) =>
    cut(children.map(([place, page]) => kind.child(place, page)), lengths).map(kind.encode);

  test("are what they are without it, and the same objects where they are the same bytes", () => {
    let met = 0;
    fc.assert(
      fc.property(level, cuts, level, cuts, fc.boolean(), (old, oldCuts, own, ownCuts, related) => {
        // A version that has most children of the other, or one that has nothing to do with it.
        const next = related ? [...old, ...own.slice(0, 3)].sort(([a], [b]) => a - b) : own;
        const known = pages(old, oldCuts).map((bytes) => kind.decode(bytes));
        const objects = new Set(known.flatMap(({ children }) => children));
        for (const bytes of pages(next, ownCuts)) {
          const alone = kind.decode(bytes);
          const beside = kind.decode(bytes, known);
          expect([beside.children, beside.offsets]).toEqual([alone.children, alone.offsets]);
          met += beside.children.filter((child) => objects.has(child)).length;
        }
      }),
      { numRuns: 300 },
    );
    expect(met).toBeGreaterThan(200);
  });

  test("are refused as without it", () => {
    let refused = 0;
    const outcome = (bytes: Uint8Array, like?: readonly ChildRecords<PageChild>[]) => {
      try {
        return kind.decode(bytes, like).children;
      } catch (error) {
        return String(error);
      }
    };
    fc.assert(
      fc.property(level, cuts, fc.nat(5_000), fc.nat(255), (children, lengths, at, byte) => {
        const known = pages(children, lengths).map((bytes) => kind.decode(bytes));
        for (const bytes of pages(children, lengths)) {
          bytes[at % bytes.length] = byte;
          const alone = outcome(bytes);
          if (typeof alone === "string") refused++;
          expect(outcome(bytes, known)).toEqual(alone);
        }
      }),
      { numRuns: 500 },
    );
    expect(refused).toBeGreaterThan(200);
  });
});
