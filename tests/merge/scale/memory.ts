/**
 * A merge into an index of many entries as a process of its own, whose memory is measured:
 *
 *     memory.ts make FOLDER KIND ENTRIES BRANCHES    a store with our own builder, without payload
 *     memory.ts merge FOLDER KIND copy|whole BRANCHES
 *
 * KIND is spatial or scalar. "whole" takes trunk's tree apart and builds it anew, whatever the rule
 * says. Prints a line of JSON.
 *
 * @module
 */

import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { addressBytes, addressOf } from "../../../src/encoding/address.ts";
import type { Address } from "../../../src/encoding/address.ts";
import { CborWriter } from "../../../src/encoding/cbor-writer.ts";
import { createObjectReader } from "../../../src/merge/object-reader.ts";
import { createPageWriter } from "../../../src/merge/page-writer.ts";
import { createTrackLoader } from "../../../src/merge/track-loader.ts";
import { isTree, treeFormat } from "../../../src/merge/tree-content.ts";
import { buildTree } from "../../../src/merge/tree/build.ts";
import { btreeIndex, pagedIndex } from "../../../src/merge/tree/descriptor.ts";
import { mergeRuns } from "../../../src/merge/tree/merge-runs.ts";
import type { PageSink, Tree, TreeFormat } from "../../../src/merge/tree/tree-format.ts";
import { applyChanges } from "../../../src/merge/tree/apply.ts";
import { walkLeaves } from "../../../src/merge/tree/walk.ts";
import type { Binding } from "../../../src/model/binding.ts";
import { parseIndexEntry } from "../../../src/model/index-entry.ts";
import type { EntryKind } from "../../../src/model/index-entry.ts";
import { encodeManifest } from "../../../src/model/manifest.ts";
import type { PageEntry } from "../../../src/model/page-entry.ts";
import { encodeTrack } from "../../../src/model/track.ts";
import type { Connector } from "../../../src/store/connector.ts";
import { FileConnector } from "../../../src/store/file.ts";
import { putObject } from "../../../src/store/objects.ts";
import { manifestPath, trackPath } from "../../../src/store/paths.ts";
import { backendUrl } from "../../support/fixtures.ts";
import { bindingOf, branchNames, merge, tipOf } from "./store.ts";

const BASE = 1_800_000_000_000_000_000n;
const STEP = 40_000_000n;
/** Entries of each branch. */
const BRANCH_ENTRIES = 80;

const MODALITIES = {
  spatial: "embedding.f32.dim=16.bucketed",
  scalar: "scalar.i64.field=num",
} as const;
type Kind = keyof typeof MODALITIES;

const [command, folder = "", kindName, ...rest] = process.argv.slice(2);
const root = resolve(folder);
const kind: Kind = kindName === "scalar" ? "scalar" : "spatial";
const entryKind: EntryKind = kind === "scalar" ? "scalar-btree" : "spatial-bucket";
const modality = MODALITIES[kind];
const timeline = addressOf(new TextEncoder().encode("a timeline"));

if (command === "make") await make(Number(rest[0]), Number(rest[1]));
else await mergeOnce(rest[0] === "whole", Number(rest[1]));

/** Entry `number` of `count` in the tree's order; the time of its record has nothing to do with it. */
function entryAt(number: number, time: number): PageEntry {
  const start = BASE + BigInt(time) * STEP;
  const writer = new CborWriter(96);
  const bucket = addressBytes(addressOf(Uint8Array.of(number & 255, number >> 8 & 255)));
  if (kind === "scalar") {
    const key = new CborWriter(9);
    key.int(BigInt(number) * 1_000_003n);
    writer.arrayHead(6);
    writer.bytes(key.finish());
    writer.uint(start);
    writer.uint(start + 1n);
    writer.bytes(bucket);
    writer.uint(number % 65_536);
    writer.uint(31);
  } else {
    writer.arrayHead(5);
    writer.text((BigInt(number) * 1_000_003n).toString(2).padStart(48, "0"));
    writer.uint(start);
    writer.uint(start + 1n);
    writer.uint(200);
    writer.bytes(bucket);
  }
  return parseIndexEntry({ kind: "entry" }, entryKind, writer.finish());
}

function formatOf(): TreeFormat<PageEntry> {
  const format = treeFormat(entryKind, modality);
  if (format === undefined) throw new Error("no format");
  return format;
}

async function make(entries: number, branches: number): Promise<void> {
  const connector = new FileConnector(backendUrl(root));
  const format = formatOf();
  const pages = createPageWriter(connector, timeline, modality, 16, {});
  // Branches get odd numbers, so that theirs lie between trunk's.
  function* runs(): Generator<readonly PageEntry[]> {
    for (let from = 0; from < entries; from += 1000) {
      const length = Math.min(1000, entries - from);
      yield Array.from({ length }, (_, step) => {
        const number = from + step;
        return format.entry(entryAt(2 * number, number * 7919 % entries));
      });
    }
  }
  const tree = await buildTree(format, runs(), pages.sink);
  await pages.finish();
  if (tree === undefined) throw new Error("no entries");
  const first = await commit(connector, "trunk", tree, entries, []);
  for (let branch = 0; branch < branches; branch++) {
    const apart = Math.floor(entries / BRANCH_ENTRIES);
    const added = Array.from(
      { length: BRANCH_ENTRIES },
      (_, step) =>
        entryAt(2 * (step * apart + branch) + 1, entries + branch * BRANCH_ENTRIES + step),
    );
    const loader = createTrackLoader(createObjectReader(connector, {}, 1 << 22));
    const content = await loader.content(await bindingOf(connector, "trunk", "f"), entryKind);
    if (!isTree(content)) throw new Error("no tree");
    const grown = await applyChanges(
      format,
      content.tree,
      { added, removed: [] },
      content.load,
      pages.sink,
    );
    await pages.finish();
    if (grown === undefined || grown === "old-form") throw new Error("not grown");
    await commit(connector, `w${branch}`, grown, entries + (branch + 1) * BRANCH_ENTRIES, [first]);
  }
  tell({ entries, pages: tree.pageCount });
}

async function commit(
  connector: Connector,
  ref: string,
  tree: Tree,
  records: number,
  parents: readonly Address[],
): Promise<Address> {
  const coverage = { start: BASE, end: BASE + BigInt(records) * STEP };
  const track = encodeTrack({
    coverage,
    modality,
    timeline,
    index: kind === "scalar" ? btreeIndex(tree) : pagedIndex(tree),
    indexName: "object_index",
    initSegment: undefined,
    itemKeyIndex: undefined,
  });
  const address = addressOf(track);
  await putObject(connector, trackPath(timeline, modality, address), track);
  const binding: Binding = {
    kind: "event",
    role: "base",
    field: "f",
    address,
    coverage,
    modality,
    timeline,
  };
  const manifest = encodeManifest({
    ts: BASE,
    writer: "dreamdb-writer/1;sdk=typescript%2Fdreamdb;version=0;operation=append",
    parents,
    timelines: [timeline],
    registry: new Map(),
    tracks: { form: "lineage-v1", active: [binding], lineage: [], edges: [], rest: new Map() },
    extra: new Map(),
  });
  await putObject(connector, manifestPath(addressOf(manifest)), manifest);
  await connector.createRef(ref, addressOf(manifest));
  return addressOf(manifest);
}

async function mergeOnce(whole: boolean, branches: number): Promise<void> {
  const connector = new FileConnector(backendUrl(root));
  const began = performance.now();
  if (!whole) {
    const target = `merged-${process.pid}-${Date.now()}`;
    await connector.createRef(target, await tipOf(connector, "trunk"));
    const report = await merge(connector, target, branchNames(branches));
    if (report.status !== "merged") throw new Error(JSON.stringify(report.refusals[0]?.message));
    const { read, written } = report;
    tell({
      read: read.pages,
      readBytes: read.bytes,
      written: written.pages,
      writtenBytes: written.bytes,
      seconds: (performance.now() - began) / 1000,
    });
    return;
  }
  // The rule builds large trees as a whole only when half of their entries are new.
  const format = formatOf();
  const loader = createTrackLoader(createObjectReader(connector, {}));
  const content = await loader.content(await bindingOf(connector, "trunk", "f"), entryKind);
  if (!isTree(content)) throw new Error("no tree");
  const added: PageEntry[] = [];
  for (const name of branchNames(branches)) {
    const side = await loader.content(await bindingOf(connector, name, "f"), entryKind);
    for (const entry of (await content.difference(side)).added) added.push(entry);
  }
  let written = 0;
  const pages = createPageWriter(connector, timeline, modality, 16, {});
  const sink: PageSink = (address, bytes) => {
    written++;
    return pages.sink(address, bytes);
  };
  const leaves = walkLeaves(format, content.tree, content.load);
  const tree = await buildTree(format, mergeRuns(format, leaves, { added, removed: [] }), sink);
  await pages.finish();
  if (tree?.entryCount !== content.tree.entryCount + added.length) throw new Error("entries lost");
  tell({ read: content.tree.pageCount, written, seconds: (performance.now() - began) / 1000 });
}

function tell(numbers: Readonly<Record<string, number>>): void {
  console.log(JSON.stringify({ ...numbers, peakMegabytes: Math.round(peakKilobytes() / 1024) }));
}

/** The largest resident set. What getrusage tells counts that of the process that started this one. */
function peakKilobytes(): number {
  const [, own] = /^VmHWM:\s+(\d+) kB$/m.exec(
    existsSync("/proc/self/status") ? readFileSync("/proc/self/status", "utf8") : "",
  ) ?? [];
  return own === undefined ? process.resourceUsage().maxRSS : Number(own);
}
