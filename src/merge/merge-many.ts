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
import { executeMerge } from "./execute.ts";
import type { ExecutedField } from "./execute.ts";
import { createSession, planMerge } from "./plan.ts";
import type { MergePlan } from "./plan.ts";
import type { FieldPlan } from "./field-plan.ts";
import { publish } from "./publish.ts";
import type { Warning } from "./refusal.ts";
import { reportOf } from "./report.ts";
import type { MergeReport, MergeStatus } from "./report.ts";
import type { MergeEnvironment, MergeRequest } from "./request.ts";

const FIRST_PAUSE_MILLISECONDS = 50;
const LONGEST_PAUSE_MILLISECONDS = 5_000;

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
  const inner: MergeEnvironment = { ...environment, connector: counted.connector };
  const session = createSession(inner);
  for (let attempt = 1;; attempt++) {
    const plan = await planMerge(request, inner, session);
    const finish = (
      status: MergeStatus,
      manifest: Address | null,
      executed: ReadonlyMap<FieldPlan, ExecutedField> = new Map(),
      resolvedByReading = false,
      warnings: readonly Warning[] = [],
    ): MergeReport =>
      reportOf(
        plan,
        { status, manifest, executed, attempts: attempt, resolvedByReading, warnings },
        counted.statistics,
      );
    if (plan.outcome === "refused" || plan.outcome === "already-merged") {
      return finish(plan.outcome, null);
    }
    const status = plan.outcome === "merge" ? "merged" : "fast-forwarded";
    if (request.dryRun) return finish(status, null);

    const { manifest, fields } = await write(plan, inner);
    inner.onProgress?.({ stage: "publish", done: 0, total: 1 });
    const published = await publish(inner, request.ref, plan.trunk, manifest);
    switch (published.status) {
      case "committed":
        return finish(
          status,
          manifest,
          fields,
          published.note === "confirmed-after-unknown",
          [
            ...published.note === "not-synced" ? [notSynced(request.ref)] : [],
            ...await movedBranches(plan, inner),
          ],
        );
      case "unknown":
        throw new DreamDBError({
          code: "publish-unknown",
          ref: request.ref,
          manifest,
          found: `no answer that tells whether ${request.ref} moved to ${manifest}`,
          expected: "an answer to the write of the ref, or to reading it again",
          next: `Run the same command again: if ${request.ref} holds the merge, it says ` +
            "already merged; if not, it merges.",
        }, { cause: published.cause });
      case "lost":
        await prepareNextAttempt(request, inner, attempt, plan.trunk, published.found);
    }
  }
}

async function write(
  plan: MergePlan,
  environment: MergeEnvironment,
): Promise<{ readonly manifest: Address; readonly fields: ReadonlyMap<FieldPlan, ExecutedField> }> {
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
  if (found === undefined) {
    throw new DreamDBError({
      code: "ref-missing",
      names: [request.ref],
      found: `${request.ref} was deleted while the merge was being made`,
      expected: "the ref that was there when the merge began",
      next: "Create the ref again, then run the same command.",
    });
  }
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
