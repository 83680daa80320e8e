/**
 * Shows on stderr how far a run has come.
 *
 * @module
 */

import type { Progress } from "../merge/request.ts";
import { progressText } from "./json.ts";
import type { RunContext } from "./outcome.ts";

/** Where a run stands; `total` is zero where nobody knows it. */
export interface ShownProgress extends Omit<Progress, "stage"> {
  readonly stage: Progress["stage"] | "verify";
}

const STAGES: Readonly<Record<ShownProgress["stage"], string>> = {
  refs: "reading refs",
  history: "walking the history",
  compare: "comparing fields",
  write: "writing",
  publish: "moving the ref",
  verify: "reading objects",
};

/** Milliseconds between two lines of a running stage. */
const PLAIN_INTERVAL = 5_000;
const LIVE_INTERVAL = 100;

/** A shower of progress; `finish` takes the live line away. */
export interface ProgressView {
  show(progress: ShownProgress): void;
  finish(): void;
}

/** The view that the options ask for. `now` gives milliseconds. */
export function createProgressView(context: RunContext, now: () => number): ProgressView {
  const { options, terminal } = context;
  const mode = options.quiet
    ? "none"
    : options.progress !== "auto"
    ? options.progress
    : terminal.errIsTerminal
    ? "live"
    : "none";
  switch (mode) {
    case "json":
      return { show: (progress) => terminal.err(progressText(progress)), finish: () => {} };
    case "plain":
      return plainView(context, now);
    case "live":
      return liveView(context, now);
    default:
      return { show: () => {}, finish: () => {} };
  }
}

/** One line of progress. */
export function progressLine(progress: ShownProgress): string {
  const { stage, done, total, label } = progress;
  const count = total > 1 ? ` ${done}/${total}` : total === 0 ? ` ${done}` : "";
  return `${STAGES[stage]}${count}${label === undefined ? "" : ` ${label}`}`;
}

function plainView({ terminal }: RunContext, now: () => number): ProgressView {
  let stage: string | undefined;
  let last = 0;
  return {
    show(progress) {
      if (progress.stage === stage && now() - last < PLAIN_INTERVAL) return;
      stage = progress.stage;
      last = now();
      terminal.err(`${progressLine(progress)}\n`);
    },
    finish: () => {},
  };
}

function liveView({ terminal }: RunContext, now: () => number): ProgressView {
  let last = 0;
  let shown = false;
  return {
    show(progress) {
      if (shown && now() - last < LIVE_INTERVAL) return;
      last = now();
      shown = true;
      terminal.err(`\r\u001b[K${progressLine(progress).slice(0, terminal.columns - 1)}`);
    },
    finish() {
      if (shown) terminal.err("\r\u001b[K");
      shown = false;
    },
  };
}
