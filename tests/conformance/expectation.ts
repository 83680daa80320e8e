import { readFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../support/fixtures.ts";

/** How the buckets of a cell that several sides changed are written. */
export type Buckets = "fuse" | "keep";

/** One refusal that a merge must report. Anchors are decimal text, nanoseconds. */
export interface ExpectedRefusal {
  /** The code, or the codes of which one must be reported. */
  readonly code: string | readonly string[];
  readonly field?: string;
  /** Start of a modality that may stand in place of the field. */
  readonly modality?: string;
  readonly anchors?: readonly string[];
  readonly cells?: readonly string[];
  readonly sides?: readonly string[];
  readonly addresses?: readonly string[];
}

/** What a merge of one golden store must answer; `fixtures/golden/make.py` writes these. */
export interface Expectation {
  readonly name: string;
  /** The rule that this scenario proves. */
  readonly rule: string;
  /** Folder of the store in the archive. */
  readonly store: string;
  readonly trunk: string;
  readonly branches: readonly string[];
  /** Flags of the command line beside `--backend`, `--ref`, `--branches` and `--json`. */
  readonly flags: readonly string[];
  readonly exit: number;
  readonly status: "merged" | "fast-forwarded" | "already-merged" | "refused" | "failed";

  /** Names of the refs whose tips are the parents, in order; null where the rules leave it open. */
  readonly parents?: readonly string[] | null;
  /** The ref whose tip trunk has after a fast-forward. */
  readonly after?: string;
  /** Records that the reference counts afterwards. */
  readonly records?: number;
  readonly deleted?: readonly string[];
  readonly warnings?: readonly string[];
  /** Warnings that may be reported or not. */
  readonly warningsMay?: readonly string[];
  /** Entries per field after the merge. */
  readonly fields?: Readonly<Record<string, Readonly<Record<Buckets, number>>>>;
  /** Track addresses that follow from the input alone. */
  readonly golden?: Readonly<Partial<Record<Buckets, Readonly<Record<string, string>>>>>;
  readonly branchStates?: Readonly<Record<string, string>>;
  readonly statesInOrder?: readonly string[];
  /** The Tracks must be the same for any order of the branches. */
  readonly order?: boolean;
  /** How often the branches grow and are merged again. */
  readonly rounds?: number;
  /** The reference reads the result and cannot write on top of it. */
  readonly readsOnly?: boolean;
  /** The reference cannot merge on top, because of what is missing from history. */
  readonly noMergeOnTop?: boolean;

  readonly refusals?: readonly ExpectedRefusal[];
  /** Codes of refusals that may come with the expected ones. */
  readonly also?: readonly string[];
  readonly sidesAtLeast?: boolean;
  readonly anchorsAtLeast?: boolean;

  readonly error?: { readonly code: readonly string[]; readonly names?: readonly string[] };
  /** Any error code will do. */
  readonly errorAny?: boolean;
}

/** What the reference's own merge makes of the same store: a result and a detail. */
export type ReferenceAnswer = readonly [result: string, detail: string];

const folder = join(projectRoot, "fixtures/golden");

/** All scenarios, in the order in which they are documented. */
export function expectations(): readonly Expectation[] {
  return JSON.parse(readFileSync(join(folder, "expected.json"), "utf8"));
}

/** The reference's answers by scenario name. */
export function referenceAnswers(): Readonly<Record<string, ReferenceAnswer>> {
  return JSON.parse(readFileSync(join(folder, "reference.json"), "utf8"));
}
