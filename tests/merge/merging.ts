import { expect } from "bun:test";
import { fieldKey } from "../../src/model/binding.ts";
import type { MergeReport } from "../../src/merge/report.ts";
import { anchorAt, indexOfAnchor, rowsFrom } from "../support/rows.ts";
import { StoreBuilder } from "../support/store-builder.ts";
import type { FieldSpec, Row } from "../support/store-fields.ts";
import { findDefects, readRefDataset } from "../support/store-reader.ts";

/** One field of most kinds. */
export const FIELDS = {
  emb: { kind: "embedding" },
  image: { kind: "image", mime: "jpeg" },
  cat: { kind: "categorical" },
  num: { kind: "int" },
  matrix: { kind: "array" },
} as const satisfies Readonly<Record<string, FieldSpec>>;

/** A store with `base` records on trunk and branches w0, w1, … forked from there. */
export async function forked(
  branches: number,
  fields: Readonly<Record<string, FieldSpec>> = FIELDS,
  base = 4,
): Promise<StoreBuilder> {
  const store = await StoreBuilder.inMemory(fields);
  if (base > 0) await store.append("trunk", rowsFrom(store.fields, 0, base));
  for (let index = 0; index < branches; index++) await store.branch(`w${index}`);
  return store;
}

/** Refusals as `code field side+side`, sorted. */
export function refusalsOf(report: MergeReport): string[] {
  return report.refusals.map(({ code, field, sides }) =>
    [code, ...field === undefined ? [] : [field], sides.join("+")].join(" ")
  ).sort();
}

/** The refusal of a field. */
export function refusalOf(report: MergeReport, field: string) {
  const refusal = report.refusals.find((one) => one.field === field);
  if (refusal === undefined) throw new Error(`${field} was not refused`);
  return refusal;
}

/** The numbers of the records that `ref` has in `field`, each as often as it stands there. */
export async function recordsOf(store: StoreBuilder, field: string, ref = "trunk") {
  const { records } = await readRefDataset(store.connector, ref);
  return records.get(field)?.map(({ anchor }) => indexOfAnchor(anchor)) ?? [];
}

/** The Track addresses of `ref` by field. */
export async function addressesOf(store: StoreBuilder, ref = "trunk") {
  const { tracks } = await store.manifest(ref);
  return Object.fromEntries(
    tracks.active.map((binding) => [fieldKey(binding), binding.address] as const),
  );
}

/** Trunk holds exactly these records in every field but Constants, and nothing is wrong with it. */
export async function expectTrunk(
  store: StoreBuilder,
  indexes: readonly number[],
  fields: readonly string[] = [...store.fields.keys()],
): Promise<void> {
  const { records } = await readRefDataset(store.connector, "trunk");
  const expected = [...indexes].sort((a, b) => a - b).map(anchorAt);
  for (const field of fields) {
    if (store.fields.get(field)?.kind === "constant") continue;
    expect([field, records.get(field)?.map(({ anchor }) => anchor)]).toEqual([field, expected]);
  }
  expect(await findDefects(store.connector, await store.tip("trunk"))).toEqual([]);
}

/** The report of a merge that must be done. */
export function expectMerged(report: MergeReport): MergeReport {
  expect(report.refusals).toEqual([]);
  expect(report.status).toBe("merged");
  return report;
}

/** All objects and refs of a store, to see that nothing changed. */
export function snapshot(store: StoreBuilder): string {
  const { objects, refs } = store.connector;
  const bodies = [...refs].map(([name, body]) => `${name} ${body.join(",")}`).sort();
  return [...[...objects.keys()].sort(), ...bodies].join("\n");
}

export function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, step) => from + step);
}

/** Every order of a list. */
export function permutations<Item>(items: readonly Item[]): Item[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((first, index) =>
    permutations(items.filter((_, other) => other !== index)).map((rest) => [first, ...rest])
  );
}

/** Rows with only some fields. */
export function only(rows: readonly Row[], ...fields: readonly string[]): Row[] {
  return rows.map(({ anchor, values }) => ({
    anchor,
    values: Object.fromEntries(Object.entries(values).filter(([name]) => fields.includes(name))),
  }));
}
