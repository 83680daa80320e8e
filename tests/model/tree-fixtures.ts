import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { addressOf } from "../../src/encoding/address.ts";
import { listFiles, unpackFixture } from "../support/fixtures.ts";

const root = unpackFixture("trees");

/** A timeline's name, where a path needs one. */
const TIMELINE = addressOf(new Uint8Array(0));

interface Sequence {
  readonly modality: string;
  /** Addresses of the Tracks after each commit. */
  readonly tracks: readonly string[];
}

/** The commits of one tree of the fixture; undefined for the tombstones, which have none. */
export function treeSequence(tree: string): Sequence | undefined {
  const file = join(root, tree, "sequence.json");
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) as Sequence : undefined;
}

/** Every object of the fixture, with the path it would have in a store. */
export function* treeObjects(): Generator<{ readonly path: string; readonly file: string }> {
  for (const tree of readdirSync(root)) {
    const sequence = treeSequence(tree);
    const prefix = sequence === undefined ? "tombstones" : `${TIMELINE}/${sequence.modality}`;
    for (const name of listFiles(join(root, tree))) {
      if (name.endsWith(".json")) continue;
      yield { path: `${prefix}/${name}`, file: join(root, tree, name) };
    }
  }
}
