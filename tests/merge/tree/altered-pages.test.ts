import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { encodeCanonical } from "../../../src/encoding/cbor-encode.ts";
import type { CborValue } from "../../../src/encoding/cbor-value.ts";
import { runJson } from "../../cli/support.ts";
import { backendUrl } from "../../support/fixtures.ts";
import { alteredStore } from "./altered-store.ts";
import type { Alteration, AlteredStore, Fields } from "./altered-store.ts";

type Item = readonly CborValue[];

/** An alteration, which object the fault must name, and what it must say of it. */
interface Row {
  readonly name: string;
  readonly alteration: Alteration;
  readonly names?: "leaf" | "root" | "track" | "page";
  readonly says: RegExp;
  /** Whose tree is altered; a branch's unless a comparison with it cannot tell. */
  readonly ref?: string;
}

const set = (key: string, value: CborValue) => (page: Fields): Fields => page.set(key, value);
const add = (key: string, by: bigint) => (page: Fields): Fields =>
  page.set(key, page.get(key) as bigint + by);
const without = (key: string) => (page: Fields): Fields => {
  page.delete(key);
  return page;
};
const items = (change: (items: readonly Item[]) => readonly Item[]) => (page: Fields): Fields =>
  page.set("entries", change(page.get("entries") as readonly Item[]));
/** Changes one entry or child, the first one unless `at` says another. */
const item = (change: (item: Item) => Item, at = 0) =>
  items((all) => all.map((one, index) => index === at ? change(one) : one));
const child = (change: (item: Item) => Item) => (page: Fields, at: number): Fields =>
  item(change, at)(page);
const element = (position: number, change: (value: CborValue) => CborValue) => (one: Item): Item =>
  one.map((value, index) => index === position ? change(value) : value);
const plus = (by: bigint) => (value: CborValue): CborValue => value as bigint + by;
const swapped = (all: readonly Item[]): readonly Item[] => {
  const [a, b, ...rest] = all;
  return a === undefined || b === undefined ? all : [b, a, ...rest];
};
const reversed = (all: readonly Item[]): readonly Item[] => all.toReversed();
const twice = (_page: Fields, at: number) =>
  items((all) => all.flatMap((one, index) => index === at ? [one, one] : [one]))(_page);
/** The same map with its keys turned round, which is not canonical. */
const turnedRound = (page: Fields): Uint8Array =>
  Buffer.concat([
    Uint8Array.of(0xa0 + page.size),
    ...[...page].toReversed().flatMap(([key, value]) => [
      encodeCanonical(key),
      encodeCanonical(value),
    ]),
  ]);
const followed = (page: Fields): Uint8Array =>
  Buffer.concat([encodeCanonical(page), Uint8Array.of(0)]);
/** The first integer of the page in nine bytes, which is not the shortest form. */
const longInteger = (page: Fields): Uint8Array => {
  const mark = "mark of the integer";
  const key = page.has("t_max") ? "t_max" : "level";
  const value = page.get(key) as bigint;
  const bytes = Buffer.from(encodeCanonical(page.set(key, mark)));
  const at = bytes.indexOf(Buffer.from(encodeCanonical(mark)));
  const long = Buffer.alloc(9, 0x1b);
  long.writeBigUInt64BE(value, 1);
  // An anchor takes nine bytes anyway; one byte more makes it wrong in either case.
  const wrong = value > 0xffff_ffffn ? Buffer.concat([Buffer.of(0xc2), long]) : long;
  return Buffer.concat([bytes.subarray(0, at), wrong, bytes.subarray(at + mark.length + 1)]);
};

/** What holds for all kinds of pages. */
const everyKind: readonly Row[] = [
  { name: "a page is missing", alteration: { removeLeaf: true }, names: "leaf", says: /no object/ },
  { name: "a leaf has an unknown key", alteration: { leaf: set("zz", 1n) }, says: /5|6 fields/ },
  { name: "a root has an unknown key", alteration: { root: set("zz", 1n) }, says: /5|6 fields/ },
  { name: "a leaf lacks a key", alteration: { leaf: without("entries") }, says: /fields/ },
  { name: "a leaf's type is unknown", alteration: { leaf: set("type", "twig") }, says: /"twig"/ },
  {
    name: "a leaf is empty",
    alteration: { leaf: set("entries", []) },
    says: /no entries|0 entries/,
  },
  {
    name: "a root is empty",
    alteration: { root: set("entries", []) },
    says: /no entries|0 entries/,
  },
  { name: "bytes follow a page", alteration: { leaf: followed }, says: /after the object/ },
  { name: "the keys are turned round", alteration: { leaf: turnedRound }, says: /the next key/ },
  { name: "an integer is not the shortest", alteration: { leaf: longInteger }, says: /byte \d+/ },
  {
    name: "the leaf of a leaf's level is said to be internal",
    alteration: { leaf: set("type", "internal") },
    says: /elements|type "internal"/,
  },
  {
    name: "an entry lacks an element",
    alteration: { leaf: item((one) => one.slice(0, -1)) },
    says: /elements|CBOR|expected/,
  },
  {
    name: "an entry has an element too many",
    alteration: { leaf: item((one) => [...one, "more"]) },
    says: /elements|byte \d+/,
  },
  { name: "entries are out of order", alteration: { leaf: items(reversed) }, says: /out of order/ },
  { name: "children are swapped", alteration: { root: items(swapped) }, says: /out of order/ },
  {
    name: "tree_height is too high",
    alteration: { descriptor: add("tree_height", 1n) },
    names: "page",
    says: /level/,
  },
  {
    name: "tree_height is too low",
    alteration: { descriptor: set("tree_height", 1n) },
    names: "track",
    says: /one level/,
  },
  {
    name: "page_count is too high",
    alteration: { descriptor: add("page_count", 1n) },
    names: "root",
    says: /pages with the root/,
  },
  {
    name: "page_count is too low",
    alteration: { descriptor: add("page_count", -1n) },
    names: "root",
    says: /pages with the root/,
  },
  {
    name: "the descriptor has an unknown key",
    alteration: { descriptor: set("colour", 1n) },
    names: "track",
    says: /colour/,
  },
  {
    name: "the descriptor lacks a key",
    alteration: { descriptor: without("page_count") },
    names: "track",
    says: /page_count/,
  },
  {
    name: "the descriptor's form is unknown",
    alteration: { descriptor: set("form", "heap") },
    names: "track",
    says: /heap/,
  },
];

const times: readonly Row[] = [
  {
    name: "a leaf is of another modality",
    alteration: { leaf: set("modality", "m") },
    says: /"m"/,
  },
  {
    name: "a root is of another modality",
    alteration: { root: set("modality", "m") },
    says: /"m"/,
  },
  { name: "a leaf's t_min is wrong", alteration: { leaf: add("t_min", -1n) }, says: /t_min/ },
  { name: "a leaf's t_max is wrong", alteration: { leaf: add("t_max", 1n) }, says: /t_max/ },
  { name: "a root's t_min is wrong", alteration: { root: add("t_min", -1n) }, says: /t_min/ },
  { name: "a root's t_max is wrong", alteration: { root: add("t_max", 1n) }, says: /t_max/ },
  {
    name: "a child's item_count is wrong",
    alteration: { root: child(element(3, plus(1n))), descriptor: add("total_items", 1n) },
    says: /entryCount/,
  },
  {
    name: "the same leaf stands twice",
    alteration: { root: twice, descriptor: add("page_count", 1n) },
    names: "root",
    says: /entryCount|out of order/,
  },
  {
    name: "total_items is too high",
    alteration: { descriptor: add("total_items", 1n) },
    names: "root",
    says: /entryCount/,
  },
  {
    name: "total_items is too low",
    alteration: { descriptor: add("total_items", -1n) },
    names: "root",
    says: /entryCount/,
  },
  {
    name: "the fanout is 0",
    alteration: { descriptor: set("fanout", 0n) },
    names: "root",
    says: /fanout/,
  },
  {
    name: "the fanout is below the widest page",
    alteration: { descriptor: set("fanout", 2n) },
    names: "root",
    says: /fanout/,
  },
];

const kinds: readonly { readonly store: string; readonly rows: readonly Row[] }[] = [
  {
    store: "paged-spatial",
    rows: [
      ...everyKind,
      ...times,
      {
        name: "an entry takes no time",
        alteration: { leaf: item(element(2, () => 0n)) },
        says: /start below the end/,
      },
      {
        name: "a cell is no text of 0 and 1",
        alteration: { leaf: item(element(0, () => "0x")) },
        says: /"0x"/,
      },
      {
        name: "a child's first_cell is wrong",
        alteration: { root: child(element(4, (cell) => `${cell as string}0`)) },
        says: /low key|out of order/,
      },
      {
        name: "a child's last_cell is wrong",
        alteration: { root: child(element(5, (cell) => `${cell as string}0`)) },
        says: /high key|out of order/,
      },
      {
        name: "a child has five elements",
        alteration: { root: child((one) => one.slice(0, 5)) },
        says: /5 elements/,
      },
      {
        name: "a leaf is larger than the hard cap",
        alteration: {
          leaf: item((one) => [`0${"0".repeat(1 << 20)}`, ...one.slice(1)]),
        },
        says: /at most 1048576/,
      },
    ],
  },
  {
    store: "paged-fragment",
    rows: [
      ...everyKind,
      ...times,
      {
        name: "an entry takes no time",
        alteration: { leaf: item(element(1, () => 0n)) },
        says: /start below the end/,
      },
      {
        name: "a child's t_min is wrong",
        alteration: { root: child(element(0, plus(1n))) },
        says: /its start|t_min/,
      },
      {
        name: "a child has the six elements of a spatial one",
        alteration: { root: child((one) => [...one, "0", "1"]) },
        says: /6 elements/,
      },
    ],
  },
  {
    store: "scalar-btree",
    rows: [
      ...everyKind,
      { name: "a leaf's level is wrong", alteration: { leaf: set("level", 1n) }, says: /level 1/ },
      { name: "a root's level is wrong", alteration: { root: set("level", 2n) }, says: /level 2/ },
      {
        name: "the algorithm is another one",
        alteration: { leaf: set("algorithm", "dreamdb.btree-string") },
        says: /btree-string/,
      },
      {
        name: "a key is of another type",
        alteration: { leaf: item(element(0, () => encodeCanonical("text"))) },
        says: /text|key/,
      },
      {
        name: "a key is not in its shortest form",
        alteration: { leaf: item(element(0, () => Uint8Array.of(0x18, 0x01))) },
        says: /key|shortest|byte/,
      },
      {
        name: "an entry has five elements",
        alteration: { leaf: item((one) => one.slice(0, 5)) },
        says: /5 elements/,
      },
      {
        name: "an entry ends before it begins",
        alteration: { leaf: item(element(2, () => 1n)) },
        says: /start below the end/,
      },
      {
        name: "a child's low key is wrong",
        alteration: { root: child(element(0, () => new Uint8Array(8))) },
        says: /low key|out of order/,
      },
      {
        name: "a child's high key is wrong",
        alteration: { root: child(element(1, () => new Uint8Array(8).fill(255))) },
        says: /high key|out of order/,
      },
      {
        name: "a sort key has seven bytes",
        alteration: { root: child(element(0, () => new Uint8Array(7))) },
        says: /7 bytes/,
      },
      {
        name: "a page is larger than 65,536 bytes",
        alteration: {
          leaf: items((all) => Array.from({ length: 2000 }, () => all[0] ?? [])),
        },
        says: /at most 65536/,
      },
      {
        name: "a page has more children than the index allows",
        alteration: {
          root: (page, at) =>
            items((all) => Array.from({ length: 257 }, () => all[at] ?? []))(page),
          descriptor: set("page_count", 258n),
        },
        says: /257 entries/,
      },
      {
        name: "total_entries of a branch is wrong",
        alteration: { descriptor: add("total_entries", 1n) },
        names: "root",
        says: /entryCount/,
      },
      {
        name: "total_entries of trunk is wrong",
        alteration: { descriptor: add("total_entries", 1n) },
        names: "root",
        says: /entryCount/,
        ref: "trunk-before",
      },
      {
        name: "the same leaf stands twice",
        alteration: { root: twice, descriptor: add("page_count", 1n) },
        names: "root",
        says: /out of order|entryCount/,
      },
    ],
  },
];

async function mergeOf({ folder }: Pick<AlteredStore, "folder">) {
  return await runJson([
    ...["merge-many", "--backend", backendUrl(folder), "--ref", "trunk-before"],
    ...["--branches", "w0,w1", "--buckets", "keep"],
  ]);
}

function namedBy(store: AlteredStore, names: "leaf" | "root" | "track" | undefined): string[] {
  return names === undefined ? [store.leaf, store.root] : [store[names]];
}

describe.each([...kinds])("merge-many over $store ends with 9, page and reason, when", (kind) => {
  test.each(kind.rows.map((row) => ({ ...row })))("$name", async (row) => {
    const ref = row.ref ?? "w0";
    const store = alteredStore(kind.store, ref, row.alteration);
    const before = readFileSync(join(store.folder, "refs/trunk-before"), "hex");
    const { exitCode, document } = await mergeOf(store);
    const error = document["error"] as { readonly message: string; readonly path?: string } | null;
    expect([exitCode, error?.message]).toEqual([9, expect.stringMatching(row.says)]);
    const address = error?.path?.split("/").at(-1) ?? "";
    if (row.names === "page") expect(address).toMatch(/^d[a-z2-7]{52}$/);
    // The altered page is not the only one that can be at fault: what its parent says is, too.
    else expect(namedBy(store, row.names)).toContain(address);
    expect(readFileSync(join(store.folder, "refs/trunk-before"), "hex")).toBe(before);
  });
});

describe("merge-many takes what readers must take (PAGED 6):", () => {
  const rows: readonly {
    readonly name: string;
    readonly store: string;
    readonly alteration: Alteration;
  }[] = [
    { name: "nothing altered, spatial", store: "paged-spatial", alteration: {} },
    { name: "nothing altered, Fragments", store: "paged-fragment", alteration: {} },
    { name: "nothing altered, B-tree", store: "scalar-btree", alteration: {} },
    {
      name: "a fanout above the widest page",
      store: "paged-spatial",
      alteration: { descriptor: add("fanout", 40n) },
    },
    {
      name: "children of the old form, without cells",
      store: "paged-spatial",
      alteration: { root: items((all) => all.map((one) => one.slice(0, 4))) },
    },
  ];
  test.each(rows.map((row) => ({ ...row })))("$name", async ({ store, alteration }) => {
    for (const ref of ["w0", "trunk-before"]) {
      const { exitCode, document } = await mergeOf(alteredStore(store, ref, alteration));
      expect([exitCode, document["status"], document["error"]]).toEqual([0, "merged", null]);
    }
  });
});
