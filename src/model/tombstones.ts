/**
 * Tombstones: which anchors are deleted. A head is an index with a tree of pages (releases since
 * 0.0.11) or a list (before); both can have parents, and what is deleted is the union of the own
 * anchors and those of everything reachable through the parents.
 *
 * @module
 */

import { addressBytes, compareAddresses } from "../encoding/address.ts";
import type { Address } from "../encoding/address.ts";
import { encodeCanonical } from "../encoding/cbor-encode.ts";
import type { CborMap, CborValue } from "../encoding/cbor-value.ts";
import { asAddress, asArray, asMap, asUint, checkKeys, malformedObject } from "./malformed.ts";
import type { Subject } from "./malformed.ts";
import { decodeMap } from "./object-map.ts";
import {
  decodePageReference,
  decodeTombstone,
  encodePageReference,
  encodeTombstone,
} from "./tombstone-page.ts";
import type { Tombstone, TombstonePageReference } from "./tombstone-page.ts";

const INDEX_KIND = "dreamdb.tombstone-index.v1";
const LIST_KIND = /^(vortex|dreamdb)\.tombstone-list\.v([12])$/;

/** The head written by releases since 0.0.11 (FORMAT 8). */
export interface TombstoneIndex {
  readonly form: "index";
  /** The tree of own tombstones; undefined when the index only joins its parents. */
  readonly root: TombstonePageReference | undefined;
  /** Other heads whose tombstones count too, strictly ascending by their bytes. */
  readonly parents: readonly Address[];
  readonly timeline: Address;
  /** Milliseconds since 1970. */
  readonly issuedAt: bigint;
}

/** The head written by releases 0.0.1 to 0.0.10 (LEGACY 3.6). */
export interface TombstoneList {
  readonly form: "list";
  /** Which prefix the kind has: `vortex` until 0.0.3. */
  readonly prefix: "vortex" | "dreamdb";
  /** Version 1 counts for every timeline of the store, version 2 for the one it names. */
  readonly version: 1 | 2;
  readonly tombstones: readonly Tombstone[];
  readonly parents: readonly Address[];
  readonly timeline: Address | undefined;
  /** Milliseconds since 1970. */
  readonly issuedAt: bigint;
}

/** What the registry's `head` names. */
export type TombstoneHead = TombstoneIndex | TombstoneList;

/**
 * Decodes a tombstone head of either form (FORMAT 8, LEGACY 3.6).
 * @throws DreamDBError malformed-cbor, malformed-object
 */
export function decodeTombstoneHead(bytes: Uint8Array, path?: string): TombstoneHead {
  const subject = { kind: "tombstone head", path };
  const map = decodeMap(subject, bytes);
  const kind = map.get("kind");
  if (kind === INDEX_KIND) return decodeIndex(subject, map);
  const list = typeof kind === "string" ? LIST_KIND.exec(kind) : null;
  if (list === null) {
    throw malformedObject(
      subject,
      `'kind' is ${typeof kind === "string" ? JSON.stringify(kind) : "not a text"}`,
      `"${INDEX_KIND}" or a "….tombstone-list.v1"`,
    );
  }
  return decodeList(
    subject,
    map,
    list[1] === "vortex" ? "vortex" : "dreamdb",
    list[2] === "2" ? 2 : 1,
  );
}

/** Encodes a tombstone head; the inverse of `decodeTombstoneHead`. */
export function encodeTombstoneHead(head: TombstoneHead): Uint8Array {
  const fields: [string, CborValue][] = [
    ["parents", head.parents.map(addressBytes)],
    ["issued_at", head.issuedAt],
  ];
  if (head.timeline !== undefined) fields.push(["timeline", addressBytes(head.timeline)]);
  if (head.form === "index") {
    fields.push(
      ["kind", INDEX_KIND],
      ["root", head.root === undefined ? null : encodePageReference(head.root)],
    );
  } else {
    fields.push(
      ["kind", `${head.prefix}.tombstone-list.v${head.version}`],
      ["anchors", head.tombstones.map(encodeTombstone)],
    );
  }
  return encodeCanonical(new Map(fields));
}

/**
 * The index that joins several heads: no tree of its own, the distinct heads as sorted parents.
 * The reference accepts any number of parents (FORMAT 8).
 * @param issuedAt milliseconds since 1970
 */
export function joinTombstoneHeads(
  heads: Iterable<Address>,
  timeline: Address,
  issuedAt: bigint,
): TombstoneIndex {
  const parents = [...new Set(heads)].sort(compareAddresses);
  return { form: "index", root: undefined, parents, timeline, issuedAt };
}

/**
 * The list that joins several heads of a Legacy store (LEGACY 3.6).
 * @param issuedAt milliseconds since 1970
 */
export function joinTombstoneLists(
  heads: Iterable<Address>,
  prefix: "vortex" | "dreamdb",
  issuedAt: bigint,
): TombstoneList {
  return {
    form: "list",
    prefix,
    version: 1,
    tombstones: [],
    parents: [...new Set(heads)].sort(compareAddresses),
    timeline: undefined,
    issuedAt,
  };
}

function decodeIndex(subject: Subject, map: CborMap): TombstoneIndex {
  checkKeys(subject, "the object", map, ["kind", "root", "parents", "timeline", "issued_at"]);
  const root = map.get("root");
  const parents = decodeParents(subject, map);
  parents.forEach((parent, index) => {
    const before = parents[index - 1];
    if (before !== undefined && compareAddresses(before, parent) >= 0) {
      throw malformedObject(
        subject,
        `parent ${index} (${parent}) is not above the one before it`,
        "parents strictly ascending by their bytes",
      );
    }
  });
  return {
    form: "index",
    root: root === null ? undefined : decodePageReference(subject, "'root'", root),
    parents,
    timeline: asAddress(subject, "'timeline'", map.get("timeline")),
    issuedAt: asUint(subject, "'issued_at'", map.get("issued_at")),
  };
}

function decodeList(
  subject: Subject,
  map: CborMap,
  prefix: "vortex" | "dreamdb",
  version: 1 | 2,
): TombstoneList {
  const keys = ["kind", "anchors", "parents", "issued_at"];
  checkKeys(subject, "the object", map, version === 2 ? [...keys, "timeline"] : keys);
  const anchors = asArray(subject, "'anchors'", map.get("anchors"));
  return {
    form: "list",
    prefix,
    version,
    tombstones: anchors.map((value, index) =>
      decodeTombstone(subject, asMap(subject, `tombstone ${index}`, value))
    ),
    parents: decodeParents(subject, map),
    timeline: version === 2 ? asAddress(subject, "'timeline'", map.get("timeline")) : undefined,
    issuedAt: asUint(subject, "'issued_at'", map.get("issued_at")),
  };
}

function decodeParents(subject: Subject, map: CborMap): readonly Address[] {
  return asArray(subject, "'parents'", map.get("parents")).map((value, index) =>
    asAddress(subject, `parent ${index}`, value)
  );
}
