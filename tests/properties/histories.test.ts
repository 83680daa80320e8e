import { expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { MergeReport } from "../../src/merge/report.ts";
import { fieldKey } from "../../src/model/binding.ts";
import { describeWithReference } from "../support/describe-reference.ts";
import { backendUrl, scratchFolder } from "../support/fixtures.ts";
import { oracle } from "../support/reference.ts";
import type { StoreBuilder } from "../support/store-builder.ts";
import { findDefects, readRefDataset } from "../support/store-reader.ts";
import type { ReadDataset } from "../support/store-reader.ts";
import { described, union } from "./model.ts";
import type { State } from "./model.ts";
import { stories, tell } from "./story.ts";
import type { Told } from "./story.ts";

setDefaultTimeout(600_000);

/**
 * Reasons for which a history may be refused although no record is in it twice: a Layer or cell
 * that only --buckets=fuse joins, and histories that have several merge bases.
 */
const HONEST = ["cell-rewritten-twice", "ambiguous-merge-base"];

function onlyHonest(report: MergeReport): boolean {
  return report.refusals.every(({ code }) => HONEST.includes(code));
}

function stateOf({ records, deleted }: ReadDataset): State {
  return {
    records: new Map([...records].map(([field, list]) => [
      field,
      new Map(list.map(({ anchor, value }) => [anchor, value])),
    ])),
    deleted,
  };
}

/** Nothing is doubled, and every record has the value that it has on any other ref. */
function checkValues(dataset: ReadDataset, values: Map<string, string>): void {
  for (const [field, list] of dataset.records) {
    expect([field, new Set(list.map(({ anchor }) => anchor)).size]).toEqual([field, list.length]);
    for (const { anchor, value } of list) {
      const key = `${field} ${anchor}`;
      expect([key, value]).toEqual([key, values.get(key) ?? value]);
      values.set(key, value);
    }
  }
}

async function addresses(store: StoreBuilder): Promise<string> {
  const { tracks } = await store.manifest("trunk");
  return JSON.stringify(tracks.active.map((one) => [fieldKey(one), one.address]));
}

/** Runs something and puts all refs back; objects may stay, nothing refers to them. */
async function apart<Result>(store: StoreBuilder, run: () => Promise<Result>): Promise<Result> {
  const { refs } = store.connector;
  const before = new Map(refs);
  try {
    return await run();
  } finally {
    refs.clear();
    for (const [name, body] of before) refs.set(name, body);
  }
}

function wholeState({ states, branches }: Told): State {
  return union(["trunk", ...branches].flatMap((ref) => states.get(ref) ?? []));
}

test("every merge of a random history holds what its sides held, once", async () => {
  let merged = 0;
  await fc.assert(
    fc.asyncProperty(stories, fc.nat(), async (story, turn) => {
      const told = await tell(story);
      const { store, branches, states } = told;
      for (const report of told.reports) {
        expect(report.refusals.filter(({ code }) => !HONEST.includes(code))).toEqual([]);
      }
      const values = new Map<string, string>();
      for (const ref of ["trunk", ...branches]) {
        const dataset = await readRefDataset(store.connector, ref);
        checkValues(dataset, values);
        expect([ref, described(stateOf(dataset))]).toEqual([
          ref,
          described(states.get(ref) ?? wholeState(told)),
        ]);
        expect([ref, await findDefects(store.connector, await store.tip(ref))]).toEqual([ref, []]);
      }

      const expected = described(wholeState(told));
      const rotated = branches.map((_, index) =>
        branches[(index + turn) % branches.length] ?? "w0"
      );
      const results = new Map<string, string>();
      for (
        const [label, order, buckets] of [
          ["fuse", branches, "fuse"],
          ["fuse again", rotated, "fuse"],
          ["fuse reversed", branches.toReversed(), "fuse"],
          ["keep", branches, "keep"],
          ["keep reversed", branches.toReversed(), "keep"],
        ] as const
      ) {
        await apart(store, async () => {
          const report = await store.merge(order, { buckets });
          if (report.status === "refused") {
            expect([label, report.refusals.filter(({ code }) => !HONEST.includes(code))])
              .toEqual([label, []]);
            results.set(label, `refused ${report.refusals.map(({ code }) => code).sort().join()}`);
            return;
          }
          merged++;
          const dataset = await readRefDataset(store.connector, "trunk");
          checkValues(dataset, values);
          expect([label, described(stateOf(dataset))]).toEqual([label, expected]);
          expect([label, await findDefects(store.connector, await store.tip("trunk"))])
            .toEqual([label, []]);
          results.set(label, await addresses(store));
          const objects = store.connector.objects.size;
          const again = await store.merge(order, { buckets });
          expect([label, again.status, store.connector.objects.size])
            .toEqual([label, "already-merged", objects]);
        });
      }
      expect(results.get("fuse again")).toBe(results.get("fuse") ?? "");
      expect(results.get("fuse reversed")).toBe(results.get("fuse") ?? "");
      expect(results.get("keep reversed")).toBe(results.get("keep") ?? "");
    }),
    { numRuns: 40 },
  );
  // A property over histories that are all refused would say nothing.
  expect(merged).toBeGreaterThan(80);
});

describeWithReference("random histories in the reference", () => {
  test("six of them read the same there", async () => {
    const seed = Date.now() & 0x7fffffff;
    console.log(`seed of the sampled histories: ${seed}`);
    let read = 0;
    for (const story of fc.sample(stories, { seed, numRuns: 30 })) {
      if (read === 6) break;
      const told = await tell({ ...story, buckets: "fuse" });
      const { store } = told;
      if (!told.reports.every(onlyHonest)) throw new Error(`refused for no reason; seed ${seed}`);
      const report = await store.merge(told.branches);
      if (report.status !== "merged") continue;
      read++;
      const folder = scratchFolder();
      writeStore(store, folder);
      const backend = backendUrl(folder);
      const whole = wholeState(told);
      const anchors = new Set(
        [...whole.records.values()].flatMap((list) => [...list.keys()]),
      );
      const visible = [...anchors].filter((anchor) => !whole.deleted.has(anchor))
        .sort((a, b) => (a < b ? -1 : 1)).map(String);
      const dump = await oracle("dump", backend, "trunk");
      expect([seed, dump.anchors]).toEqual([seed, visible]);
      expect([seed, dump.doubled]).toEqual([seed, []]);
      const { records } = await readRefDataset(store.connector, "trunk");
      for (const { anchor, value } of records.get("num") ?? []) {
        if (whole.deleted.has(anchor)) continue;
        const there = dump.records[String(anchor)]?.["num"];
        expect([anchor, `bigint ${there}`]).toEqual([anchor, value]);
      }
      await oracle("compact", backend, "trunk");
      expect([seed, (await oracle("dump", backend, "trunk")).anchors]).toEqual([seed, visible]);
    }
    expect(read).toBe(6);
  });
});

/** Writes a store in memory to a folder. */
function writeStore(store: StoreBuilder, folder: string): void {
  const write = (path: string, bytes: Uint8Array) => {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, bytes);
  };
  for (const [path, bytes] of store.connector.objects) write(path, bytes);
  for (const [name, body] of store.connector.refs) write(`refs/${name}`, body);
}
