/**
 * A sample of the golden scenarios on S3 servers; `npm run conformance -- --backend s3` runs all.
 */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { describeWithReference } from "../support/describe-reference.ts";
import { dreamdbCommand } from "../support/dreamdb.ts";
import { referenceMissing } from "../support/reference.ts";
import { isInstalled, type S3ServerName } from "../support/s3-servers.ts";
import { Checker } from "./checker.ts";
import { expectations } from "./expectation.ts";
import { buckets, type StorePlaces } from "./placed-store.ts";
import { runScenario } from "./scenario.ts";

/** Those in which signatures and odd keys matter most: every kind of object, every exit code. */
const few: readonly string[] = [
  "disjoint-3-trunk-moved",
  "ivf-rabitq-rerank",
  "arrays-all",
  "delete-everywhere",
  "duplicate-every-field",
  "fast-forward",
  "already-merged",
  "missing-branch",
  "ref-short",
  "damaged-branch-bucket-missing",
];

const samples = {
  gofakes3: [
    ...few,
    "disjoint-16",
    "lsh-l2",
    "two-image-fields",
    "only-categorical",
    "only-float",
    "only-audio",
    "only-video",
    "only-packs",
    "only-chunks",
    "geometry",
    "same-cell-trunk-too",
    "interleaved",
    "empty-base",
    "branch-of-a-branch",
    "shared-history-outside-the-list",
    "image-layer-appended",
    "identical-overlap-allowed",
    "retried-slice-on-trunk",
    "field-on-one-of-two-branches",
    "constant-picked-w0",
    "description-differs",
    "deleted-here-appended-there",
    "compacted-on-branch",
    "second-round-both-compacted",
    "unrelated",
    "criss-cross",
    "third-round",
    "octopus-parents",
    "collected-history",
    "two-names-one-tip",
    "missing-trunk",
    "inner-slash",
    "snapshot-label",
    "damaged-branch-manifest-flipped",
    "damaged-trunk-manifest-missing",
    "damaged-branch-page-missing",
    "damaged-branch-tombstones-truncated",
    "damaged-branch-bucket-flipped",
    "ref-empty",
    "ref-unknown-address",
    "precedence-damage-before-rules",
  ],
  versitygw: few,
} as const satisfies Readonly<Partial<Record<S3ServerName, readonly string[]>>>;

for (const name of ["gofakes3", "versitygw"] as const) {
  if (!isInstalled(name)) {
    test.skip(`${name} is missing: run scripts/install-s3-servers.sh`, () => {});
    continue;
  }
  describeWithReference(`conformance on ${name}`, () => {
    let places: StorePlaces;
    let checker: Checker;
    if (referenceMissing === undefined) {
      beforeAll(async () => {
        places = await buckets(name);
        checker = await Checker.start(places.environment);
      }, 300_000);
      afterAll(async () => {
        checker.stop();
        await places.stop();
      });
    }

    const byName = new Map(expectations().map((expected) => [expected.name, expected]));
    for (const scenario of samples[name]) {
      const expected = byName.get(scenario);
      test(`${scenario}: ${expected?.rule}`, async () => {
        if (expected === undefined) throw new Error("there is no such scenario");
        const { problems } = await runScenario(expected, dreamdbCommand(), checker, places);
        expect(problems).toEqual([]);
      }, 300_000);
    }
  });
}
