import { expect, test } from "bun:test";

import { addressBytes, addressOf } from "../../src/encoding/address.ts";
import { concatBytes } from "../../src/encoding/bytes.ts";
import { decodeCanonical } from "../../src/encoding/cbor-decode.ts";
import { encodeCanonical } from "../../src/encoding/cbor-encode.ts";
import { inlineTrack } from "../../src/merge/join-track.ts";
import type { TrackIndex } from "../../src/model/track.ts";

const START = 1_800_000_000_000_000_000n;
const address = addressOf(new Uint8Array(0));
const item = addressBytes(address);
const key = (text: string) => new TextEncoder().encode(text);

test("both indexes of a VideoItem Track count from its coverage, the second ordered by key bytes", () => {
  // The order in which the reference keeps these keys; as CBOR "bb" would come before "abc".
  const keys = ["bb", "a", "abc", "ab"];
  const entries = keys.map((text, n) => [START + BigInt(n) * 10n, 3n, key(text), item]);
  const coverage = { start: START, end: START + 33n };
  const empty = { form: "inline", count: 0, entries: new Uint8Array(0) } as const;
  const like = {
    coverage,
    modality: "ai.dreamlake.media.video_item.h264.version=1",
    timeline: address,
    index: empty,
    indexName: "object_index",
    initSegment: undefined,
    itemKeyIndex: empty,
  } as const;
  const bytes = concatBytes(entries.map((entry) => encodeCanonical(entry)));
  const track = inlineTrack(like, "video-item", { count: entries.length, bytes, coverage });
  expect(values(track.index)).toEqual(
    keys.map((text, n) => [BigInt(n) * 10n, 3n, key(text), item]),
  );
  expect(values(track.itemKeyIndex)).toEqual([
    [key("a"), 10n, 3n, item],
    [key("ab"), 30n, 3n, item],
    [key("abc"), 20n, 3n, item],
    [key("bb"), 0n, 3n, item],
  ]);
});

/** The decoded entries of an inline index. */
function values(index: TrackIndex | undefined): unknown {
  if (index?.form !== "inline") throw new Error("not inline");
  return decodeCanonical(concatBytes([Uint8Array.of(0x80 + index.count), index.entries]));
}
