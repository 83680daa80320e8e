/**
 * Moving a ref that others write, and being interrupted meanwhile (ANCHORS D.3-2).
 */

import { afterEach, describe, expect, test } from "bun:test";
import type { RefOutcome } from "../../src/store/connector.ts";
import type { FaultServer, ServerFault } from "../support/fault-server.ts";
import {
  after,
  answer,
  before,
  committed,
  confirmed,
  conflict,
  cutAfter,
  expected,
  next,
  other,
  setRef,
  start,
  stopFaultServers,
} from "../support/s3-setting.ts";

afterEach(stopFaultServers);

describe("a ref that others write", () => {
  const moves: readonly {
    readonly name: string;
    readonly faults: readonly ServerFault[] | ((server: FaultServer) => readonly ServerFault[]);
    readonly outcome: RefOutcome;
  }[] = [
    {
      name: "moved between our read and our write",
      faults: (server) => [{ kind: "meanwhile", ...before, happens: () => setRef(server, other) }],
      outcome: conflict(other, true),
    },
    {
      name: "moved on from ours before the answer is lost",
      faults: (server) => [
        { kind: "meanwhile", ...after, happens: () => setRef(server, other) },
        cutAfter,
      ],
      outcome: conflict(other, true),
    },
    {
      name: "moved on from ours before we have read it again",
      faults: (server) => [{ kind: "meanwhile", ...after, happens: () => setRef(server, other) }],
      outcome: conflict(other, true),
    },
    {
      name: "deleted between our read and our write: it is not made again",
      faults: (server) => [{
        kind: "meanwhile",
        ...before,
        happens: () => setRef(server, undefined),
      }],
      outcome: conflict(undefined, true),
    },
    {
      name: "deleted and made again with the same value",
      faults: (server) => [{
        kind: "meanwhile",
        ...before,
        happens() {
          setRef(server, undefined);
          setRef(server, expected);
        },
      }],
      outcome: committed,
    },
  ];
  for (const { name, faults, outcome } of moves) {
    test(name, async () => {
      const { server, connector } = await start();
      setRef(server, expected);
      server.fail({
        method: "PUT",
        key: "refs/",
        faults: typeof faults === "function" ? faults(server) : faults,
      });
      expect(await connector.compareAndSetRef("trunk", expected, next)).toEqual(outcome);
      expect(server.count("PUT", "refs/")).toBe(1);
      expect(server.count("DELETE")).toBe(0);
    });
  }

  test("moved before we read it: nothing is sent", async () => {
    const { server, connector } = await start();
    setRef(server, other);
    expect(await connector.compareAndSetRef("trunk", expected, next)).toEqual(
      conflict(other, false),
    );
    expect(server.count("PUT")).toBe(0);
  });
});

describe("a ref that was read before", () => {
  test("is moved without being read once more", async () => {
    const { server, connector } = await start();
    setRef(server, expected);
    await connector.readRef("trunk");
    expect(await connector.compareAndSetRef("trunk", expected, next)).toEqual(committed);
    expect(server.requests.map(({ method }) => method)).toEqual(["GET", "PUT", "GET"]);
  });

  test("and moved by another since is a conflict that names what it holds", async () => {
    const { server, connector } = await start();
    setRef(server, expected);
    await connector.readRef("trunk");
    setRef(server, other);
    expect(await connector.compareAndSetRef("trunk", expected, next)).toEqual(
      conflict(other, true),
    );
    expect(await connector.compareAndSetRef("trunk", other, next)).toEqual(committed);
  });

  test("and held something else then is read again", async () => {
    const { server, connector } = await start();
    setRef(server, other);
    await connector.readRef("trunk");
    setRef(server, expected);
    expect(await connector.compareAndSetRef("trunk", expected, next)).toEqual(committed);
  });
});

describe("an interrupted move", () => {
  test("is not sent when the signal was aborted before", async () => {
    const { server, connector } = await start();
    setRef(server, expected);
    const signal = AbortSignal.abort(new Error("stop"));
    const outcome = await connector.compareAndSetRef("trunk", expected, next, { signal })
      .catch((error) => error);
    expect(outcome).toBe(signal.reason);
    expect(server.requests).toEqual([]);
  });

  test("still finds out what became of a write that was sent", async () => {
    const { server, connector } = await start();
    setRef(server, expected);
    const stop = new AbortController();
    server.fail({
      method: "PUT",
      key: "refs/",
      faults: [
        { kind: "meanwhile", ...after, happens: () => stop.abort(new Error("stop")) },
        cutAfter,
      ],
    });
    const { signal } = stop;
    expect(await connector.compareAndSetRef("trunk", expected, next, { signal })).toEqual(
      confirmed,
    );
  });

  test("sends no second time", async () => {
    const { server, connector } = await start();
    setRef(server, expected);
    const stop = new AbortController();
    server.fail({
      method: "PUT",
      key: "refs/",
      faults: [
        { kind: "meanwhile", ...before, happens: () => stop.abort(new Error("stop")) },
        answer(503, "SlowDown"),
      ],
    });
    const { signal } = stop;
    const outcome = await connector.compareAndSetRef("trunk", expected, next, { signal })
      .catch((error) => error);
    expect(outcome).toBe(stop.signal.reason);
    expect(server.count("PUT", "refs/")).toBe(1);
  });
});
