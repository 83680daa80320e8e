import { rmSync } from "node:fs";
import { join } from "node:path";
import { scratchFolder, unpackFixture } from "../support/fixtures.ts";
import type { Checker } from "./checker.ts";
import { type MergeDocument, type Run, runMerge } from "./document.ts";
import type { Buckets, Expectation } from "./expectation.ts";
import { judge } from "./judge.ts";
import { type PlacedStore, refsOf, type StorePlaces, type Tree } from "./placed-store.ts";

/** What came of one scenario. */
export interface Outcome {
  readonly expected: Expectation;
  /** Empty when all is as it must be. */
  readonly problems: readonly string[];
  /** The document of the first real run, for the table. */
  readonly document: MergeDocument | undefined;
}

/** Runs one scenario with `command` and lets the reference read what it published. */
export async function runScenario(
  expected: Expectation,
  command: readonly string[],
  checker: Checker,
  places: StorePlaces,
): Promise<Outcome> {
  const source = join(unpackFixture("golden/stores"), expected.store);
  const scratch = scratchFolder();
  const problems: string[] = [];
  let document: MergeDocument | undefined;
  try {
    for (const buckets of modes(expected)) {
      const store = await places.place(join(source, "store"), scratch);
      const scope = store.root;
      await checker.ask("load", {
        scope,
        models: join(source, "models.json"),
        model: expected.name,
      });
      const attempt = new Attempt(expected, command, checker, store, places, buckets);
      const found = await attempt.run();
      await checker.ask("forget", { scope });
      document ??= attempt.document;
      problems.push(
        ...found.map((problem) => buckets === undefined ? problem : `${buckets}: ${problem}`),
      );
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return { expected, problems, document };
}

/** An accepted merge is tried with both kinds of buckets, unless the scenario names one. */
function modes(expected: Expectation): readonly (Buckets | undefined)[] {
  const named = expected.flags.find((flag) => flag.startsWith("--buckets="));
  if (named !== undefined || expected.status !== "merged") return [undefined];
  return ["fuse", "keep"];
}

class Attempt {
  document: MergeDocument | undefined;
  readonly #expected: Expectation;
  readonly #command: readonly string[];
  readonly #checker: Checker;
  readonly #store: PlacedStore;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #flags: readonly string[];
  readonly #buckets: Buckets;
  readonly #problems: string[] = [];
  #merges = 0;

  constructor(
    expected: Expectation,
    command: readonly string[],
    checker: Checker,
    store: PlacedStore,
    { environment }: StorePlaces,
    buckets: Buckets | undefined,
  ) {
    this.#expected = expected;
    this.#command = command;
    this.#checker = checker;
    this.#store = store;
    this.#environment = environment;
    this.#flags = [...expected.flags, ...buckets === undefined ? [] : [`--buckets=${buckets}`]];
    this.#buckets = this.#flags.includes("--buckets=keep") ? "keep" : "fuse";
  }

  async run(): Promise<readonly string[]> {
    const expected = this.#expected;
    const before = await this.#store.tree();
    const tips = refsOf(before);

    const dryRun = await this.#merge(this.#store, expected.branches, ["--dry-run"]);
    const dry = judge(expected, dryRun, tips, true);
    await this.#unchanged("dry run", before);
    const unmerged = expected.order ? await this.#store.copy() : undefined;
    const run = await this.#merge(this.#store, expected.branches, []);
    this.document = run.document;
    this.#add("", judge(expected, run, tips, false));
    this.#add("dry run", dry.filter((problem) => !this.#problems.includes(problem)));
    if (expected.status !== "merged" && expected.status !== "fast-forwarded") {
      await this.#unchanged("", before);
      return this.#problems;
    }
    if (this.#problems.length > 0) return this.#problems;
    await this.#published(before, run, tips);
    await this.#again();
    await this.#readByReference();
    await this.#tracks(run);
    if (unmerged !== undefined) await this.#otherOrder(unmerged);
    for (let round = 1; round < (expected.rounds ?? 1); round += 1) await this.#nextRound(round);
    return this.#problems;
  }

  async #merge(
    { backends }: PlacedStore,
    branches: readonly string[],
    flags: readonly string[],
  ): Promise<Run> {
    const backend = backends[this.#merges++ % backends.length] ?? "";
    return await runMerge(
      this.#command,
      backend,
      this.#environment,
      this.#expected.trunk,
      branches,
      [...this.#flags, ...flags],
    );
  }

  #add(where: string, problems: readonly string[]): void {
    this.#problems.push(
      ...problems.map((problem) => where === "" ? problem : `${where}: ${problem}`),
    );
  }

  async #unchanged(where: string, before: Tree): Promise<void> {
    const changes = differences(before, await this.#store.tree());
    if (changes.length === 0) return;
    this.#add(where, [`the store was changed: ${changes.slice(0, 4).join(", ")}`]);
  }

  /** Nothing but trunk's ref may change, nothing may go, and nothing half-written may stay. */
  async #published(
    before: Tree,
    { document }: Run,
    tips: ReadonlyMap<string, string>,
  ): Promise<void> {
    const after = await this.#store.tree();
    const trunk = `refs/${this.#expected.trunk}`;
    const changes = differences(before, after).filter((change) => !change.startsWith("added "));
    const other = changes.filter((change) => change !== `changed ${trunk}`);
    if (other.length > 0) this.#add("", [`objects were touched: ${other.slice(0, 4).join(", ")}`]);
    const stray = [...after.keys()].filter((path) =>
      !before.has(path) && (path.includes(".tmp") || path.startsWith("refs/"))
    );
    if (stray.length > 0) this.#add("", [`files were left: ${stray.slice(0, 4).join(", ")}`]);
    const tip = refsOf(after).get(this.#expected.trunk);
    const said = document?.trunk?.after;
    if (tip !== said) this.#add("", [`trunk is at ${tip}, and the document says ${said}`]);
    if (this.#expected.status !== "merged") return;
    if (tip !== document?.manifest) {
      this.#add("", [`manifest is ${document?.manifest}, trunk is at ${tip}`]);
    }
    const manifests = [...after.keys()].filter((path) =>
      path.startsWith("manifests/") && !before.has(path)
    );
    if (manifests.length !== 1) {
      this.#add("", [`${manifests.length} Manifests were written, expected one`]);
    }
    if (document?.trunk?.before !== tips.get(this.#expected.trunk)) {
      this.#add("", [`trunk.before is ${document?.trunk?.before}, expected trunk's old tip`]);
    }
  }

  /** The same command again finds nothing to do and writes nothing. */
  async #again(): Promise<void> {
    const before = await this.#store.tree();
    const again = await this.#merge(this.#store, this.#expected.branches, []);
    if (again.exit !== 0 || again.document?.status !== "already-merged") {
      this.#add("again", [
        `exit ${again.exit}, status ${again.document?.status}, expected already-merged: ${
          again.output.slice(0, 500)
        }`,
      ]);
    }
    await this.#unchanged("again", before);
  }

  async #readByReference(): Promise<void> {
    const { trunk, readsOnly, noMergeOnTop } = this.#expected;
    const { problems } = await this.#checker.ask("verify", {
      root: this.#store.root,
      ref: trunk,
      scope: this.#store.root,
    });
    this.#add("reference", problems ?? []);
    if (readsOnly || (problems?.length ?? 0) > 0) return;
    // Kept entries are what the reference publishes itself; where order matters they are tried too.
    if (this.#buckets === "keep" && !this.#expected.order) return;
    const exercised = await this.#checker.ask("exercise", {
      root: (await this.#store.copy()).root,
      ref: trunk,
      scope: this.#store.root,
      mergeOnTop: !noMergeOnTop,
    });
    this.#add("reference", exercised.problems ?? []);
  }

  async #tracks(run: Run): Promise<void> {
    const { tracks = {} } = await this.#checker.ask("tracks", {
      root: await this.#store.folder(),
      ref: this.#expected.trunk,
    });
    for (const [field, counts] of Object.entries(this.#expected.fields ?? {})) {
      const want = counts[this.#buckets];
      if (tracks[field]?.entries !== want) {
        this.#add("", [`field ${field} has ${tracks[field]?.entries} entries, expected ${want}`]);
      }
      const reported = run.document?.fields?.find((entry) => entry.field === field);
      if (
        reported !== undefined && reported.action !== "kept" &&
        Number(reported.entriesAfter) !== tracks[field]?.entries
      ) {
        this.#add("", [`the document says field ${field} has ${reported.entriesAfter} entries`]);
      }
    }
    for (const [field, want] of Object.entries(this.#expected.golden?.[this.#buckets] ?? {})) {
      if (tracks[field]?.address !== want) {
        this.#add("", [
          `the Track of ${field} is ${tracks[field]?.address}, the reference's is ${want}`,
        ]);
      }
    }
  }

  /** Any order of the branches gives the same Tracks. */
  async #otherOrder(store: PlacedStore): Promise<void> {
    const reversed = await this.#merge(store, [...this.#expected.branches].reverse(), []);
    if (reversed.exit !== 0) {
      this.#add("reversed", [`exit ${reversed.exit}: ${reversed.output.slice(0, 500)}`]);
      return;
    }
    const ref = this.#expected.trunk;
    const tracksOf = async (of: PlacedStore) =>
      (await this.#checker.ask("tracks", { root: await of.folder(), ref })).tracks;
    const [ours, theirs] = [await tracksOf(this.#store), await tracksOf(store)];
    for (const [field, { address }] of Object.entries(ours ?? {})) {
      if (theirs?.[field]?.address !== address) {
        this.#add("reversed", [`the Track of ${field} differs`]);
      }
    }
  }

  /** The workers go on from their own tips; their new records, and only those, come in. */
  async #nextRound(round: number): Promise<void> {
    const { trunk, branches } = this.#expected;
    await this.#checker.ask("grow", {
      root: this.#store.root,
      ref: trunk,
      branches,
      scope: this.#store.root,
      round,
    });
    const run = await this.#merge(this.#store, branches, []);
    const where = `round ${round + 1}`;
    if (run.exit !== 0 || run.document?.status !== "merged") {
      this.#add(where, [
        `exit ${run.exit}, status ${run.document?.status}: ${run.output.slice(0, 800)}`,
      ]);
      return;
    }
    const { problems } = await this.#checker.ask("verify", {
      root: this.#store.root,
      ref: trunk,
      scope: this.#store.root,
    });
    this.#add(where, problems ?? []);
  }
}

function differences(before: Tree, after: Tree): readonly string[] {
  const changes: string[] = [];
  for (const [path, bytes] of before) {
    if (!after.has(path)) changes.push(`removed ${path}`);
    else if (after.get(path) !== bytes) changes.push(`changed ${path}`);
  }
  for (const path of after.keys()) if (!before.has(path)) changes.push(`added ${path}`);
  return changes;
}
