/**
 * Joins the tombstones of all sides: delete wins (DESIGN 1). Every list that will count is read
 * and checked first, because one damaged list makes all reads of trunk fail.
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import { addressBytes, addressFromBytes, addressOf } from "../encoding/address.ts";
import type { CborMap, CborValue } from "../encoding/cbor-value.ts";
import { malformedObject } from "../model/malformed.ts";
import {
  decodeTombstoneHead,
  encodeTombstoneHead,
  joinTombstoneHeads,
  joinTombstoneLists,
} from "../model/tombstones.ts";
import type { TombstoneHead } from "../model/tombstones.ts";
import { checkTombstonePage, decodeTombstonePage } from "../model/tombstone-page.ts";
import type { TombstonePageReference } from "../model/tombstone-page.ts";
import { tombstonePath } from "../store/paths.ts";
import { TOMBSTONE_KEYS } from "./registry.ts";
import type { Side, Sides } from "./sides.ts";

/** The joined tombstones. */
export interface JoinedTombstones {
  /** The registry entry of the result, or undefined when there are no tombstones. */
  readonly entry: { readonly key: string; readonly value: CborMap } | undefined;
  /** A joining index that has to be written, when no side's head already is the result. */
  readonly object: { readonly path: string; readonly bytes: Uint8Array } | undefined;
  /** The deleted anchors of each side, by position. */
  readonly deleted: ReadonlyMap<number, ReadonlySet<bigint>>;
}

function headOf(side: { readonly manifest: Side["manifest"] }): {
  readonly key: string;
  readonly entry: CborMap;
  readonly head: Address;
} | undefined {
  for (const key of TOMBSTONE_KEYS) {
    const entry = side.manifest.registry.get(key);
    if (entry === undefined) continue;
    const head = entry instanceof Map ? entry.get("head") : undefined;
    if (!(entry instanceof Map) || !(head instanceof Uint8Array)) {
      // Readers take such an entry for "no tombstones" and show deleted rows again (FORMAT 8).
      throw malformedObject(
        { kind: "registry" },
        `${key} is not a map with a head`,
        "{head: address}",
      );
    }
    return { key, entry: entry as CborMap, head: addressFromBytes(head) };
  }
  return undefined;
}

/**
 * Reads all tombstones behind `heads`, each object once.
 *
 * @param read reads and hash-checks an object
 * @throws DreamDBError object-missing, hash-mismatch, malformed-object
 */
async function readTombstones(
  heads: readonly Address[],
  read: (path: string, address: Address) => Promise<Uint8Array>,
): Promise<{
  readonly anchors: ReadonlySet<bigint>;
  readonly heads: ReadonlyMap<Address, TombstoneHead>;
}> {
  const anchors = new Set<bigint>();
  const seen = new Map<Address, TombstoneHead>();
  const waiting = [...heads];

  const readPage = async (reference: TombstonePageReference): Promise<void> => {
    const path = tombstonePath(reference.page);
    const page = decodeTombstonePage(await read(path, reference.page), path);
    checkTombstonePage(reference, page, path);
    if ("tombstones" in page) { for (const { anchor } of page.tombstones) anchors.add(anchor); }
    else await Promise.all(page.children.map(readPage));
  };
  while (waiting.length > 0) {
    const address = waiting.pop();
    if (address === undefined || seen.has(address)) continue;
    const path = tombstonePath(address);
    const head = decodeTombstoneHead(await read(path, address), path);
    seen.set(address, head);
    waiting.push(...head.parents);
    if (head.form === "list") { for (const { anchor } of head.tombstones) anchors.add(anchor); }
    else if (head.root !== undefined) await readPage(head.root);
  }
  return { anchors, heads: seen };
}

/**
 * Joins the tombstone heads of `sides`.
 *
 * @param read reads and hash-checks an object
 * @param nowMilliseconds the time a joining index is issued at
 */
export async function joinTombstones(
  sides: Sides,
  read: (path: string, address: Address) => Promise<Uint8Array>,
  nowMilliseconds: bigint,
): Promise<JoinedTombstones> {
  const { trunk, branches } = sides;
  const ours = headOf(trunk);
  const deleted = new Map<number, ReadonlySet<bigint>>();
  // Sides mostly have the head of their base: each head is read once and its set is shared.
  const reading = new Map<Address, ReturnType<typeof readTombstones>>();
  for (const side of [trunk, ...branches]) {
    const head = headOf(side)?.head;
    if (head !== undefined && !reading.has(head)) reading.set(head, readTombstones([head], read));
  }
  await Promise.all(reading.values());
  for (const side of [trunk, ...branches]) {
    const read = await reading.get(headOf(side)?.head ?? trunk.tip);
    if (read !== undefined) deleted.set(side.position, read.anchors);
  }
  const changed = branches.flatMap((branch) => {
    const theirs = headOf(branch);
    const before = headOf({ manifest: branch.baseManifest });
    return theirs === undefined || theirs.head === before?.head ? [] : [{ branch, theirs, before }];
  });
  const key = ours?.key ?? changed[0]?.theirs.key ?? "dreamdb.tombstones";
  const own = ours === undefined ? undefined : { key: ours.key, value: ours.entry };
  const distinct = new Set(changed.map(({ theirs }) => theirs.head));
  if (ours !== undefined) distinct.delete(ours.head);
  if (distinct.size === 0) return { entry: own, object: undefined, deleted };

  const trunkChanged = changed.some(({ before }) => ours?.head !== before?.head);
  const first = changed.find(({ theirs }) => distinct.has(theirs.head));
  if (distinct.size === 1 && !trunkChanged && first !== undefined) {
    return {
      entry: { key: first.theirs.key, value: first.theirs.entry },
      object: undefined,
      deleted,
    };
  }
  const heads = [...distinct, ...(ours === undefined ? [] : [ours.head])];
  const decoded = (await readTombstones(heads, read)).heads;
  const list = heads.map((head) => decoded.get(head)).find((head) => head?.form === "list");
  const joined = list?.form === "list" && trunk.manifest.tracks.form === "legacy"
    ? joinTombstoneLists(heads, list.prefix, nowMilliseconds)
    : joinTombstoneHeads(
      heads,
      trunk.manifest.timelines[0] ?? heads[0] as Address,
      nowMilliseconds,
    );
  const bytes = encodeTombstoneHead(joined);
  const address = addressOf(bytes);
  const value = new Map<string, CborValue>(ours?.entry ?? first?.theirs.entry ?? []);
  value.set("head", addressBytes(address));
  return { entry: { key, value }, object: { path: tombstonePath(address), bytes }, deleted };
}
