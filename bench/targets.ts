import type { Case, Measured } from "./case.ts";
import type { Mode } from "./options.ts";
import { ratiosOf } from "./spread.ts";

/** A promise about a merge: how many times better than the reference it must be. */
export interface Target {
  readonly store: string;
  readonly branches: number;
  readonly mode: Mode;
  readonly quantity: "wall" | "bytes written";
  readonly least: number;
}

/** What is promised; times are those of the whole process. */
export const targets: readonly Target[] = [
  { store: "e16k", branches: 64, mode: "keep", quantity: "wall", least: 15 },
  { store: "e100k", branches: 64, mode: "keep", quantity: "wall", least: 15 },
  { store: "m16k", branches: 64, mode: "keep", quantity: "wall", least: 10 },
  { store: "e1k", branches: 4, mode: "keep", quantity: "wall", least: 1 },
  { store: "e16k", branches: 64, mode: "fuse", quantity: "wall", least: 3 },
  { store: "e16k", branches: 64, mode: "keep", quantity: "bytes written", least: 40 },
];

/** What was reached of `target`, as reference / ours; undefined when it was not measured. */
export function reached(target: Target, cases: readonly Case[]): number | undefined {
  const found = cases.find(({ store, branches }) =>
    store === target.store && branches === target.branches
  );
  const reference = found?.measured.get("reference");
  const ours = found?.measured.get(target.mode);
  if (reference === undefined || ours === undefined) return undefined;
  return target.quantity === "bytes written"
    ? reference.added.bytes / ours.added.bytes
    : ratiosOf(wallsOf(reference), wallsOf(ours)).median;
}

function wallsOf({ costs }: Measured): readonly number[] {
  return costs.map(({ wall }) => wall);
}
