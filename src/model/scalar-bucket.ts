/**
 * ScalarBucket: anchor sets. A bucket object is the plain concatenation of the sets of several
 * values; an index entry says where its set begins and how long it is.
 *
 * @module
 */

import { CborCursor } from "../encoding/cbor-cursor.ts";
import { CborWriter } from "../encoding/cbor-writer.ts";
import { decodeTreemap, encodeTreemap } from "../encoding/treemap.ts";
import { malformedObject } from "./malformed.ts";

/** The first byte of an anchor set in the roaring form. */
const TREEMAP_VERSION = 0x01;

/** How an anchor set is written: `array` by releases 0.0.1 and 0.0.2 only (LEGACY 3.5). */
export type AnchorSetForm = "treemap" | "array";

/**
 * Decodes one anchor set, whichever form it has: the byte 1 and a roaring treemap (FORMAT 7), or
 * a CBOR array (LEGACY 3.5). One Track can hold both.
 * @param maxAnchors refuses a set that claims more, before anything is allocated
 * @returns anchors in ns, strictly ascending
 * @throws DreamDBError malformed-object, malformed-cbor
 */
export function decodeAnchorSet(
  bytes: Uint8Array,
  path?: string,
  maxAnchors?: number,
): BigUint64Array {
  return anchorSetForm(bytes, path) === "treemap"
    ? decodeTreemap(bytes.subarray(1), maxAnchors === undefined ? {} : { maxAnchors })
    : decodeAnchorArray(bytes, path);
}

/**
 * Which form an anchor set has, by its first byte.
 * @throws DreamDBError malformed-object
 */
export function anchorSetForm(bytes: Uint8Array, path?: string): AnchorSetForm {
  const first = bytes[0] ?? 0;
  if (first === TREEMAP_VERSION) return "treemap";
  if (first >= 0x80 && first <= 0x9f) return "array";
  throw malformedObject(
    { kind: "anchor set", path },
    bytes.length === 0 ? "no bytes" : `the first byte 0x${first.toString(16)}`,
    "0x01 (roaring treemap) or 0x80 to 0x9f (CBOR array)",
  );
}

/**
 * Encodes an anchor set as the reference does since release 0.0.3 (FORMAT 7).
 * @param anchors in ns, strictly ascending
 */
export function encodeAnchorSet(anchors: BigUint64Array): Uint8Array {
  const treemap = encodeTreemap(anchors);
  const bytes = new Uint8Array(1 + treemap.length);
  bytes[0] = TREEMAP_VERSION;
  bytes.set(treemap, 1);
  return bytes;
}

/**
 * Encodes an anchor set as releases 0.0.1 and 0.0.2 do (LEGACY 3.5).
 * @param anchors in ns, strictly ascending
 */
export function encodeAnchorArray(anchors: BigUint64Array): Uint8Array {
  const writer = new CborWriter(16 + anchors.length * 9);
  writer.arrayHead(anchors.length);
  for (const anchor of anchors) writer.uint(anchor);
  return writer.finish();
}

function decodeAnchorArray(bytes: Uint8Array, path: string | undefined): BigUint64Array {
  const subject = { kind: "anchor set", path };
  const cursor = new CborCursor(bytes);
  const anchors = new BigUint64Array(cursor.readArrayLength());
  let before = -1n;
  for (let index = 0; index < anchors.length; index++) {
    const anchor = cursor.readUint();
    if (anchor <= before) {
      throw malformedObject(subject, `anchor ${anchor} after ${before}`, "anchors ascending");
    }
    anchors[index] = anchor;
    before = anchor;
  }
  if (!cursor.done) {
    throw malformedObject(subject, `${bytes.length - cursor.offset} bytes after the set`, "none");
  }
  return anchors;
}
