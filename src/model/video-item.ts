/**
 * VideoItem: one prepared video, as fragments after a shared init segment.
 *
 * @module
 */

import { addressBytes } from "../encoding/address.ts";
import type { Address } from "../encoding/address.ts";
import { encodeCanonical } from "../encoding/cbor-encode.ts";
import type { CborValue } from "../encoding/cbor-value.ts";
import { asAddress, asArray, asText, asUint, checkKeys, malformedObject } from "./malformed.ts";
import type { Subject } from "./malformed.ts";
import { decodeMap, requireValue } from "./object-map.ts";

/** One fragment of a video. */
export interface VideoFragment {
  /** Nanoseconds from the start of the item. */
  readonly start: bigint;
  /** Nanoseconds. */
  readonly duration: bigint;
  /** Bytes. */
  readonly size: bigint;
  readonly address: Address;
  /** Where the fragment begins in a pack; undefined when the object is the fragment. */
  readonly offset: bigint | undefined;
}

/** A VideoItem (PAGED 7b). */
export interface VideoItem {
  readonly init: Address;
  /** Nanoseconds. */
  readonly duration: bigint;
  readonly modality: string;
  readonly fragments: readonly VideoFragment[];
}

/**
 * Decodes a VideoItem; fragments ascend by their start (PAGED 7b).
 * @throws DreamDBError malformed-cbor, malformed-object
 */
export function decodeVideoItem(bytes: Uint8Array, path?: string): VideoItem {
  const subject = { kind: "VideoItem", path };
  const map = decodeMap(subject, bytes);
  checkKeys(subject, "the object", map, ["v", "init", "duration", "modality", "fragments"]);
  requireValue(subject, "'v'", map.get("v"), 1n);
  const fragments = asArray(subject, "'fragments'", map.get("fragments")).map((value, index) =>
    decodeFragment(subject, `fragment ${index}`, value)
  );
  fragments.forEach((fragment, index) => {
    const before = fragments[index - 1];
    if (before !== undefined && before.start > fragment.start) {
      throw malformedObject(
        subject,
        `fragment ${index} starts at ${fragment.start} after ${before.start}`,
        "fragments ascending by their start",
      );
    }
  });
  return {
    init: asAddress(subject, "'init'", map.get("init")),
    duration: asUint(subject, "'duration'", map.get("duration")),
    modality: asText(subject, "'modality'", map.get("modality")),
    fragments,
  };
}

/** Encodes a VideoItem; the inverse of `decodeVideoItem`. */
export function encodeVideoItem(item: VideoItem): Uint8Array {
  return encodeCanonical(
    new Map<string, CborValue>([
      ["v", 1n],
      ["init", addressBytes(item.init)],
      ["duration", item.duration],
      ["modality", item.modality],
      [
        "fragments",
        item.fragments.map(({ start, duration, size, address, offset }) => [
          start,
          duration,
          size,
          addressBytes(address),
          ...(offset === undefined ? [] : [false, offset]),
        ]),
      ],
    ]),
  );
}

function decodeFragment(subject: Subject, name: string, value: CborValue): VideoFragment {
  const fields = asArray(subject, name, value);
  const [start, duration, size, address, chunked, offset] = fields;
  if (fields.length !== 4 && !(fields.length === 6 && chunked === false)) {
    throw malformedObject(
      subject,
      `${name} has ${fields.length} elements`,
      "[start, duration, size, address], or the same and false, offset",
    );
  }
  return {
    start: asUint(subject, `start of ${name}`, start),
    duration: asUint(subject, `duration of ${name}`, duration),
    size: asUint(subject, `size of ${name}`, size),
    address: asAddress(subject, `address of ${name}`, address),
    offset: fields.length === 6 ? asUint(subject, `offset of ${name}`, offset) : undefined,
  };
}
