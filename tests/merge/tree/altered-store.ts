import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { addressBytes, addressFromBytes, addressOf } from "../../../src/encoding/address.ts";
import type { Address } from "../../../src/encoding/address.ts";
import { decodeCanonical } from "../../../src/encoding/cbor-decode.ts";
import { encodeCanonical } from "../../../src/encoding/cbor-encode.ts";
import type { CborValue } from "../../../src/encoding/cbor-value.ts";
import { compareEdges } from "../../../src/model/binding.ts";
import type { Binding } from "../../../src/model/binding.ts";
import { decodeManifest, encodeManifest } from "../../../src/model/manifest.ts";
import { indexPagePath, manifestPath, trackPath } from "../../../src/store/paths.ts";
import { copyStore, unpackFixture } from "../../support/fixtures.ts";

/** A decoded map that an alteration may change in place. */
export type Fields = Map<string, CborValue>;

/** An object to write in the place of the one that was there: a map, or bytes as they are. */
export type Altered = Fields | Uint8Array;

/** What is changed of a tree with two levels; what is left out stays. */
export interface Alteration {
  /** A leaf that only this ref has. */
  readonly leaf?: (page: Fields) => Altered;
  /** The root, after the altered leaf was put into it; `at` is the position of that leaf. */
  readonly root?: (page: Fields, at: number) => Altered;
  /** The descriptor in the Track. */
  readonly descriptor?: (index: Fields) => void;
  /** Removes the leaf from the store. */
  readonly removeLeaf?: boolean;
}

/** An altered store. */
export interface AlteredStore {
  readonly folder: string;
  /** The altered pages and the Track. */
  readonly leaf: Address;
  readonly root: Address;
  readonly track: Address;
}

/** A copy of a store of the fixture `paged-stores` in which the tree of `ref` is altered. */
export function alteredStore(name: string, ref: string, alteration: Alteration): AlteredStore {
  const folder = copyStore(join(unpackFixture("paged-stores"), name));
  const read = (path: string): Uint8Array => new Uint8Array(readFileSync(join(folder, path)));
  const write = (path: string, bytes: Uint8Array): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), bytes);
  };
  const tip = (of: string): Address => addressFromBytes(read(`refs/${of}`));
  const bindingOf = (of: string): Binding => {
    const { active } = decodeManifest(read(manifestPath(tip(of)))).tracks;
    const binding = active.find(({ field }) => field !== undefined && FIELDS.includes(field));
    if (binding === undefined) throw new Error(`no field in ${name}`);
    return binding;
  };
  const binding = bindingOf(ref);
  const { timeline, modality } = binding;
  const pagePath = (address: Address): string => indexPagePath(timeline, modality, address);
  const put = (object: Altered, pathOf: (address: Address) => string): Address => {
    const bytes = object instanceof Uint8Array ? object : encodeCanonical(object);
    const address = addressOf(bytes);
    write(pathOf(address), bytes);
    return address;
  };
  const trackFields = (of: Binding): Fields =>
    fieldsOf(read(trackPath(timeline, modality, of.address)));
  const rootOf = (track: Fields): Fields => fieldsOf(read(pagePath(rootAddress(track))));

  const track = trackFields(binding);
  const index = track.get("object_index") as Fields;
  const root = rootOf(track);
  const children = [...root.get("entries") as CborValue[][]];
  const shared = new Set(childAddresses(rootOf(trackFields(bindingOf("base")))));
  const at = childAddresses(root).findIndex((address) => !shared.has(address));
  const child = children[at];
  const oldLeaf = childAddresses(root)[at];
  if (child === undefined || oldLeaf === undefined) {
    throw new Error(`${ref} has no leaf of its own`);
  }
  const leafFields = fieldsOf(read(pagePath(oldLeaf)));
  const leaf = put(alteration.leaf?.(leafFields) ?? leafFields, pagePath);
  children[at] = child.map((part) =>
    part instanceof Uint8Array && part.length === 33 ? addressBytes(leaf) : part
  );
  root.set("entries", children);
  const newRoot = put(alteration.root?.(root, at) ?? root, pagePath);
  if (alteration.removeLeaf === true) rmSync(join(folder, pagePath(leaf)));
  index.set("root", addressBytes(newRoot));
  alteration.descriptor?.(index);
  const address = put(track, (own) => trackPath(timeline, modality, own));

  const manifest = decodeManifest(read(manifestPath(tip(ref))));
  const renamed = <Named extends { readonly address: Address }>(one: Named): Named =>
    one.address === binding.address ? { ...one, address } : one;
  const { tracks } = manifest;
  if (tracks.form === "legacy") throw new Error("an old store");
  const bytes = encodeManifest({
    ...manifest,
    tracks: {
      ...tracks,
      active: tracks.active.map(renamed),
      edges: tracks.edges.map((edge) => ({ ...edge, child: renamed(edge.child) }))
        .sort(compareEdges),
    },
  });
  write(manifestPath(addressOf(bytes)), bytes);
  writeFileSync(join(folder, "refs", ref), addressBytes(addressOf(bytes)));
  return { folder, leaf, root: newRoot, track: address };
}

const FIELDS = ["emb", "img", "n"];

function fieldsOf(bytes: Uint8Array): Fields {
  return decodeCanonical(bytes) as Fields;
}

function rootAddress(track: Fields): Address {
  return addressFromBytes((track.get("object_index") as Fields).get("root") as Uint8Array);
}

function childAddresses(root: Fields): readonly Address[] {
  return (root.get("entries") as CborValue[][]).map((child) => {
    const bytes = child.find((part) => part instanceof Uint8Array && part.length === 33);
    return addressFromBytes(bytes as Uint8Array);
  });
}
