/**
 * Merges N branches into a ref in one atomic step: plan, write, move the ref; when the ref moved
 * under us, plan again.
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import { DreamDBError } from "../errors.ts";
import { mapConcurrent } from "../store/limit.ts";
import { withStatistics } from "../store/statistics.ts";
import { withWriteOnce } from "../store/write-once.ts";
import { executeMerge } from "./execute.ts";
import type { Executed } from "./execute.ts";
import { createSession, planMerge } from "./plan.ts";
import type { MergePlan, MergeSession } from "./plan.ts";
import { publish } from "./publish.ts";
import type { Published } from "./publish.ts";
import type { Warning } from "./refusal.ts";
import { reportOf } from "./report.ts";
import type { MergeReport, MergeStatus } from "./report.ts";
import type { MergeEnvironment, MergeRequest } from "./request.ts";

const FIRST_PAUSE_MILLISECONDS = 50;
const LONGEST_PAUSE_MILLISECONDS = 5_000;
const CATCH_UP_ROUNDS = 4;

/**
 * Runs a merge to its end.
 *
 * @returns the report; a refusal is a result, and then nothing was written
 * @throws DreamDBError for everything that is no result: missing refs, damage, a store that fails,
 * a ref that moved more often than `attempts`, an outcome nobody can tell
 */
export async function mergeMany(
  request: MergeRequest,
  environment: MergeEnvironment,
): Promise<MergeReport> {
  const counted = withStatistics(environment.connector);
  const connector = withWriteOnce(counted.connector);
  const inner: MergeEnvironment = { ...environment, connector };
  const session = createSession(inner);
  for (let attempt = 1;; attempt++) {
    const run = (): Promise<Attempt> => attemptMerge(request, inner, session, attempt);
    // Beside writers that never pause, a merge may always come late. The last of several tries keeps
    // them waiting, where the store can do that.
    const last = attempt > 1 && attempt === request.attempts;
    const { plan, status, executed, published } = last && connector.holdRef !== undefined
      ? await connector.holdRef(request.ref, run, { signal: inner.signal })
      : await run();
    const finish = (
      resolvedByReading: boolean,
      warnings: readonly Warning[],
    ): MergeReport =>
      reportOf(plan, {
        status,
        manifest: executed?.manifest ?? null,
        executed: executed?.fields ?? new Map(),
        attempts: attempt,
        resolvedByReading,
        warnings,
      }, counted.statistics);
    switch (published?.status) {
      case undefined:
        return finish(false, []);
      case "committed":
        return finish(published.note === "confirmed-after-unknown", [
          ...published.note === "not-synced" ? [notSynced(request.ref)] : [],
          ...await movedBranches(plan, inner),
        ]);
      case "unknown":
        throw unknownOutcome(request.ref, executed?.manifest ?? plan.trunk, published.cause);
      case "lost":
        await prepareNextAttempt(request, inner, attempt, plan.trunk, published.found);
    }
  }
}

/** One try; `published` is absent when there was nothing to publish. */
interface Attempt {
  readonly plan: MergePlan;
  readonly status: MergeStatus;
  readonly executed?: Executed;
  readonly published?: Published;
}

async function attemptMerge(
  request: MergeRequest,
  environment: MergeEnvironment,
  session: MergeSession,
  attempt: number,
): Promise<Attempt> {
  const plan = attempt === 1
    ? await planMerge(request, environment, session)
    : await catchUp(request, environment, session);
  if (plan.outcome === "refused" || plan.outcome === "already-merged") {
    return { plan, status: plan.outcome };
  }
  const status = plan.outcome === "merge" ? "merged" : "fast-forwarded";
  if (request.dryRun) return { plan, status };
  const executed = await write(plan, environment);
  environment.onProgress?.({ stage: "publish", done: 0, total: 1 });
  const published = await publish(environment, request.ref, plan.trunk, executed.manifest);
  return { plan, status, executed, published };
}

/**
 * Plans until the ref stood still meanwhile. After a lost race and a pause there may be much to read,
 * which takes time in which the ref moves on; what it gains in that time is less, and so on.
 */
async function catchUp(
  request: MergeRequest,
  environment: MergeEnvironment,
  session: MergeSession,
): Promise<MergePlan> {
  const { connector, signal } = environment;
  for (let round = 1;; round++) {
    const plan = await planMerge(request, environment, session);
    if (plan.outcome === "refused" || round === CATCH_UP_ROUNDS) return plan;
    const tip = await connector.readRef(request.ref, { signal });
    // A ref that is gone is reported by the write of it.
    if (tip === undefined || tip === plan.trunk) return plan;
  }
}

async function write(plan: MergePlan, environment: MergeEnvironment): Promise<Executed> {
  const { sides } = plan;
  const tip = sides?.branches[0]?.tip;
  if (sides === undefined || tip === undefined) {
    throw new Error("unreachable: a plan that writes has sides");
  }
  if (plan.outcome === "fast-forward") return { manifest: tip, fields: new Map() };
  return await executeMerge(plan, sides, environment);
}

async function prepareNextAttempt(
  request: MergeRequest,
  environment: MergeEnvironment,
  attempt: number,
  expected: Address,
  found: Address | undefined,
): Promise<void> {
  if (found === undefined) throw disappeared(request.ref, attempt);
  if (attempt >= request.attempts) throw lostRace(request.ref, attempt, expected, found);
  const ceiling = Math.min(
    LONGEST_PAUSE_MILLISECONDS,
    FIRST_PAUSE_MILLISECONDS * 2 ** (attempt - 1),
  );
  await environment.pause(environment.random() * ceiling, environment.signal);
}

function lostRace(ref: string, attempts: number, expected: Address, found: Address): DreamDBError {
  const times = `${attempts} time${attempts === 1 ? "" : "s"}`;
  if (found === expected) {
    return new DreamDBError({
      code: "publish-conflict",
      ref,
      attempts,
      found: `the store refused to move ${ref} ${times}, although it still holds ${found}`,
      expected: "a store that moves a ref which holds what it is said to hold",
      next: "Nothing was published. Some stores report a missing permission in this way: check " +
        `that these credentials may read and overwrite refs/${ref}.`,
    });
  }
  return new DreamDBError({
    code: "publish-conflict",
    ref,
    attempts,
    found: `${ref} moved under us ${times}, last to ${found}`,
    expected: "a ref that stands still for the time of a merge",
    next: "Nothing was published; it is safe to run the same command again, or to allow more " +
      "tries with --attempts.",
  });
}

/** Not `ref-missing`: it was there when the run began, so another writer has won. */
function disappeared(ref: string, attempts: number): DreamDBError {
  return new DreamDBError({
    code: "publish-conflict",
    ref,
    attempts,
    found: `${ref} disappeared while the merge was being made: somebody has deleted it`,
    expected: "the ref that was there when the merge began",
    next: "Nothing was published, and the ref was not made again. Create it, then run the same " +
      "command.",
  });
}

function unknownOutcome(ref: string, manifest: Address, cause: unknown): DreamDBError {
  return new DreamDBError({
    code: "publish-unknown",
    ref,
    manifest,
    found: `no answer that tells whether ${ref} moved to ${manifest}`,
    expected: "an answer to the write of the ref, or to reading it again",
    next: `Run the same command again: if ${ref} holds the merge, it says already merged; if ` +
      "not, it merges.",
  }, { cause });
}

function notSynced(ref: string): Warning {
  return {
    code: "not-synced",
    message: `${ref} moved, but the operating system could not confirm that it would survive a ` +
      "loss of power",
  };
}

/** Branches whose refs moved while they were being merged; what they gained is not in the merge. */
async function movedBranches(
  plan: MergePlan,
  environment: MergeEnvironment,
): Promise<readonly Warning[]> {
  const merged = plan.branches.filter(({ state }) => state === "merged");
  try {
    const tips = await mapConcurrent(
      merged,
      environment.concurrency,
      ({ name }) => environment.connector.readRef(name),
    );
    return merged.flatMap(({ name, tip }, index): Warning[] => {
      const now = tips[index];
      return now === undefined || now === tip ? [] : [{
        code: "branch-moved",
        message: `${name} moved to ${now} while it was being merged; what it gained is not in`,
        sides: [name],
        addresses: [tip, now],
      }];
    });
  } catch {
    // The merge is published; failing to look at the branches again must not make it a failure.
    return [];
  }
}
