import { expect, setDefaultTimeout, test } from "bun:test";
import { addressBytes } from "../../src/encoding/address.ts";
import type { Address } from "../../src/encoding/address.ts";
import { anchorAt, indexOfAnchor, rowAt, rowsFrom } from "../support/rows.ts";
import { StoreBuilder } from "../support/store-builder.ts";
import { findDefects, readRefDataset } from "../support/store-reader.ts";

setDefaultTimeout(300_000);

/** What one side did since the fork. */
const KINDS = [
  "unchanged",
  "same cell",
  "other cell",
  "tombstoned",
  "compacted",
  "constant",
  "metadata",
  "field added",
] as const;
type Kind = typeof KINDS[number];

const SIDES = ["trunk", "w0", "w1"] as const;
type SideName = typeof SIDES[number];
type Changes = Readonly<Record<SideName, Kind>>;

const BASE = [0, 1, 2, 3];
const DESCRIPTION = "dreamdb.description";

/** The record that a side appends, and the one that it deletes. */
const ADDED = { trunk: 100, w0: 200, w1: 300 } as const;
const DELETED = { trunk: 0, w0: 1, w1: 2 } as const;

/** What DESIGN 1 and 2 say of a merge of w0 and w1 into trunk. */
function expected(changes: Changes) {
  const moved = SIDES.filter((side) => changes[side] !== "unchanged");
  const branches = moved.filter((side) => side !== "trunk");
  const trunkStood = changes.trunk === "unchanged";
  const doing = (...kinds: Kind[]) => moved.filter((side) => kinds.includes(changes[side]));
  if (branches.length === 0) return { status: "already-merged", refusals: [] };
  if (branches.length === 1 && trunkStood) {
    return { status: "fast-forwarded", refusals: [], ...result(doing) };
  }
  const having = doing("field added");
  const fieldEverywhere = branches.every((side) => having.includes(side)) &&
    (trunkStood || having.includes("trunk"));
  const refusals = [
    ...doing("constant").length > 1 ? ["constant-differs"] : [],
    ...having.length > 0 && !fieldEverywhere ? ["field-missing"] : [],
    ...doing("metadata").length > 1 ? ["registry-differs"] : [],
  ];
  if (refusals.length > 0) return { status: "refused", refusals };
  return { status: "merged", refusals, ...result(doing) };
}

function result(doing: (...kinds: Kind[]) => readonly SideName[]) {
  return {
    records: [...BASE, ...doing("same cell", "other cell").map((side) => ADDED[side])],
    deleted: doing("tombstoned").map((side) => DELETED[side]),
    title: doing("constant")[0] ?? "old",
    description: doing("metadata")[0] ?? "old",
    text: doing("field added").length > 0,
  };
}

/** A store with a tip for everything that any side can do, all from one fork. */
async function prepared() {
  const store = await StoreBuilder.inMemory({
    emb: { kind: "embedding" },
    num: { kind: "int" },
    title: { kind: "constant", value: "old" },
  });
  await store.setRegistry("trunk", DESCRIPTION, "old");
  await store.append("trunk", rowsFrom(store.fields, 0, 2, 1));
  await store.append("trunk", rowsFrom(store.fields, 2, 4, 1));
  const tips = new Map<string, Address>();
  for (const side of SIDES) {
    for (const kind of KINDS) {
      const ref = `${side}-${kind.replace(" ", "-")}`;
      await store.branch(ref);
      await change(store, ref, side, kind);
      tips.set(`${side} ${kind}`, await store.tip(ref));
    }
  }
  return { store, tips };
}

async function change(store: StoreBuilder, ref: string, side: SideName, kind: Kind) {
  switch (kind) {
    case "unchanged":
      return;
    case "same cell":
      await store.append(ref, [rowAt(store.fields, ADDED[side], 1)]);
      return;
    case "other cell":
      await store.append(ref, [rowAt(store.fields, ADDED[side], 2)]);
      return;
    case "tombstoned":
      await store.delete(ref, [anchorAt(DELETED[side])]);
      return;
    case "compacted":
      await store.compact(ref);
      return;
    case "constant":
      await store.setConstant(ref, "title", side);
      return;
    case "metadata":
      await store.setRegistry(ref, DESCRIPTION, side);
      return;
    case "field added":
      await store.addField(ref, "text", { kind: "string" });
      store.fields.delete("text");
  }
}

const combinations: readonly Changes[] = KINDS.flatMap((trunk) =>
  KINDS.flatMap((w0) => KINDS.map((w1) => ({ trunk, w0, w1 })))
);

test("every kind of change on trunk, on one branch and on another: 512 merges", async () => {
  const { store, tips } = await prepared();
  const { refs } = store.connector;
  let checked = 0;
  for (const changes of combinations) {
    for (const side of SIDES) {
      const tip = tips.get(`${side} ${changes[side]}`);
      if (tip === undefined) throw new Error("no such tip");
      refs.set(side, addressBytes(tip));
    }
    const report = await store.merge(["w0", "w1"]);
    const want = expected(changes);
    const found = {
      changes,
      status: String(report.status),
      refusals: report.refusals.map(({ code }) => String(code)).sort(),
    };
    expect(found).toEqual({ changes, status: want.status, refusals: want.refusals });
    checked++;
    if (!("records" in want)) continue;
    const { records, deleted, manifest } = await readRefDataset(store.connector, "trunk");
    const numbers = (field: string) =>
      records.get(field)?.map(({ anchor }) => indexOfAnchor(anchor));
    expect([changes, {
      emb: numbers("emb"),
      num: numbers("num"),
      deleted: [...deleted].map(indexOfAnchor).sort((a, b) => a - b),
      title: records.get("title")?.[0]?.value,
      description: manifest.registry.get(DESCRIPTION),
      text: records.has("text"),
    }]).toEqual([changes, {
      emb: want.records,
      num: want.records,
      deleted: want.deleted,
      title: want.title,
      description: want.description,
      text: want.text,
    }]);
    expect([changes, await findDefects(store.connector, await store.tip("trunk"))])
      .toEqual([changes, []]);
  }
  expect(checked).toBe(512);
});
