import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { equalBytes } from "../../src/encoding/bytes.ts";
import { isDreamDBError } from "../../src/errors.ts";
import { listFiles, unpackFixture } from "../support/fixtures.ts";
import { classify, objectClasses } from "./classes.ts";

/** For each class the smallest objects of the example stores, so that every byte can be changed. */
const SAMPLES_PER_CLASS = 3;
const samples = new Map<string, { path: string; bytes: Uint8Array; modality: string }[]>();
for (const collection of ["stores", "paged-stores"]) {
  const root = unpackFixture(collection);
  for (const store of readdirSync(root).filter((name) => name !== "tomb3")) {
    for (const path of listFiles(join(root, store))) {
      const found = classify(path);
      if (found === undefined) continue;
      const list = samples.get(found.objectClass.name) ?? [];
      const bytes = new Uint8Array(readFileSync(join(root, store, path)));
      list.push({ path, bytes, modality: found.modality });
      samples.set(found.objectClass.name, list);
    }
  }
}
for (const [name, list] of samples) {
  list.sort((a, b) => a.bytes.length - b.bytes.length);
  const step = Math.max(1, Math.floor(list.length / SAMPLES_PER_CLASS));
  samples.set(
    name,
    list.filter((sample, index) => index % step === 0 && sample.bytes.length <= 3_000)
      .slice(0, SAMPLES_PER_CLASS),
  );
}

const classes = objectClasses
  .filter(({ name }) => samples.has(name))
  .map(({ name, codec }) => ({ name, codec }));

describe("changed bytes are refused, or are another object with its own bytes", () => {
  test.each(classes)("$name", ({ name, codec }) => {
    let refused = 0;
    for (const { path, bytes, modality } of samples.get(name) ?? []) {
      for (const changed of changes(bytes)) {
        try {
          const again = codec(changed, path, modality);
          if (!equalBytes(again, changed)) {
            throw new Error(`${path}: ${changed.length} bytes are read leniently`);
          }
        } catch (error) {
          if (!isDreamDBError(error)) throw error;
          expect(["malformed-cbor", "malformed-object", "malformed-address"]).toContain(error.code);
          refused++;
        }
      }
    }
    expect(refused).toBeGreaterThan(0);
  });
});

test("every class has a sample but the key pages of VideoItems, which no example store has", () => {
  expect(objectClasses.map(({ name }) => name).filter((name) => !samples.has(name))).toEqual([
    "VideoItem key page",
  ]);
});

/** The bytes with one bit or byte changed, cut short or made longer. */
function* changes(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at++) {
    for (const mask of [0x01, 0x20, 0x80, 0xff]) {
      const changed = bytes.slice();
      changed[at] = (bytes[at] ?? 0) ^ mask;
      yield changed;
    }
  }
  for (let length = 0; length < bytes.length; length += 7) yield bytes.slice(0, length);
  yield Uint8Array.of(...bytes, 0);
}
