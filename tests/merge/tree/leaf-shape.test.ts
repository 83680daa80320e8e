import { describe, expect, test } from "bun:test";
import fc from "fast-check";

import { addressOf } from "../../../src/encoding/address.ts";
import { EntryReader } from "../../../src/merge/tree/entry-reader.ts";
import { indexFormat } from "../../../src/merge/tree/index-format.ts";
import { leafShape, leafTail } from "../../../src/merge/tree/leaf-shape.ts";
import { sortedEntries } from "../../../src/merge/tree/tree-format.ts";
import { decodeIndexPage } from "../../../src/model/index-page.ts";
import type { IndexPage } from "../../../src/model/index-page.ts";
import { parseIndexEntry } from "../../../src/model/index-entry.ts";
import type { IndexEntry } from "../../../src/model/index-entry.ts";
import { addressBytes } from "../../../src/encoding/address.ts";
import { encodeCanonical } from "../../../src/encoding/cbor-encode.ts";
import type { CborValue } from "../../../src/encoding/cbor-value.ts";
import { BASE_TIME } from "./memory-pages.ts";

const format = indexFormat("spatial-bucket", "m");
const tail = leafTail("m");
const bucket = addressBytes(addressOf(new Uint8Array()));

/** Starts whose integers take one to nine bytes relative to `t_min`. */
const start = fc.oneof(
  fc.bigInt(0n, 30n),
  fc.bigInt(0n, 70_000n),
  fc.bigInt(0n, 0x2_0000_0000n),
).map((offset) => BASE_TIME + offset);
const entry = fc.record({
  // Texts from 24 characters on have a head of two bytes.
  cell: fc.oneof(fc.constantFrom(0, 1, 2, 3), fc.nat(60)),
  bits: fc.constantFrom(7, 26),
  start,
  duration: fc.bigInt(1n, 300n),
  length: fc.bigInt(0n, 70_000n),
  more: fc.nat(2),
}).map(({ cell, bits, start, duration, length, more }): IndexEntry => {
  const text = cell.toString(2).padStart(bits, "0");
  const fields: CborValue[] = [text, start, start + duration, length, bucket];
  const rest: CborValue[] = [7n, bucket];
  return parseIndexEntry(
    { kind: "entry" },
    "spatial-bucket",
    encodeCanonical([...fields, ...rest.slice(0, more)]),
  );
});
const leaf = fc.array(entry, { minLength: 1, maxLength: 12 })
  .map((entries) => format.encodeLeaf(sortedEntries(format, entries)));

function decoded(bytes: Uint8Array): Extract<IndexPage, { type: "leaf" }> | undefined {
  try {
    const page = decodeIndexPage(bytes, { kind: "spatial-bucket", modality: "m" });
    return page.type === "leaf" ? page : undefined;
  } catch {
    return undefined;
  }
}

describe("a leaf that is measured instead of decoded", () => {
  test("has the entries that decoding finds", () => {
    fc.assert(
      fc.property(leaf, (bytes) => {
        const shape = leafShape(bytes, addressOf(bytes), tail);
        const page = decoded(bytes);
        if (shape === undefined || page === undefined) throw new Error("a sound leaf was made");
        const reader = new EntryReader(page.start);
        const entries = page.entries.map((_, index) => {
          const at = shape.offsets[index] ?? 0;
          expect(reader.read(bytes, at)).toBe(true);
          return reader.entry(bytes, at);
        });
        expect(entries).toEqual(page.entries.map((each) => ({ ...each })));
        expect(shape.child).toEqual(
          format.childOf({ leaf: true, entries: page.entries }, addressOf(bytes)),
        );
      }),
      { numRuns: 300 },
    );
  });

  test("is refused where decoding refuses it, and nowhere else", () => {
    let refused = 0;
    const alteration = fc.record({
      at: fc.nat(2_000),
      byte: fc.oneof(
        fc.nat(255),
        fc.constantFrom(0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x30, 0x31, 0x58, 0x60, 0x78, 0x85),
      ),
      how: fc.constantFrom("replace", "insert", "remove", "cut"),
    });
    fc.assert(
      fc.property(leaf, fc.array(alteration, { minLength: 1, maxLength: 2 }), (bytes, changes) => {
        const altered = [...bytes];
        for (const { at, byte, how } of changes) {
          const place = at % Math.max(altered.length, 1);
          if (how === "cut") altered.length = place;
          else if (how === "remove") altered.splice(place, 1);
          else altered.splice(place, how === "insert" ? 0 : 1, byte);
        }
        const result = Uint8Array.from(altered);
        const page = decoded(result);
        const shape = leafShape(result, addressOf(result), tail);
        if (page === undefined) refused++;
        expect([result, shape === undefined]).toEqual([result, page === undefined]);
      }),
      { numRuns: 3_000 },
    );
    expect(refused).toBeGreaterThan(1_000);
  });

  test("is refused when a cell has more than 255 characters, which only decoding can tell", () => {
    const wide = parseIndexEntry(
      { kind: "entry" },
      "spatial-bucket",
      encodeCanonical(["0".repeat(256), BASE_TIME, BASE_TIME + 1n, 1n, bucket]),
    );
    const bytes = format.encodeLeaf([wide]);
    expect(decoded(bytes)?.entries.length).toBe(1);
    expect(leafShape(bytes, addressOf(bytes), tail)).toBeUndefined();
  });
});
