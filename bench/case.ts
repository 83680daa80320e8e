import type { Added } from "./bench-store.ts";
import { BenchStore } from "./bench-store.ts";
import type { Mode } from "./options.ts";
import type { Cost, OwnReport, Programs, Records, Way } from "./programs.ts";
import type { Reads } from "./trace.ts";
import { traceReads } from "./trace.ts";

/** Everything measured of one way to merge. */
export interface Measured {
  readonly costs: Cost[];
  /** What the last run added to the store. */
  added: Added;
  /** What the last run of ours said. */
  report: OwnReport | undefined;
  reads: Reads | undefined;
}

/** One store and number of branches, merged again and again. */
export class Case {
  readonly store: string;
  readonly branches: number;
  readonly modes: readonly Mode[];
  readonly measured = new Map<Way, Measured>();
  /** Seconds that one run of all ways took, the checks not counted. */
  roundSeconds = 0;
  readonly #files: BenchStore;
  readonly #programs: Programs;
  #expected: Records | undefined;

  constructor(
    programs: Programs,
    files: BenchStore,
    about: { readonly store: string; readonly branches: number; readonly modes: readonly Mode[] },
  ) {
    this.#programs = programs;
    this.#files = files;
    this.store = about.store;
    this.branches = about.branches;
    this.modes = about.modes;
  }

  /** All ways to merge, the reference first. */
  get ways(): readonly Way[] {
    return ["reference", ...this.modes];
  }

  /** How many runs of each way there are. */
  get pairs(): number {
    return this.measured.get("reference")?.costs.length ?? 0;
  }

  /**
   * Merges once in every way, one after the other. The first time, the reference reads what each
   * has published.
   * @throws Error when a run fails or holds other records than the reference's merge
   */
  async runOnce(): Promise<void> {
    const first = this.pairs === 0;
    this.roundSeconds = 0;
    for (const way of this.ways) {
      const began = performance.now();
      const { cost, report } = await this.#programs.run(way, this.#files.folder, this.branches);
      this.roundSeconds += (performance.now() - began) / 1000;
      if (first) await this.#check(way);
      const added = this.#files.restore();
      this.#checkReport(way, added, report);
      const measured = this.measured.get(way) ??
        { costs: [], added, report, reads: undefined };
      measured.costs.push(cost);
      measured.added = added;
      measured.report = report;
      this.measured.set(way, measured);
    }
  }

  /** Merges once in every way under strace. */
  trace(): void {
    for (const way of this.ways) {
      const argv = this.#programs.command(way, this.#files.folder, this.branches);
      const reads = traceReads(argv, this.#files.folder);
      this.#files.restore();
      const measured = this.measured.get(way);
      if (measured !== undefined) measured.reads = reads;
    }
  }

  async #check(way: Way): Promise<void> {
    const found = await this.#programs.records(this.#files.folder);
    this.#expected ??= found;
    if (JSON.stringify(found) !== JSON.stringify(this.#expected) || found.problems.length > 0) {
      throw new Error(
        `${this.store}, ${this.branches} branches: the ${way} merge holds ` +
          `${JSON.stringify(found)}, the reference's ${JSON.stringify(this.#expected)}`,
      );
    }
  }

  #checkReport(way: Way, added: Added, report: OwnReport | undefined): void {
    const told = report?.written;
    if (told === undefined || (told.objects === added.objects && told.bytes === added.bytes)) {
      return;
    }
    throw new Error(
      `${this.store}, ${this.branches} branches, ${way}: the program tells of ${told.objects} ` +
        `objects and ${told.bytes} bytes, but ${added.objects} and ${added.bytes} are there`,
    );
  }
}
