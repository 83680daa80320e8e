/**
 * Makes real stores for tests, object by object as the reference writes them (FORMAT 4.3): in
 * memory, or wherever the connector given to it writes.
 *
 * @module
 */

import { addressBytes, addressFromBytes, addressOf } from "../../src/encoding/address.ts";
import type { Address } from "../../src/encoding/address.ts";
import { baoOutboard } from "../../src/encoding/bao.ts";
import { concatBytes } from "../../src/encoding/bytes.ts";
import type { CborMap, CborValue } from "../../src/encoding/cbor-value.ts";
import { CborWriter } from "../../src/encoding/cbor-writer.ts";
import { DEFAULTS } from "../../src/merge/request.ts";
import type { MergeEnvironment, MergeRequest } from "../../src/merge/request.ts";
import { mergeMany } from "../../src/merge/merge-many.ts";
import type { MergeReport } from "../../src/merge/report.ts";
import { treeFormat } from "../../src/merge/tree-content.ts";
import { buildTree } from "../../src/merge/tree/build.ts";
import { btreeIndex } from "../../src/merge/tree/descriptor.ts";
import { sortedEntries } from "../../src/merge/tree/tree-format.ts";
import {
  compareBindings,
  compareEdges,
  referenceKey,
  referenceTo,
} from "../../src/model/binding.ts";
import type { Binding, Edge } from "../../src/model/binding.ts";
import { joinCoverage, MAX_U64 } from "../../src/model/coverage.ts";
import { encodeGenesis } from "../../src/model/genesis.ts";
import { compareEntries, parseIndexEntry } from "../../src/model/index-entry.ts";
import type { EntryKind, IndexEntry } from "../../src/model/index-entry.ts";
import { encodeManifest } from "../../src/model/manifest.ts";
import type { Manifest } from "../../src/model/manifest.ts";
import { decodeSpatialBucket, recordAnchor, recordBytes } from "../../src/model/spatial-bucket.ts";
import { encodeSpatialBucket } from "../../src/model/spatial-bucket.ts";
import { encodeSpatialEntry } from "../../src/model/index-entry.ts";
import { decodeTombstonePage, encodeTombstonePage } from "../../src/model/tombstone-page.ts";
import type { Tombstone } from "../../src/model/tombstone-page.ts";
import { decodeTombstoneHead, encodeTombstoneHead } from "../../src/model/tombstones.ts";
import { encodeTrack } from "../../src/model/track.ts";
import type { Track } from "../../src/model/track.ts";
import { trackKindOf } from "../../src/model/track-kind.ts";
import {
  decodeVectorSidecar,
  encodeVectorSidecar,
  sidecarVector,
} from "../../src/model/vector-sidecar.ts";
import type { Connector } from "../../src/store/connector.ts";
import { MemoryConnector } from "../../src/store/memory.ts";
import {
  cellPath,
  constantPath,
  genesisPath,
  indexPagePath,
  manifestPath,
  outboardPath,
  tombstonePath,
  trackPath,
  vectorsPath,
} from "../../src/store/paths.ts";
import { classOf, encodeRows, modalityOf, registryOf, schemaOf } from "./store-fields.ts";
import type { FieldSpec, Row, StoredObject } from "./store-fields.ts";
import { readEntries, readManifest, readStored, readTrack } from "./store-reader.ts";

/** When the first Manifest of every test store was written, in nanoseconds. */
export const FIRST_TS = 1_800_000_000_000_000_000n;
const STEP = 1_000_000_000n;

/** What is particular to one store. */
export interface StoreOptions<Store extends Connector> {
  readonly connector: Store;
  readonly fields: Readonly<Record<string, FieldSpec>>;
  readonly form?: "lineage-v1" | "legacy";
  /** Another number makes another timeline. */
  readonly nonce?: number;
  readonly ref?: string;
}

/** What a commit changes. */
export interface Change {
  /** New Tracks of fields. */
  readonly tracks?: ReadonlyMap<string, Track>;
  /** Fields that go, with the lineage that only they need. */
  readonly without?: readonly string[];
  readonly registry?: (before: CborMap) => CborMap;
  readonly operation: string;
  /** Instead of the ref's tip. */
  readonly parents?: readonly Address[];
  readonly ts?: bigint;
}

/** A store that grows by commits. */
export class StoreBuilder<Store extends Connector = MemoryConnector> {
  readonly connector: Store;
  readonly fields: Map<string, FieldSpec>;
  readonly timeline: Address;
  readonly #modalities = new Map<string, string>();
  /** Readers of Legacy Manifests know no trees (LEGACY 2). */
  readonly #inlineOnly: boolean;
  /** The time of the next commit. */
  clock: bigint = FIRST_TS;

  private constructor(options: StoreOptions<Store>, timeline: Address) {
    this.connector = options.connector;
    this.fields = new Map(Object.entries(options.fields));
    this.timeline = timeline;
    this.#inlineOnly = options.form === "legacy";
  }

  /** A store in memory. */
  static async inMemory(
    fields: Readonly<Record<string, FieldSpec>>,
    options: Omit<StoreOptions<MemoryConnector>, "connector" | "fields"> = {},
  ): Promise<StoreBuilder> {
    return await StoreBuilder.create({ connector: new MemoryConnector(), fields, ...options });
  }

  /** A store with a ref at its first Manifest. */
  static async create<Store extends Connector>(
    options: StoreOptions<Store>,
  ): Promise<StoreBuilder<Store>> {
    const nonce = new Uint8Array(16).fill(options.nonce ?? 7);
    const genesis = encodeGenesis({ nonce });
    const timeline = addressOf(genesis);
    const builder = new StoreBuilder(options, timeline);
    await builder.put({ path: genesisPath(timeline), bytes: genesis, payload: false });
    const manifest = await builder.#firstManifest(options.form ?? "lineage-v1");
    const tip = await builder.putManifest(manifest);
    const created = await options.connector.createRef(options.ref ?? "trunk", tip);
    if (created !== "created") throw new Error(`${options.ref ?? "trunk"} is there already`);
    return builder;
  }

  /** The modality of a field. */
  modality(field: string): string {
    const modality = this.#modalities.get(field);
    if (modality === undefined) throw new Error(`no field ${field}`);
    return modality;
  }

  async tip(ref: string): Promise<Address> {
    const tip = await this.connector.readRef(ref);
    if (tip === undefined) throw new Error(`no ref ${ref}`);
    return tip;
  }

  async manifest(ref: string): Promise<Manifest> {
    return await readManifest(this.connector, await this.tip(ref));
  }

  async branch(name: string, from = "trunk"): Promise<void> {
    const created = await this.connector.createRef(name, await this.tip(from));
    if (created !== "created") throw new Error(`${name} is there already`);
  }

  /** Puts `ref` where it is told to be, wherever it was. */
  async move(ref: string, to: Address): Promise<void> {
    const outcome = await this.connector.compareAndSetRef(ref, await this.tip(ref), to);
    if (outcome.status !== "committed") throw new Error(`${ref} does not move`);
  }

  /** Appends records, one commit. */
  async append(ref: string, rows: readonly Row[]): Promise<Address> {
    const tracks = new Map<string, Track>();
    for (const [name, field] of this.fields) {
      const place = { name, timeline: this.timeline, modality: this.modality(name) };
      const { entries, objects } = encodeRows(field, place, rows);
      if (entries.length === 0) continue;
      for (const object of objects) await this.put(object);
      const before = await this.#entriesOf(ref, name);
      tracks.set(name, await this.buildTrack(name, [...before, ...this.#parse(name, entries)]));
    }
    return await this.commit(ref, { tracks, operation: "append" });
  }

  /** Replaces the entries of one field, whatever that does to its records. */
  async replaceEntries(
    ref: string,
    field: string,
    change: (entries: readonly IndexEntry[]) => readonly (IndexEntry | Uint8Array)[],
  ): Promise<Address> {
    const changed = change(await this.#entriesOf(ref, field)).map((entry) =>
      entry instanceof Uint8Array ? entry : entry.bytes
    );
    const track = await this.buildTrack(field, this.#parse(field, changed));
    return await this.commit(ref, { tracks: new Map([[field, track]]), operation: "compact" });
  }

  /** One bucket for every cell that has several, records in anchor order (`compact()`). */
  async compact(ref: string, fields?: readonly string[]): Promise<Address> {
    const tracks = new Map<string, Track>();
    for (const [name, field] of this.fields) {
      if (field.kind !== "embedding" || fields?.includes(name) === false) continue;
      const entries = await this.#entriesOf(ref, name);
      const cells = Map.groupBy(entries, ({ group }) => new TextDecoder().decode(group));
      if ([...cells.values()].every((inside) => inside.length < 2)) continue;
      const compacted: IndexEntry[] = [];
      for (const [cell, inside] of cells) {
        compacted.push(...inside.length < 2 ? inside : [await this.#oneBucket(name, cell, inside)]);
      }
      tracks.set(name, await this.buildTrack(name, compacted));
    }
    return await this.commit(ref, { tracks, operation: "compact" });
  }

  /** Hides anchors: the head's own tree gets them, its parents stay (FORMAT 8). */
  async delete(ref: string, anchors: readonly bigint[], reason?: string): Promise<Address> {
    const manifest = await this.manifest(ref);
    const entry = manifest.registry.get("dreamdb.tombstones");
    const before = entry instanceof Map ? entry.get("head") : undefined;
    const tombstones = new Map<bigint, Tombstone>();
    let parents: readonly Address[] = [];
    if (before instanceof Uint8Array) {
      const address = addressFromBytes(before);
      const head = decodeTombstoneHead(
        await readStored(this.connector, tombstonePath(address), address),
      );
      parents = head.parents;
      if (head.form === "index" && head.root !== undefined) {
        const path = tombstonePath(head.root.page);
        const page = decodeTombstonePage(
          await readStored(this.connector, path, head.root.page),
        );
        if ("tombstones" in page) {
          for (const tombstone of page.tombstones) tombstones.set(tombstone.anchor, tombstone);
        }
      }
    }
    const now = this.clock / 1_000_000n;
    for (const anchor of anchors) tombstones.set(anchor, { anchor, deletedAt: now, reason });
    const sorted = [...tombstones.values()].sort((a, b) => (a.anchor < b.anchor ? -1 : 1));
    const page = encodeTombstonePage({ level: 0, tombstones: sorted });
    await this.put({ path: tombstonePath(addressOf(page)), bytes: page, payload: false });
    const head = encodeTombstoneHead({
      form: "index",
      root: {
        page: addressOf(page),
        level: 0,
        count: sorted.length,
        min: sorted[0]?.anchor ?? 0n,
        max: sorted.at(-1)?.anchor ?? 0n,
      },
      parents,
      timeline: this.timeline,
      issuedAt: now,
    });
    await this.put({ path: tombstonePath(addressOf(head)), bytes: head, payload: false });
    const value = new Map([["head", addressBytes(addressOf(head))]]);
    return await this.setRegistry(ref, "dreamdb.tombstones", value, "delete");
  }

  /** Sets a registry key, or takes it out. */
  async setRegistry(
    ref: string,
    key: string,
    value: CborValue | undefined,
    operation = "set_meta",
  ): Promise<Address> {
    return await this.commit(ref, {
      operation,
      registry(before) {
        const after = new Map(before);
        if (value === undefined) after.delete(key);
        else after.set(key, value);
        return after;
      },
    });
  }

  /** Sets a Constant. */
  async setConstant(ref: string, field: string, value: string): Promise<Address> {
    const track = await this.#constantTrack(field, value);
    return await this.commit(ref, { tracks: new Map([[field, track]]), operation: "constant" });
  }

  /** Adds a field to the schema, with a first Track. */
  async addField(ref: string, name: string, field: FieldSpec, rows: readonly Row[] = []) {
    this.#name(name, field);
    this.fields.set(name, field);
    const { objects } = registryOf(name, field);
    for (const object of objects) await this.put(object);
    const place = { name, timeline: this.timeline, modality: this.modality(name) };
    let track: Track;
    if (field.kind === "constant") track = await this.#constantTrack(name, field.value);
    else {
      const encoded = encodeRows(field, place, rows);
      for (const object of encoded.objects) await this.put(object);
      track = await this.buildTrack(name, this.#parse(name, encoded.entries));
    }
    return await this.commit(ref, {
      tracks: new Map([[name, track]]),
      operation: "add_field",
      registry: (before) => this.#registryWith(before, [...schemaNames(before), name]),
    });
  }

  /** Removes a field from the schema and the bindings. */
  async removeField(ref: string, name: string): Promise<Address> {
    return await this.commit(ref, {
      without: [name],
      operation: "decommission",
      registry: (before) =>
        this.#registryWith(before, schemaNames(before).filter((one) => one !== name)),
    });
  }

  /** A commit on `ref`. */
  async commit(ref: string, change: Change): Promise<Address> {
    const tip = await this.tip(ref);
    const before = await readManifest(this.connector, tip);
    const tracks = await this.#tracksAfter(before, change);
    const manifest: Manifest = {
      ...before,
      ts: change.ts ?? this.#tick(),
      writer: writerText(before, ref, change.operation),
      parents: change.parents ?? [tip],
      registry: change.registry?.(before.registry) ?? before.registry,
      tracks,
    };
    const address = await this.putManifest(manifest);
    const outcome = await this.connector.compareAndSetRef(ref, tip, address);
    if (outcome.status !== "committed") throw new Error(`${ref} moved`);
    return address;
  }

  /** What `mergeMany` needs, with this store's clock and no waiting. */
  environment(overrides: Partial<MergeEnvironment> = {}): MergeEnvironment {
    return {
      connector: this.connector,
      concurrency: 8,
      now: () => this.#tick(),
      random: () => 0,
      pause: () => Promise.resolve(),
      version: "0.0.0-test",
      ...overrides,
    };
  }

  /** Merges branches into a ref. */
  async merge(
    branches: readonly string[],
    request: Partial<MergeRequest> = {},
    environment: Partial<MergeEnvironment> = {},
  ): Promise<MergeReport> {
    return await mergeMany(
      { ref: "trunk", picks: new Map(), ...DEFAULTS, branches, ...request },
      this.environment(environment),
    );
  }

  async put({ path, bytes, payload }: StoredObject): Promise<void> {
    await this.connector.putIfAbsent(path, bytes);
    if (payload) {
      await this.connector.putIfAbsent(outboardPath(addressOf(bytes)), baoOutboard(bytes));
    }
  }

  async putManifest(manifest: Manifest): Promise<Address> {
    const bytes = encodeManifest(manifest);
    const address = addressOf(bytes);
    await this.put({ path: manifestPath(address), bytes, payload: false });
    return address;
  }

  /** Writes the Track that holds `entries`, in order, and its pages. */
  async buildTrack(name: string, entries: readonly IndexEntry[]): Promise<Track> {
    const modality = this.modality(name);
    const kind = trackKindOf(modality) as EntryKind;
    const base = {
      coverage: joinCoverage(entries),
      modality,
      timeline: this.timeline,
      indexName: "object_index",
      initSegment: undefined,
      itemKeyIndex: undefined,
    } as const;
    const format = treeFormat(kind, modality);
    const inTree = kind === "scalar-btree" && !this.#inlineOnly && entries.length > 0;
    if (inTree && format !== undefined) {
      const tree = await buildTree(
        format,
        [sortedEntries(format, entries)],
        async (page, bytes) => {
          const path = indexPagePath(this.timeline, modality, page);
          await this.put({ path, bytes, payload: false });
        },
      );
      if (tree === undefined) throw new Error("entries make a tree");
      return await this.#putTrack({ ...base, index: btreeIndex(tree) });
    }
    const sorted = [...entries].sort((a, b) => compareEntries(kind, a, b));
    return await this.#putTrack({
      ...base,
      index: {
        form: "inline",
        count: sorted.length,
        entries: concatBytes(sorted.map(({ bytes }) => bytes)),
      },
    });
  }

  /** The entries of a field on a ref, in the order they stand. */
  async #entriesOf(ref: string, field: string): Promise<readonly IndexEntry[]> {
    const { tracks } = await this.manifest(ref);
    const binding = tracks.active.find(({ modality }) => modality === this.modality(field));
    if (binding === undefined) throw new Error(`${ref} has no field ${field}`);
    return await readEntries(this.connector, await readTrack(this.connector, binding));
  }

  #parse(field: string, entries: readonly Uint8Array[]): IndexEntry[] {
    const kind = trackKindOf(this.modality(field)) as EntryKind;
    return entries.map((bytes) => parseIndexEntry({ kind: "track" }, kind, bytes));
  }

  async #putTrack(track: Track): Promise<Track> {
    const bytes = encodeTrack(track);
    const path = trackPath(track.timeline, track.modality, addressOf(bytes));
    await this.put({ path, bytes, payload: false });
    return track;
  }

  async #constantTrack(field: string, value: string): Promise<Track> {
    const modality = this.modality(field);
    const bytes = new TextEncoder().encode(value);
    const address = addressOf(bytes);
    await this.put({
      path: constantPath(this.timeline, modality, address),
      bytes,
      payload: false,
    });
    const writer = new CborWriter();
    writer.bytes(addressBytes(address));
    return await this.#putTrack({
      coverage: { start: 0n, end: MAX_U64 },
      modality,
      timeline: this.timeline,
      index: { form: "inline", count: 1, entries: writer.finish() },
      indexName: "object_index",
      initSegment: undefined,
      itemKeyIndex: undefined,
    });
  }

  async #oneBucket(
    field: string,
    cell: string,
    entries: readonly IndexEntry[],
  ): Promise<IndexEntry> {
    const modality = this.modality(field);
    const loaded = await Promise.all(entries.map(async ({ address, rerank }) => ({
      bucket: decodeSpatialBucket(
        await readStored(
          this.connector,
          cellPath(this.timeline, modality, cell, address),
          address,
        ),
      ),
      sidecar: rerank === undefined ? undefined : decodeVectorSidecar(
        await readStored(this.connector, vectorsPath(this.timeline, modality, rerank), rerank),
      ),
    })));
    const [first] = loaded;
    const [like] = entries;
    if (first === undefined || like === undefined) throw new Error("no bucket to compact");
    const records = loaded.flatMap(({ bucket, sidecar }) =>
      Array.from({ length: bucket.count }, (_, index) => ({
        anchor: recordAnchor(bucket, index),
        bytes: recordBytes(bucket, index),
        vector: sidecar === undefined ? undefined : sidecarVector(sidecar, index),
      }))
    ).sort((a, b) => (a.anchor < b.anchor ? -1 : a.anchor > b.anchor ? 1 : 0));
    const bytes = encodeSpatialBucket({
      ...first.bucket,
      count: records.length,
      records: concatBytes(records.map((record) => record.bytes)),
    });
    const path = cellPath(this.timeline, modality, cell, addressOf(bytes));
    await this.put({ path, bytes, payload: true });
    let rerank: Address | undefined;
    if (first.sidecar !== undefined) {
      const beside = encodeVectorSidecar({
        ...first.sidecar,
        count: records.length,
        vectors: concatBytes(records.map(({ vector }) => vector ?? new Uint8Array())),
      });
      rerank = addressOf(beside);
      const at = vectorsPath(this.timeline, modality, rerank);
      await this.put({ path: at, bytes: beside, payload: true });
    }
    return parseIndexEntry(
      { kind: "track" },
      "spatial-bucket",
      encodeSpatialEntry(
        like.group,
        records[0]?.anchor ?? 0n,
        (records.at(-1)?.anchor ?? 0n) + 1n,
        bytes.length,
        addressBytes(addressOf(bytes)),
        like.table,
        rerank === undefined ? undefined : addressBytes(rerank),
      ),
    );
  }

  #tick(): bigint {
    const now = this.clock;
    this.clock += STEP;
    return now;
  }

  #name(name: string, field: FieldSpec): void {
    if (this.#modalities.has(name)) return;
    const taken = new Set(this.#modalities.values());
    let version = 1;
    // Fields of one media type share their modality; two embeddings never do (FORMAT 1.3).
    while (field.kind === "embedding" && taken.has(modalityOf(name, field, version))) version++;
    this.#modalities.set(name, modalityOf(name, field, version));
  }

  #registryWith(before: CborMap, names: readonly string[]): CborMap {
    const registry = new Map(before);
    for (const [name, field] of this.fields) {
      const { value } = registryOf(name, field);
      if (value === undefined) continue;
      if (names.includes(name)) {
        if (!registry.has(this.modality(name))) registry.set(this.modality(name), value);
      } else registry.delete(this.modality(name));
    }
    const fields = [...names].sort().flatMap((name) => {
      const field = this.fields.get(name);
      return field === undefined ? [] : [schemaOf(name, field, this.modality(name))];
    });
    registry.set(
      "dreamdb.schema",
      new Map<string, CborValue>([["v", 1n], ["fields", fields]]),
    );
    return registry;
  }

  async #firstManifest(form: "lineage-v1" | "legacy"): Promise<Manifest> {
    const active: Binding[] = [];
    const lineage: Binding[] = [];
    const edges: Edge[] = [];
    const names = [...this.fields.keys()].sort();
    for (const name of names) {
      const field = this.fields.get(name);
      if (field !== undefined) this.#name(name, field);
    }
    for (const name of names) {
      const field = this.fields.get(name);
      if (field === undefined) continue;
      for (const object of registryOf(name, field).objects) await this.put(object);
      const track = field.kind === "constant"
        ? await this.#constantTrack(name, field.value)
        : await this.buildTrack(name, []);
      active.push(this.#binding(name, field, track, "base"));
    }
    const bound = active.map((binding) => {
      const field = this.fields.get(binding.field ?? "");
      const over = field?.kind === "embedding" ? field.layerOver : undefined;
      const parent = active.find((one) => one.field === over);
      if (parent === undefined) return binding;
      const layer = { ...binding, role: `layer-of:${parent.address}` };
      edges.push({ child: referenceTo(layer), exactParent: referenceTo(parent) });
      return layer;
    });
    return {
      ts: this.#tick(),
      writer: form === "legacy" ? "dreamdb-dataset/0.1#trunk#create" : referenceWriter("create"),
      parents: [],
      timelines: [this.timeline],
      registry: this.#registryWith(new Map(), names),
      tracks: form === "legacy"
        ? { form, active: bound }
        : { form, active: bound.sort(compareBindings), lineage, edges, rest: new Map() },
      extra: new Map(),
    };
  }

  #binding(name: string, field: FieldSpec, track: Track, role: string): Binding {
    return {
      kind: classOf(field),
      role,
      field: name,
      address: addressOf(encodeTrack(track)),
      coverage: track.coverage,
      modality: track.modality,
      timeline: this.timeline,
    };
  }

  async #tracksAfter(before: Manifest, change: Change): Promise<Manifest["tracks"]> {
    const { tracks } = before;
    const kept = tracks.active.filter(({ field }) => !change.without?.includes(field ?? ""));
    const active = new Map(kept.map((binding) => [binding.field ?? binding.modality, binding]));
    const lineage = tracks.form === "legacy" ? [] : [...tracks.lineage];
    const edges = tracks.form === "legacy" ? [] : [...tracks.edges];
    for (const [name, track] of change.tracks ?? []) {
      const field = this.fields.get(name);
      if (field === undefined) throw new Error(`no field ${name}`);
      const old = active.get(name);
      const binding = this.#binding(name, field, track, old?.role ?? "base");
      if (old?.address === binding.address) continue;
      active.set(name, binding);
      if (old === undefined) continue;
      lineage.push(old);
      edges.push({ child: referenceTo(binding), exactParent: referenceTo(old) });
    }
    if (tracks.form === "legacy") return { form: "legacy", active: [...active.values()] };
    const reached = reachable([...active.values()], edges);
    const activeKeys = new Set([...active.values()].map((one) => referenceKey(referenceTo(one))));
    return {
      ...tracks,
      active: [...active.values()].sort(compareBindings),
      lineage: distinct(lineage.filter((binding) => {
        const key = referenceKey(referenceTo(binding));
        return reached.has(key) && !activeKeys.has(key);
      })).sort(compareBindings),
      edges: edges.filter(({ child }) => reached.has(referenceKey(child))).sort(compareEdges),
    };
  }
}

function distinct(bindings: readonly Binding[]): Binding[] {
  return [...new Map(bindings.map((one) => [referenceKey(referenceTo(one)), one])).values()];
}

/** The keys of bindings that edges lead to from active ones, and of these themselves. */
function reachable(active: readonly Binding[], edges: readonly Edge[]): ReadonlySet<string> {
  const parents = new Map(edges.map(({ child, exactParent }) => [
    referenceKey(child),
    referenceKey(exactParent),
  ]));
  const reached = new Set<string>();
  for (const binding of active) {
    let at: string | undefined = referenceKey(referenceTo(binding));
    for (; at !== undefined && !reached.has(at); at = parents.get(at)) reached.add(at);
  }
  return reached;
}

function schemaNames(registry: CborMap): string[] {
  const schema = registry.get("dreamdb.schema");
  const fields = schema instanceof Map ? schema.get("fields") : undefined;
  return Array.isArray(fields)
    ? fields.flatMap((field) => {
      const name = field instanceof Map ? field.get("name") : undefined;
      return typeof name === "string" ? [name] : [];
    })
    : [];
}

function referenceWriter(operation: string): string {
  return "dreamdb-writer/1;sdk=python%2Fdreamdb;version=0.0.16;core=0.0.1;revision=" +
    `96957b108c107075e32ab1c43c7fcb7467a29d76;build=release;operation=${operation}`;
}

function writerText(like: Manifest, ref: string, operation: string): string {
  return like.tracks.form === "legacy"
    ? `dreamdb-dataset/0.1#${ref}#${operation}`
    : referenceWriter(operation);
}
