import { parseArgs } from "node:util";
import type { Way } from "./programs.ts";

/** Our two ways of merging. */
export type Mode = Exclude<Way, "reference">;

/** What the bench is asked to do. */
export interface Options {
  readonly stores: readonly string[];
  /** How many branches are merged at once. */
  readonly branches: readonly number[];
  readonly modes: readonly Mode[];
  /** How often each merge is run. */
  readonly pairs: number;
  /** After this time no merge is run a second time; Infinity for no limit. */
  readonly minutes: number;
  readonly executable: string;
  /** The file for the tables; undefined for none. */
  readonly out: string | undefined;
  /** What else the tables must say of the run. */
  readonly note: string | undefined;
  /** Whether reads are counted with strace. */
  readonly trace: boolean;
}

/** What `--help` prints. */
export const help = `Merges the same stores with the published reference and with dreamdb, by turns.

npm run bench -- [options]

  --stores=LIST       of e1k e16k e50k e60k c60k e100k e200k m1k m16k
                                                              (e1k,e16k,e100k,m16k)
  --branches=LIST     branches merged at once, at most 64     (4,64)
  --modes=LIST        of keep fuse                            (keep,fuse)
  --pairs=N           runs of each merge                      (5)
  --minutes=N         after this time nothing is run a second time; 0: no limit  (5)
  --executable=FILE   built when it is missing                (build/dreamdb)
  --out=FILE          the tables; - for none                  (bench/RESULTS.md)
  --note=TEXT         what else a reader of the tables must know
  --trace             count what both read, with strace, in one more run of each
`;

/**
 * Reads the command line.
 * @returns undefined when help is asked for
 * @throws Error when it cannot be understood
 */
export function parseOptions(args: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      stores: { type: "string", default: "e1k,e16k,e100k,m16k" },
      branches: { type: "string", default: "4,64" },
      modes: { type: "string", default: "keep,fuse" },
      pairs: { type: "string", default: "5" },
      minutes: { type: "string", default: "5" },
      executable: { type: "string", default: "build/dreamdb" },
      out: { type: "string", default: "bench/RESULTS.md" },
      note: { type: "string" },
      trace: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  const minutes = numberOf("--minutes", values.minutes, 0);
  return {
    stores: values.stores.split(","),
    branches: values.branches.split(",").map((text) => numberOf("--branches", text, 1)),
    modes: values.modes.split(",").map(modeOf),
    pairs: numberOf("--pairs", values.pairs, 1),
    minutes: minutes === 0 ? Infinity : minutes,
    executable: values.executable,
    out: values.out === "-" ? undefined : values.out,
    note: values.note,
    trace: values.trace,
  };
}

/** The command that measures the same again; where files lie on this machine is left out. */
export function repeatCommand(args: readonly string[]): string {
  const kept = args.filter((text) => !/^--(?:executable|out|note)=/.test(text));
  return ["npm run bench", ...kept.length > 0 ? ["--", ...kept] : []].join(" ");
}

function numberOf(flag: string, text: string, least: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < least) {
    throw new Error(`${flag} is ${text}; expected a whole number of at least ${least}`);
  }
  return value;
}

function modeOf(text: string): Mode {
  if (text !== "keep" && text !== "fuse") {
    throw new Error(`--modes names ${text}; expected keep or fuse`);
  }
  return text;
}
