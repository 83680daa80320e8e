import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

import { addressOf } from "../../src/encoding/address.ts";
import { equalBytes } from "../../src/encoding/bytes.ts";
import { btreePageAlgorithm, decodeBtreePage } from "../../src/model/btree-page.ts";
import { parseIndexEntry, readIndexEntries } from "../../src/model/index-entry.ts";
import type { IndexEntry } from "../../src/model/index-entry.ts";
import {
  anchorSetForm,
  decodeAnchorSet,
  encodeAnchorArray,
  encodeAnchorSet,
} from "../../src/model/scalar-bucket.ts";
import { trackKindOf } from "../../src/model/track-kind.ts";
import { decodeTrack } from "../../src/model/track.ts";
import { listFiles, unpackFixture } from "../support/fixtures.ts";
import { classify } from "./classes.ts";
import { treeObjects } from "./tree-fixtures.ts";

const folders = (root: string): string[] =>
  readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(root, entry.name));

const stores = folders(unpackFixture("stores"));
const collections: readonly [string, readonly string[]][] = [
  ["stores", stores.filter((store) => basename(store) !== "tomb3")],
  ["legacy stores", folders(unpackFixture("legacy-stores")).flatMap(folders)],
  ["paged stores", folders(unpackFixture("paged-stores"))],
];

const TIMEOUT = 60_000;

const isObject = (path: string) => /(^|\/)d[a-z2-7]{52}$/.test(path) && !path.startsWith("bao");

describe("every object of a known class is encoded to the bytes it was decoded from", () => {
  test.each(collections)("%s", (name, roots) => {
    const counts = new Map<string, number>();
    for (const root of roots) {
      for (const path of listFiles(root).filter(isObject)) {
        const found = classify(path);
        const label = found?.objectClass.name ?? "payload, not read";
        counts.set(label, (counts.get(label) ?? 0) + 1);
        if (found === undefined) continue;
        const bytes = read(root, path);
        const again = found.objectClass.codec(bytes, path, found.modality);
        expect([path, addressOf(again) as string]).toEqual([path, basename(path)]);
      }
    }
    console.log(`${name}: ${[...counts].sort().map(([k, n]) => `${k} ${n}`).join(", ")}`);
    expect(counts.get("Manifest") ?? 0).toBeGreaterThan(0);
  }, TIMEOUT);
});

test("every page of the reference's own trees", () => {
  const counts = new Map<string, number>();
  for (const { path, file } of treeObjects()) {
    const found = classify(path);
    const label = found?.objectClass.name ?? "unknown";
    counts.set(label, (counts.get(label) ?? 0) + 1);
    const bytes = new Uint8Array(readFileSync(file));
    const again = found?.objectClass.codec(bytes, path, found.modality) ?? bytes;
    expect([path, addressOf(again) as string]).toEqual([path, basename(path)]);
  }
  console.log([...counts].sort().map(([k, n]) => `${k} ${n}`).join(", "));
  expect([...counts.keys()].sort()).toEqual([
    "Track",
    "VideoItem key page",
    "index page",
    "tombstones",
  ]);
}, TIMEOUT);

describe("every anchor set that an index names", () => {
  test.each(collections)("%s", (name, roots) => {
    const forms = new Map<string, number>();
    for (const root of roots) {
      for (const [path, entry] of scalarEntries(root)) {
        const object = read(root, path);
        const set = entry.slice === undefined
          ? object
          : object.subarray(entry.slice.offset, entry.slice.offset + entry.slice.length);
        const form = anchorSetForm(set, path);
        forms.set(form, (forms.get(form) ?? 0) + 1);
        const anchors = decodeAnchorSet(set, path);
        const again = form === "treemap" ? encodeAnchorSet(anchors) : encodeAnchorArray(anchors);
        expect([path, equalBytes(again, set)]).toEqual([path, true]);
        expect([anchors[0], (anchors.at(-1) ?? 0n) + 1n]).toEqual([entry.start, entry.end]);
      }
    }
    console.log(`${name}: ${[...forms].sort().map(([k, n]) => `${n} as ${k}`).join(", ")}`);
    expect(forms.get("treemap") ?? 0).toBeGreaterThan(0);
  }, TIMEOUT);
});

describe("the invalid tombstone objects of the store `tomb3` are refused", () => {
  const root = stores.find((store) => basename(store) === "tomb3") ?? "";
  const invalid: Record<string, string> = {
    d25frp6pp3qormyfbsygv5vavzyy6gwg5ip5sa3dt3ymukhbvnely: "a parent twice",
    d2ba5kndr4fg3empx5afsigkdg6l5vuys6aseslho3e3ldalutiew: "no timeline",
    d2u2ztfulgbe6rpkxoezomopgo6c536eolkbx53qheixuky537omo: "a trailing byte",
    d3qewxxjtzmw5nczy6dlsnxfobxmajm5jphbzxrlevsuolshlqxwc: "no issued_at",
    d3vqh32lonq23tmux33by6q66yy5sjactn3tkpqb4em6itkuo7zz2: "anchors descending",
    d3x5oqq6xzklmhrqabtxo32hpag2x7fiiq7nmgfunhk2ie7smjoqm: "an unknown key",
    dylhqzzigffgnyp3rscx7y7s3ycgtixymkg7cbjw4d77dqrrisbdo: "parents descending",
    dyylb2kjz4lgissyucvqmhwp34i2fw4kwfxexbbivaqhdovshuuik: "keys in another order",
  };

  test("exactly these", () => {
    const refused: string[] = [];
    for (const path of listFiles(root).filter((each) => each.startsWith("tombstones/"))) {
      try {
        const bytes = read(root, path);
        const again = classify(path)?.objectClass.codec(bytes, path, "");
        expect(again).toEqual(bytes);
      } catch {
        refused.push(basename(path));
      }
    }
    expect(refused.sort()).toEqual(Object.keys(invalid).sort());
  });
});

function read(root: string, path: string): Uint8Array {
  return new Uint8Array(readFileSync(join(root, path)));
}

/** Every scalar entry of every Track and B-tree leaf, with the path of the bucket it names. */
function* scalarEntries(root: string): Generator<[string, IndexEntry]> {
  for (const path of listFiles(root)) {
    const [timeline, modality = "", folder] = path.split("/");
    const kind = trackKindOf(modality);
    if (kind !== "scalar-bitmap" && kind !== "scalar-btree") continue;
    const found: IndexEntry[] = [];
    if (folder === "track") {
      const { index } = decodeTrack(read(root, path), path);
      if (index.form === "inline") {
        found.push(...readIndexEntries({ kind: "track", path }, kind, index.entries));
      }
    } else if (folder === "index") {
      const bytes = read(root, path);
      const page = decodeBtreePage(bytes, { algorithm: btreePageAlgorithm(bytes), path });
      const entries = page.type === "leaf" ? page.entries : [];
      found.push(...entries.map((e) => parseIndexEntry({ kind: "leaf", path }, kind, e.bytes)));
    }
    for (const entry of found) {
      yield [`${timeline}/${modality}/bucket/${entry.address}`, entry];
    }
  }
}
