/**
 * Moving a ref of a store that fails (ANCHORS D.3-1, D.3-2).
 *
 * Two things hold in every row: a move that is reported as committed is what the ref holds, and a
 * move that throws is not.
 */

import { afterEach, describe, expect, test } from "bun:test";
import { addressBytes } from "../../src/encoding/address.ts";
import type { FaultCode } from "../../src/errors.ts";
import type { RefOutcome } from "../../src/store/connector.ts";
import type { ServerFault } from "../support/fault-server.ts";
import {
  after,
  answer,
  before,
  bytes,
  codeOf,
  committed,
  confirmed,
  conflict,
  cutAfter,
  cutBefore,
  expected,
  next,
  setRef,
  start,
  stopFaultServers,
} from "../support/s3-setting.ts";

afterEach(stopFaultServers);

interface RefRow {
  readonly name: string;
  /** Faults of the ref writes, one list a send. */
  readonly sends: readonly (readonly ServerFault[])[];
  /** Whether the last list goes on for ever. */
  readonly forever?: boolean;
  /** What happens to reads of the ref after the write. */
  readonly reads?: readonly ServerFault[];
  readonly outcome: RefOutcome | { readonly status: "unknown" } | FaultCode;
  /** PUT requests that the ref has had. */
  readonly puts: number;
}

const refRows: readonly RefRow[] = [
  { name: "an undisturbed write", sends: [], outcome: committed, puts: 1 },
  {
    name: "409 ConditionalRequestConflict once",
    sends: [[answer(409, "ConditionalRequestConflict")]],
    outcome: committed,
    puts: 2,
  },
  {
    name: "409 ConditionalRequestConflict three times",
    sends: Array(3).fill([answer(409, "ConditionalRequestConflict")]),
    outcome: committed,
    puts: 4,
  },
  {
    name: "409 ConditionalRequestConflict for ever",
    sends: [[answer(409, "ConditionalRequestConflict")]],
    forever: true,
    outcome: conflict(expected, true),
    puts: 5,
  },
  {
    name: "409 OperationAborted",
    sends: [[answer(409, "OperationAborted")]],
    outcome: "store-failure",
    puts: 1,
  },
  {
    name: "412 although the ref has not moved",
    sends: [[answer(412, "PreconditionFailed")]],
    outcome: committed,
    puts: 2,
  },
  {
    name: "412 for ever, as for a token that may not write",
    sends: [[answer(412, "PreconditionFailed")]],
    forever: true,
    outcome: conflict(expected, true),
    puts: 5,
  },
  {
    name: "412 after the write was applied",
    sends: [[answer(412, "PreconditionFailed", "after")]],
    outcome: confirmed,
    puts: 1,
  },
  {
    name: "a write that a proxy delivers twice",
    sends: [[{ kind: "twice" }]],
    outcome: confirmed,
    puts: 1,
  },
  ...[500, 502, 503, 504, 429, 408].flatMap((status): RefRow[] => [
    {
      name: `${status} before the write is applied`,
      sends: [[answer(status, "SlowDown")]],
      outcome: committed,
      puts: 2,
    },
    {
      name: `${status} after the write was applied`,
      sends: [[answer(status, "SlowDown", "after")]],
      outcome: confirmed,
      puts: 1,
    },
  ]),
  {
    name: "500 for ever",
    sends: [[answer(500, "InternalError")]],
    forever: true,
    outcome: "store-failure",
    puts: 5,
  },
  {
    name: "504 for ever, behind which the store may be working",
    sends: [[answer(504, "GatewayTimeout")]],
    forever: true,
    outcome: { status: "unknown" },
    puts: 5,
  },
  {
    name: "a connection that ends before the write",
    sends: [[cutBefore]],
    outcome: committed,
    puts: 2,
  },
  {
    name: "a connection that ends after the write",
    sends: [[cutAfter]],
    outcome: confirmed,
    puts: 1,
  },
  {
    name: "a connection that ends within the answer",
    sends: [[
      { kind: "answer", ...after, status: 200, body: "a long body" },
      { kind: "cut-body", bytes: 3 },
    ]],
    outcome: confirmed,
    puts: 1,
  },
  {
    name: "connections that always end before the write",
    sends: [[cutBefore]],
    forever: true,
    outcome: { status: "unknown" },
    puts: 5,
  },
  {
    name: "a lost answer, then 500 for ever: the first write may still come",
    sends: [[cutBefore], [answer(500, "InternalError")]],
    forever: true,
    outcome: { status: "unknown" },
    puts: 5,
  },
  {
    name: "a lost answer of an applied write and a ref that cannot be read",
    sends: [[cutAfter]],
    reads: [answer(500, "InternalError")],
    outcome: { status: "unknown" },
    puts: 1,
  },
  {
    name: "200 and a ref that cannot be read",
    sends: [],
    reads: [answer(500, "InternalError")],
    outcome: committed,
    puts: 1,
  },
  {
    name: "403 and a ref that cannot be read",
    sends: [[answer(403, "AccessDenied")]],
    reads: [answer(403, "AccessDenied")],
    outcome: "permission-denied",
    puts: 1,
  },
  { name: "403", sends: [[answer(403, "AccessDenied")]], outcome: "permission-denied", puts: 1 },
  { name: "501", sends: [[answer(501, "NotImplemented")]], outcome: "conditions-ignored", puts: 1 },
  { name: "400", sends: [[answer(400, "InvalidRequest")]], outcome: "store-failure", puts: 1 },
  { name: "200 without effect", sends: [[answer(200, "")]], outcome: committed, puts: 2 },
  {
    name: "200 without effect for ever",
    sends: [[answer(200, "")]],
    forever: true,
    outcome: conflict(expected, true),
    puts: 5,
  },
];

describe("moving a ref through", () => {
  for (const { name, sends, forever = false, reads, outcome, puts } of refRows) {
    test(name, async () => {
      const { server, connector } = await start();
      setRef(server, expected);
      sends.forEach((faults, index) =>
        server.fail({
          method: "PUT",
          key: "refs/trunk",
          skip: index,
          times: forever && index === sends.length - 1 ? Number.POSITIVE_INFINITY : 1,
          faults,
        })
      );
      if (reads !== undefined) {
        server.fail({
          method: "GET",
          key: "refs/trunk",
          skip: 1,
          times: Number.POSITIVE_INFINITY,
          faults: reads,
        });
      }
      const moved = connector.compareAndSetRef("trunk", expected, next);
      const holdsNext = () =>
        Buffer.compare(server.objects.get("refs/trunk") ?? bytes, addressBytes(next)) === 0;
      if (typeof outcome === "string") {
        expect(await codeOf(moved)).toBe(outcome);
        expect(holdsNext()).toBe(false);
      } else {
        const found = await moved;
        expect(found.status === "unknown" ? { status: found.status } : found).toEqual(outcome);
        if (found.status === "committed") expect(holdsNext()).toBe(true);
      }
      expect(server.count("PUT", "refs/trunk")).toBe(puts);
      expect(server.written.length).toBeLessThanOrEqual(1);
      expect(server.count("DELETE")).toBe(0);
    });
  }

  test("an answer that comes too late, from a write that was applied", async () => {
    const { server, connector } = await start({ timing: { head: 50 } });
    setRef(server, expected);
    const late = Promise.withResolvers<void>();
    server.fail({
      method: "PUT",
      key: "refs/",
      faults: [{ kind: "hold", ...after, until: late.promise }],
    });
    expect(await connector.compareAndSetRef("trunk", expected, next)).toEqual(confirmed);
    late.resolve();
    expect(server.count("PUT", "refs/")).toBe(1);
  });

  test("a write that the store applies only after we stopped waiting", async () => {
    const { server, connector } = await start({ timing: { head: 50 } });
    setRef(server, expected);
    const late = Promise.withResolvers<void>();
    server.fail({
      method: "PUT",
      key: "refs/",
      faults: [{ kind: "hold", ...before, until: late.promise }],
    });
    // The store gets to it while we send the second time.
    server.fail({
      method: "PUT",
      key: "refs/",
      skip: 1,
      faults: [
        { kind: "meanwhile", ...before, happens: () => late.resolve() },
        { kind: "hold", ...before, until: late.promise.then(() => Bun.sleep(20)) },
      ],
    });
    const outcome = await connector.compareAndSetRef("trunk", expected, next);
    expect(outcome.status).toBe("committed");
    expect(server.written).toHaveLength(1);
    expect(server.count("PUT", "refs/")).toBe(2);
  });

  test("a store that is down before the write", async () => {
    const { server, connector } = await start();
    setRef(server, expected);
    await connector.readRef("trunk");
    server[Symbol.dispose]();
    expect(await codeOf(connector.compareAndSetRef("trunk", expected, next))).toBe("store-failure");
  });
});
