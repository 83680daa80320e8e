/**
 * Whole merges over a store that fails (ANCHORS D.3).
 *
 * In every row: one run publishes one Manifest at most; a run that ends well has it in the history
 * of trunk; a run that throws has not, unless it says that it does not know; nothing is deleted; and
 * running the same command again, without the failure, ends well.
 */

import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { addressFromBytes } from "../../src/encoding/address.ts";
import type { FaultCode } from "../../src/errors.ts";
import { isDreamDBError } from "../../src/errors.ts";
import { S3Connector } from "../../src/store/s3.ts";
import type { FaultRule, ServerFault } from "../support/fault-server.ts";
import { historyOf, merge, startMerging, TRUNK, trunkOf } from "../support/s3-merging.ts";
import { answer, cutAfter, cutBefore, stopFaultServers } from "../support/s3-setting.ts";

// Whole merges, on machines that have other work too.
setDefaultTimeout(60_000);
afterEach(stopFaultServers);

interface Row {
  readonly name: string;
  readonly rules: readonly FaultRule[];
  readonly outcome: "merged" | FaultCode;
  readonly attempts?: number;
  readonly resolvedByReading?: boolean;
}

const forever = Number.POSITIVE_INFINITY;
function onRef(faults: readonly ServerFault[], times = 1): FaultRule {
  return { method: "PUT", key: TRUNK, times, faults };
}

const conflict409 = answer(409, "ConditionalRequestConflict");
const rows: readonly Row[] = [
  { name: "nothing", rules: [], outcome: "merged", attempts: 1, resolvedByReading: false },
  { name: "409 once", rules: [onRef([conflict409])], outcome: "merged", attempts: 1 },
  { name: "409 for ever", rules: [onRef([conflict409], forever)], outcome: "publish-conflict" },
  {
    name: "412 for ever",
    rules: [onRef([answer(412, "PreconditionFailed")], forever)],
    outcome: "publish-conflict",
  },
  {
    name: "412 after it was applied",
    rules: [onRef([answer(412, "PreconditionFailed", "after")])],
    outcome: "merged",
    resolvedByReading: true,
  },
  { name: "500 before", rules: [onRef([answer(500, "InternalError")])], outcome: "merged" },
  {
    name: "500 after",
    rules: [onRef([answer(500, "InternalError", "after")])],
    outcome: "merged",
    resolvedByReading: true,
  },
  {
    name: "500 for ever",
    rules: [onRef([answer(500, "InternalError")], forever)],
    outcome: "store-failure",
  },
  { name: "503 before", rules: [onRef([answer(503, "SlowDown")])], outcome: "merged" },
  { name: "a lost request", rules: [onRef([cutBefore])], outcome: "merged" },
  { name: "a lost answer", rules: [onRef([cutAfter])], outcome: "merged", resolvedByReading: true },
  {
    name: "lost requests for ever",
    rules: [onRef([cutBefore], forever)],
    outcome: "publish-unknown",
  },
  { name: "a proxy that delivers twice", rules: [onRef([{ kind: "twice" }])], outcome: "merged" },
  {
    name: "a lost answer and a ref that cannot be read",
    rules: [
      onRef([cutAfter]),
      {
        method: "GET",
        key: TRUNK,
        skip: 1,
        times: forever,
        faults: [answer(500, "InternalError")],
      },
    ],
    outcome: "publish-unknown",
  },
  {
    name: "403",
    rules: [onRef([answer(403, "AccessDenied")], forever)],
    outcome: "permission-denied",
  },
  {
    name: "501",
    rules: [onRef([answer(501, "NotImplemented")], forever)],
    outcome: "conditions-ignored",
  },
  {
    name: "409 OperationAborted of an object",
    rules: [{ method: "PUT", times: forever, faults: [answer(409, "OperationAborted")] }],
    outcome: "store-failure",
  },
  {
    name: "an expired token for ever",
    rules: [{ skip: 5, times: forever, faults: [answer(400, "ExpiredToken")] }],
    outcome: "permission-denied",
  },
];

describe("a merge of two branches through", () => {
  for (const { name, rules, outcome, attempts, resolvedByReading } of rows) {
    test(name, async () => {
      const { server, connector } = await startMerging();
      const before = trunkOf(server);
      let failing = true;
      for (const rule of rules) {
        // Afterwards the failure is over.
        server.fail({ ...rule, isOver: () => !failing });
      }
      const result = await merge(connector, "w0", "w1").catch((error: unknown) => error);
      const published = server.written.filter(({ key }) => key === TRUNK);
      expect(published.length).toBeLessThanOrEqual(1);
      if (outcome === "merged") {
        expect(result).toMatchObject({
          status: "merged",
          ...(attempts === undefined ? {} : { attempts }),
        });
        expect(published).toHaveLength(1);
      } else {
        expect(isDreamDBError(result, outcome)).toBe(true);
        if (outcome !== "publish-unknown") expect(trunkOf(server)).toBe(before);
      }
      if (resolvedByReading !== undefined) {
        expect(result).toMatchObject({ resolvedByReading });
      }
      expect(server.count("DELETE")).toBe(0);

      failing = false;
      const again = await merge(connector, "w0", "w1");
      expect(again.status).toBe(
        trunkOf(server) === before || published.length === 0 ? "merged" : "already-merged",
      );
      expect(server.written.filter(({ key }) => key === TRUNK)).toHaveLength(1);
    });
  }

  test("500 from one of its objects on: nothing is published, and it can be run again", async () => {
    const { server: counting, connector: first } = await startMerging();
    await merge(first, "w0", "w1");
    const puts = counting.count("PUT") - counting.count("PUT", TRUNK);
    expect(puts).toBeGreaterThan(5);
    // About a dozen of them, from the first on.
    const step = Math.max(1, Math.floor((puts - 1) / 11));
    for (let skip = 0; skip < puts; skip += step) {
      const { server, connector } = await startMerging();
      const before = trunkOf(server);
      let failing = true;
      server.fail({
        method: "PUT",
        skip,
        times: forever,
        faults: [answer(500, "InternalError")],
        isOver: () => !failing,
      });
      const error = await merge(connector, "w0", "w1").catch((thrown: unknown) => thrown);
      expect(isDreamDBError(error, "store-failure")).toBe(true);
      expect(trunkOf(server)).toBe(before);
      expect(server.count("DELETE")).toBe(0);
      failing = false;
      expect((await merge(connector, "w0", "w1")).status).toBe("merged");
    }
  });
});

describe("a merge beside another one", () => {
  test("that publishes first is planned again", async () => {
    const { server, connector } = await startMerging();
    const other = new S3Connector(connector.url, { environment: {} });
    server.fail(onRef([{ kind: "hold", when: "before", until: () => merge(other, "w2") }]));
    const report = await merge(connector, "w0", "w1");
    expect(report).toMatchObject({ status: "merged", attempts: 2 });
    const published = server.written.filter(({ key }) => key === TRUNK);
    expect(published).toHaveLength(2);
    const history = await historyOf(connector, trunkOf(server));
    for (const { body } of published) expect(history.has(addressFromBytes(body))).toBe(true);
    expect(trunkOf(server)).toBe(report.manifest ?? trunkOf(server));
  });

  test("that publishes on top of ours, whose answer is lost, is no reason to merge again", async () => {
    const { server, connector } = await startMerging();
    const other = new S3Connector(connector.url, { environment: {} });
    server.fail(onRef([
      { kind: "hold", when: "after", until: () => merge(other, "w2") },
      cutAfter,
    ]));
    const report = await merge(connector, "w0", "w1");
    expect(report).toMatchObject({ status: "merged", attempts: 1, resolvedByReading: true });
    const published = server.written.filter(({ key }) => key === TRUNK).map(({ body }) =>
      addressFromBytes(body)
    );
    expect(published).toHaveLength(2);
    expect(published[0]).toBe(report.manifest ?? trunkOf(server));
    const history = await historyOf(connector, trunkOf(server));
    for (const manifest of published) expect(history.has(manifest)).toBe(true);
    expect((await merge(connector, "w0", "w1")).status).toBe("already-merged");
  });

  test("cannot bring back a trunk that was deleted", async () => {
    const { server, connector } = await startMerging();
    server.fail(onRef([{
      kind: "meanwhile",
      when: "before",
      happens: () => server.objects.delete(TRUNK),
    }]));
    const error = await merge(connector, "w0", "w1").catch((thrown: unknown) => thrown);
    expect(isDreamDBError(error, "publish-conflict")).toBe(true);
    expect(server.objects.has(TRUNK)).toBe(false);
  });
});

test("a store that ignores conditions is not merged into", async () => {
  const { server, connector } = await startMerging();
  const before = trunkOf(server);
  server.switches.ignoreConditions = true;
  const error = await merge(connector, "w0", "w1").catch((thrown: unknown) => thrown);
  expect(isDreamDBError(error, "conditions-ignored")).toBe(true);
  expect(trunkOf(server)).toBe(before);
  expect(server.count("PUT", "refs/")).toBe(0);
  expect(server.count("DELETE")).toBe(0);
});
