/**
 * Random histories: what happens to the refs of one store, told step by step, and the model of what
 * every ref holds afterwards.
 *
 * @module
 */

import fc from "fast-check";
import type { MergeReport } from "../../src/merge/report.ts";
import type { MergeRequest } from "../../src/merge/request.ts";
import { rowAt } from "../support/rows.ts";
import { StoreBuilder } from "../support/store-builder.ts";
import type { FieldSpec } from "../support/store-fields.ts";
import { emptyState, union, withDeleted, withRows } from "./model.ts";
import type { State } from "./model.ts";

export const FIELDS = {
  emb: { kind: "embedding" },
  exact: { kind: "embedding", rerank: true },
  image: { kind: "image", mime: "jpeg" },
  cat: { kind: "categorical" },
  num: { kind: "int" },
  text: { kind: "string" },
} as const satisfies Readonly<Record<string, FieldSpec>>;

/** One step; refs and anchors are numbers that are taken modulo how many there are. */
export type Step =
  | {
    readonly act: "append";
    readonly ref: number;
    readonly count: number;
    readonly cell: number;
    readonly fields: readonly string[];
    /** Records of one batch leave room between them for those of others. */
    readonly stride: number;
  }
  | { readonly act: "delete"; readonly ref: number; readonly picks: readonly number[] }
  | { readonly act: "compact"; readonly ref: number }
  | { readonly act: "branch"; readonly from: number }
  | { readonly act: "merge"; readonly into: number; readonly branches: readonly number[] };

export interface Story {
  readonly branches: number;
  readonly steps: readonly Step[];
  readonly buckets: MergeRequest["buckets"];
}

const MOST_MERGES = 3;
const MOST_REFS = 6;
const names = Object.keys(FIELDS);

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      act: fc.constant("append" as const),
      ref: fc.nat(9),
      count: fc.integer({ min: 1, max: 4 }),
      cell: fc.nat(2),
      fields: fc.oneof(fc.constant(names), fc.subarray(names, { minLength: 1 })),
      stride: fc.integer({ min: 1, max: 5 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant("delete" as const),
      ref: fc.nat(9),
      picks: fc.array(fc.nat(50), { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ act: fc.constant("compact" as const), ref: fc.nat(9) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ act: fc.constant("branch" as const), from: fc.nat(9) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constant("merge" as const),
      into: fc.nat(9),
      branches: fc.array(fc.nat(9), { minLength: 1, maxLength: 3 }),
    }),
  },
);

/** Histories of at most twelve steps over two to five branches. */
export const stories: fc.Arbitrary<Story> = fc.record({
  branches: fc.integer({ min: 2, max: 5 }),
  steps: fc.array(step, { minLength: 2, maxLength: 12 }),
  buckets: fc.constantFrom("fuse", "keep"),
});

/** A store after a story, and what each ref must hold. */
export interface Told {
  readonly store: StoreBuilder;
  readonly states: ReadonlyMap<string, State>;
  /** All branches, trunk left out. */
  readonly branches: readonly string[];
  /** Merges of the story, done or refused. */
  readonly reports: readonly MergeReport[];
}

/**
 * Tells a story. Every record has an anchor of its own, so no merge may find one twice.
 */
export async function tell(story: Story): Promise<Told> {
  const store = await StoreBuilder.inMemory(FIELDS);
  const states = new Map<string, State>([["trunk", emptyState(names)]]);
  const reports: MergeReport[] = [];
  const at = (number: number): string => [...states.keys()][number % states.size] ?? "trunk";
  const stateOf = (ref: string): State => states.get(ref) ?? emptyState(names);
  const branch = async (from: string): Promise<void> => {
    const name = `w${states.size - 1}`;
    await store.branch(name, from);
    states.set(name, stateOf(from));
  };
  let next = 0;
  const append = async (ref: string, one: Extract<Step, { act: "append" }>): Promise<void> => {
    // Batches begin close to each other and so lie among each other in time, without a common anchor.
    const rows = Array.from({ length: one.count }, (_, index) => {
      const { anchor, values } = rowAt(store.fields, next + index * one.stride * 100, one.cell);
      return {
        anchor,
        values: Object.fromEntries(
          Object.entries(values).filter(([name]) => one.fields.includes(name)),
        ),
      };
    });
    next++;
    await store.append(ref, rows);
    states.set(ref, withRows(stateOf(ref), rows, ({ anchor }) => String(anchor)));
  };
  await append("trunk", { act: "append", ref: 0, count: 3, cell: 1, fields: names, stride: 1 });
  await append("trunk", { act: "append", ref: 0, count: 2, cell: 1, fields: names, stride: 2 });
  for (let index = 0; index < story.branches; index++) await branch("trunk");
  for (const one of story.steps) {
    switch (one.act) {
      case "append":
        await append(at(one.ref), one);
        break;
      case "delete": {
        const ref = at(one.ref);
        const known = [...stateOf(ref).records.get("num")?.keys() ?? []];
        const anchors = one.picks.flatMap((pick) => known[pick % known.length] ?? []);
        if (anchors.length === 0) break;
        await store.delete(ref, anchors);
        states.set(ref, withDeleted(stateOf(ref), anchors));
        break;
      }
      case "compact":
        await store.compact(at(one.ref));
        break;
      case "branch":
        if (states.size < MOST_REFS) await branch(at(one.from));
        break;
      case "merge": {
        if (reports.length >= MOST_MERGES) break;
        const into = at(one.into);
        const from = [...new Set(one.branches.map(at))].filter((ref) => ref !== into);
        if (from.length === 0) break;
        const report = await store.merge(from, { ref: into, buckets: story.buckets });
        reports.push(report);
        if (report.status !== "refused") {
          states.set(into, union([into, ...from].map(stateOf)));
        }
      }
    }
  }
  return { store, states, branches: [...states.keys()].slice(1), reports };
}
