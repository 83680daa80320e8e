/**
 * Progress for a log: one line when a stage begins, then at most one every ten seconds.
 *
 * @module
 */

import { progressLine } from "../src/cli/progress.ts";
import type { Progress } from "../src/merge/request.ts";

const INTERVAL_MILLISECONDS = 10_000;

/**
 * A listener that writes to `log`.
 * @param now milliseconds on any clock
 */
export function progressLog(
  log: (line: string) => void,
  now: () => number,
): (progress: Progress) => void {
  let stage: Progress["stage"] | undefined;
  let last = 0;
  return (progress) => {
    const begins = progress.stage !== stage;
    if (!begins && now() - last < INTERVAL_MILLISECONDS) return;
    stage = progress.stage;
    last = now();
    log(progressLine(progress));
  };
}
