import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { equalBytes } from "../../src/encoding/bytes.ts";
import { isDreamDBError } from "../../src/errors.ts";
import { listFiles, unpackFixture } from "../support/fixtures.ts";
import { classify, objectClasses } from "./classes.ts";
import { treeObjects } from "./tree-fixtures.ts";

/** For each class the smallest objects of the example stores, so that every byte can be changed. */
const SAMPLES_PER_CLASS = 3;
const LARGEST_SAMPLE = 5_000;
const TIMEOUT = 60_000;
const samples = new Map<string, { path: string; bytes: Uint8Array; modality: string }[]>();
const addSample = (path: string, file: string): void => {
  const found = classify(path);
  if (found === undefined) return;
  const list = samples.get(found.objectClass.name) ?? [];
  list.push({ path, bytes: new Uint8Array(readFileSync(file)), modality: found.modality });
  samples.set(found.objectClass.name, list);
};
for (const collection of ["stores", "paged-stores"]) {
  const root = unpackFixture(collection);
  for (const store of readdirSync(root).filter((name) => name !== "tomb3")) {
    for (const path of listFiles(join(root, store))) addSample(path, join(root, store, path));
  }
}
for (const { path, file } of treeObjects()) addSample(path, file);
for (const [name, list] of samples) {
  list.sort((a, b) => a.bytes.length - b.bytes.length);
  const small = list.filter((sample) => sample.bytes.length <= LARGEST_SAMPLE);
  const step = Math.max(1, Math.floor(small.length / SAMPLES_PER_CLASS));
  samples.set(name, small.filter((_, index) => index % step === 0).slice(0, SAMPLES_PER_CLASS));
}

const classes = objectClasses.map(({ name, codec }) => ({ name, codec }));

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
  }, TIMEOUT);
});

test("every class has samples", () => {
  expect(objectClasses.filter(({ name }) => (samples.get(name) ?? []).length === 0)).toEqual([]);
});

/** The bytes with one bit or byte changed, cut short or made longer; of large objects a part of these. */
function* changes(bytes: Uint8Array): Generator<Uint8Array> {
  const step = Math.ceil(bytes.length / 400);
  for (let at = 0; at < bytes.length; at += step) {
    for (const mask of [0x01, 0x20, 0x80, 0xff]) {
      const changed = bytes.slice();
      changed[at] = (bytes[at] ?? 0) ^ mask;
      yield changed;
    }
  }
  for (let length = 0; length < bytes.length; length += 7 * step) yield bytes.slice(0, length);
  yield Uint8Array.of(...bytes, 0);
}
