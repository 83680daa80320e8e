import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { addressFromBytes, addressOf } from "../../src/encoding/address.ts";
import { equalBytes, fromHex } from "../../src/encoding/bytes.ts";
import { CborCursor } from "../../src/encoding/cbor-cursor.ts";
import { decodeCanonical } from "../../src/encoding/cbor-decode.ts";
import { encodeCanonical } from "../../src/encoding/cbor-encode.ts";
import type { CborMap, CborValue } from "../../src/encoding/cbor-value.ts";
import { decodeTreemap, encodeTreemap } from "../../src/encoding/treemap.ts";
import { listFiles, projectRoot, unpackFixture } from "../support/fixtures.ts";

interface ReferenceObject {
  readonly class: string;
  readonly store: string;
  readonly path: string;
  readonly hex: string;
  /** Absent for an outboard, which is named after the object it belongs to. */
  readonly address?: string;
}

const vectors: readonly ReferenceObject[] = JSON.parse(
  readFileSync(join(projectRoot, "fixtures/vectors.json"), "utf8"),
);

/** Kinds that FORMAT 2 and 5 to 7 call structural and canonical. */
const canonicalClass = new RegExp(
  "^(genesis|manifests|tombstones|(spatial|scalar|graph|entity-key)-index|vector-compressor" +
    "|geometry-item)/|/(track|index|items|video-item)/<h>$",
);

interface StoredSet {
  readonly name: string;
  readonly offset: number;
  readonly length: number | undefined;
}

/** Where the entries of a scalar Track or of a leaf of its tree say that anchor sets lie. */
function storedSets(object: CborValue): readonly StoredSet[] {
  const map = object as CborMap;
  const entries = map.get("type") === "leaf" ? map.get("entries") : map.get("object_index");
  if (!Array.isArray(entries)) return [];
  return (entries as readonly (readonly CborValue[])[]).map((entry) => ({
    name: addressFromBytes(entry[3] as Uint8Array),
    offset: Number(entry[4] ?? 0n),
    length: entry[5] === undefined ? undefined : Number(entry[5]),
  }));
}

describe("every kind of object the reference writes", () => {
  for (const { store, class: kind, hex, address } of vectors) {
    if (address === undefined) continue;
    test(`${store}: ${kind} has the address we compute`, () => {
      expect(addressOf(fromHex(hex)) as string).toBe(address);
    });
  }
});

describe("every canonical object the reference writes re-encodes to its bytes:", () => {
  const canonical = vectors.filter((vector) => canonicalClass.test(vector.class));

  test("there are many kinds", () => expect(canonical.length).toBeGreaterThan(50));

  for (const vector of canonical) {
    test(`${vector.store}: ${vector.class}`, () => {
      const bytes = fromHex(vector.hex);
      expect(equalBytes(encodeCanonical(decodeCanonical(bytes)), bytes)).toBe(true);
    });
  }
});

for (const archive of ["stores", "paged-stores"]) {
  describe(`in ${archive}`, () => {
    const folder = unpackFixture(archive);
    const read = (path: string) => new Uint8Array(readFileSync(join(folder, path)));

    test("every Track, page and Manifest re-encodes to its bytes", () => {
      const paths = listFiles(folder).filter((path) =>
        /\/(track|index|manifests|genesis)\/[^/]+$/.test(path)
      );
      for (const path of paths) {
        const bytes = read(path);
        if (!equalBytes(encodeCanonical(decodeCanonical(bytes)), bytes)) throw new Error(path);
        const cursor = new CborCursor(bytes);
        cursor.skip();
        expect(cursor.done).toBe(true);
      }
      expect(paths.length).toBeGreaterThan(50);
    });

    test("every anchor set a Track points at re-encodes to its bytes", () => {
      let sets = 0;
      for (const path of listFiles(folder)) {
        if (!/\/scalar\.[^/]*\/(track|index)\/[^/]+$/.test(path)) continue;
        for (const { name, offset, length } of storedSets(decodeCanonical(read(path)))) {
          const bucket = path.replace(/\/(track|index)\/[^/]+$/, `/bucket/${name}`);
          const whole = read(bucket);
          const stored = whole.subarray(offset, offset + (length ?? whole.length));
          expect(stored[0]).toBe(1);
          const anchors = decodeTreemap(stored.subarray(1));
          if (!equalBytes(encodeTreemap(anchors), stored.subarray(1))) throw new Error(bucket);
          sets++;
        }
      }
      expect(sets).toBeGreaterThan(20);
    });
  });
}
