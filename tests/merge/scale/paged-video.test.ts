import { beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { addressBytes, addressOf } from "../../../src/encoding/address.ts";
import { bytesKey, concatBytes } from "../../../src/encoding/bytes.ts";
import { CborWriter } from "../../../src/encoding/cbor-writer.ts";
import { keyTreeOf } from "../../../src/merge/item-keys.ts";
import { createObjectReader } from "../../../src/merge/object-reader.ts";
import { videoKeyFormat } from "../../../src/merge/tree/video-key-format.ts";
import { walkLeaves } from "../../../src/merge/tree/walk.ts";
import { encodeManifest } from "../../../src/model/manifest.ts";
import { readIndexEntries } from "../../../src/model/index-entry.ts";
import { encodeTrack } from "../../../src/model/track.ts";
import type { Track } from "../../../src/model/track.ts";
import { decodeVideoKeyPage, encodeVideoKeyPage } from "../../../src/model/video-key-page.ts";
import type { Connector } from "../../../src/store/connector.ts";
import { FileConnector } from "../../../src/store/file.ts";
import { putObject } from "../../../src/store/objects.ts";
import { manifestPath, trackPath } from "../../../src/store/paths.ts";
import { verifyManifest } from "../../../src/verify/verify.ts";
import { describeWithReference } from "../../support/describe-reference.ts";
import { backendUrl, copyStore, scratchFolder } from "../../support/fixtures.ts";
import { runPython } from "../../support/reference.ts";
import { bindingOf, entryKeys, manifestOf, merge, tipOf, trackOf } from "./store.ts";

const BASE = 1_800_000_000_000_000_000n;
const SECOND = 1_000_000_000n;
const ITEMS = 18_000;
const TIMEOUT = 120_000;

const at = (seconds: number): string => String(BASE + BigInt(seconds) * SECOND);

/** Asks fixtures/trees/video.py; one answer for each command. */
async function video(folder: string, ...commands: readonly (readonly string[])[]) {
  const result = await runPython("fixtures/trees/video.py", [folder, ...commands.flat()]);
  if (result.exitCode !== 0) throw new Error(result.stderr);
  return result.stdout.trimEnd().split("\n").map((line) => JSON.parse(line) as unknown);
}

/**
 * A store whose trunk has so many Items that the reference pages both indexes at the next publish.
 * Publishing them one by one would take hours, so the Track before it is made here; all have the
 * payload of one Item.
 */
async function largeStore(): Promise<string> {
  const folder = scratchFolder();
  const first = ["publish", "trunk", "first", "3", at(0)];
  expect(await video(folder, ["create", "trunk"], first)).toEqual([null, null]);
  const connector = new FileConnector(backendUrl(folder));
  const manifest = await manifestOf(connector, "trunk");
  const binding = await bindingOf(connector, "trunk", "vid");
  const track = await trackOf(connector, "trunk", "vid");
  if (track.index.form !== "inline") throw new Error("not inline");
  const [item] = readIndexEntries({ kind: "track" }, "video-item", track.index.entries, BASE);
  if (item === undefined) throw new Error("no item");
  const text = new TextEncoder();
  const items = [
    { start: 0n, key: text.encode("first") },
    ...Array.from({ length: ITEMS - 1 }, (_, n) => ({
      start: BigInt(10 + 4 * n) * SECOND,
      key: text.encode(`key-${String(n * 7919 % ITEMS).padStart(7, "0")}`),
    })),
  ];
  const time = items.map(({ start, key }) => {
    const writer = new CborWriter();
    writer.arrayHead(4);
    writer.uint(start);
    writer.uint(3n * SECOND);
    writer.bytes(key);
    writer.bytes(addressBytes(item.address));
    return writer.finish();
  });
  const keyed = items.toSorted((a, b) => Buffer.compare(a.key, b.key)).map(({ start, key }) => {
    const writer = new CborWriter();
    writer.arrayHead(4);
    writer.bytes(key);
    writer.uint(start);
    writer.uint(3n * SECOND);
    writer.bytes(addressBytes(item.address));
    return writer.finish();
  });
  const large: Track = {
    ...track,
    coverage: { start: BASE, end: BASE + BigInt(10 + 4 * (ITEMS - 2) + 3) * SECOND },
    index: { form: "inline", count: ITEMS, entries: concatBytes(time) },
    itemKeyIndex: { form: "inline", count: ITEMS, entries: concatBytes(keyed) },
  };
  const bytes = encodeTrack(large);
  const address = addressOf(bytes);
  await putObject(connector, trackPath(binding.timeline, binding.modality, address), bytes);
  const root = encodeManifest({
    ...manifest,
    parents: [],
    tracks: {
      form: "lineage-v1",
      edges: [],
      lineage: [],
      rest: new Map(),
      active: [{ ...binding, address, coverage: large.coverage }],
    },
  });
  await putObject(connector, manifestPath(addressOf(root)), root);
  await connector.compareAndSetRef("trunk", await tipOf(connector, "trunk"), addressOf(root));
  return folder;
}

/** All entries of the tree by key, walked with all its checks. */
async function keysOf(connector: Connector, ref: string): Promise<readonly string[]> {
  const keyTree = keyTreeOf(
    await trackOf(connector, ref, "vid"),
    createObjectReader(connector, {}),
  );
  if (keyTree === undefined) throw new Error("no tree by key");
  const leaves = await Array.fromAsync(walkLeaves(videoKeyFormat(), keyTree.tree, keyTree.load));
  return leaves.flat().map(({ bytes }) => bytesKey(bytes));
}

describeWithReference("paged VideoItem Tracks", () => {
  let made: string | undefined;
  beforeAll(async () => {
    made = await largeStore();
    const commands = [
      ["publish", "trunk", "late", "3", at(1_000_000)],
      ...["w0", "w1", "w2", "overlaps", "same-key", "one-by-one"].map((
        name,
      ) => ["branch", "trunk", name]),
      ["publish", "w0", "in the first gap", "1", at(13)],
      ["publish", "w0", "at the end", "2", at(1_000_010)],
      ["publish", "w1", "a", "1", at(17)],
      ["publish", "w2", "zz", "1", at(40_013)],
      ["publish", "overlaps", "b", "2", at(1_000_011)],
      ["publish", "same-key", "a", "1", at(21)],
      // The same by the reference alone, for its trees.
      ["publish", "one-by-one", "in the first gap", "1", at(13)],
      ["publish", "one-by-one", "at the end", "2", at(1_000_010)],
      ["publish", "one-by-one", "a", "1", at(17)],
      ["publish", "one-by-one", "zz", "1", at(40_013)],
    ];
    for (const answer of await video(made, ...commands)) expect(answer).toBeNull();
  }, TIMEOUT);

  /** A copy of the store and its connector. */
  function opened() {
    if (made === undefined) throw new Error("not made");
    const folder = copyStore(made);
    return { folder, connector: new FileConnector(backendUrl(folder)) };
  }

  test("are joined as the reference would have published their Items", async () => {
    const { folder, connector } = opened();
    const report = await merge(connector, "trunk", ["w0", "w1", "w2"]);
    expect([report.refusals, report.status]).toEqual([[], "merged"]);
    const track = await trackOf(connector, "trunk", "vid");
    expect([track.index.form, track.itemKeyIndex?.form]).toEqual(["paged", "paged"]);
    expect(await entryKeys(connector, "trunk", "vid"))
      .toEqual(await entryKeys(connector, "one-by-one", "vid"));
    expect(await keysOf(connector, "trunk")).toEqual(await keysOf(connector, "one-by-one"));
    const verified = await verifyManifest(connector, await tipOf(connector, "trunk"), {
      history: false,
      data: false,
      sample: undefined,
      concurrency: 8,
      signal: undefined,
    });
    expect(verified.problems).toEqual([]);
    const reads = await video(
      folder,
      ["key", "trunk", "a"],
      ["at", "trunk", at(13)],
      ["key", "trunk", "key-0000042"],
      ["at", "trunk", at(1_000_011)],
      ["publish", "trunk", "after the merge", "1", at(25)],
      ["key", "trunk", "after the merge"],
    );
    expect(reads.map((read) => (read as { readonly item_key?: string } | null)?.item_key)).toEqual([
      "a",
      "in the first gap",
      "key-0000042",
      "at the end",
      undefined,
      "after the merge",
    ]);
  }, TIMEOUT);

  test(
    "have the same bytes in every order of the branches, and few pages are written",
    async () => {
      const addresses: string[] = [];
      for (const branches of [["w0", "w1", "w2"], ["w2", "w0", "w1"]]) {
        const { connector } = opened();
        const report = await merge(connector, "trunk", branches);
        expect(report.written.pages).toBeLessThan(16);
        addresses.push((await bindingOf(connector, "trunk", "vid")).address);
      }
      expect(addresses[1]).toBe(addresses[0] ?? "none");
    },
    TIMEOUT,
  );

  test("are refused where Items overlap or share a key between sides", async () => {
    const { connector } = opened();
    const before = await tipOf(connector, "trunk");
    const report = await merge(connector, "trunk", ["w0", "w1", "overlaps", "same-key"]);
    expect(report.refusals.map(({ code, sides, message }) => [code, sides.join("+"), message]))
      .toEqual([
        [
          "duplicate-anchor",
          "w0+overlaps",
          "2 VideoItems of the field vid, added by w0, overlaps, overlap in time; a VideoItem " +
          "Track has one Item at a time",
        ],
        [
          "duplicate-anchor",
          "w1+same-key",
          "2 VideoItems of the field vid, added by w1, same-key, share their keys; a key names one " +
          "Item of a Track",
        ],
      ]);
    expect(await tipOf(connector, "trunk")).toBe(before);
  }, TIMEOUT);

  test("are refused where trunk took the key meanwhile", async () => {
    const { folder, connector } = opened();
    expect(await video(folder, ["publish", "trunk", "a", "1", at(41)])).toEqual([null]);
    const report = await merge(connector, "trunk", ["w1"]);
    expect(report.refusals.map(({ code, sides }) => [code, sides.join("+")]))
      .toEqual([["duplicate-anchor", "trunk+w1"]]);
  }, TIMEOUT);

  test("round-trip key page by key page", () => {
    const { folder } = opened();
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((path) => /\/video-item-key-index\/\w+$/.test(path));
    expect(files.length).toBeGreaterThan(60);
    for (const path of files) {
      const bytes = new Uint8Array(readFileSync(join(folder, path)));
      expect(encodeVideoKeyPage(decodeVideoKeyPage(bytes))).toEqual(bytes);
    }
  });
});
