/**
 * Writing objects to a store that fails or is overloaded (ANCHORS D.3-5).
 */

import { afterEach, describe, expect, test } from "bun:test";
import type { FaultCode } from "../../src/errors.ts";
import { manifestPath } from "../../src/store/paths.ts";
import type { ServerFault } from "../support/fault-server.ts";
import { sampleAddress } from "./conformance.ts";
import {
  answer,
  before,
  bytes,
  codeOf,
  expected,
  passing,
  path,
  setRef,
  start,
  stopFaultServers,
} from "../support/s3-setting.ts";

afterEach(stopFaultServers);

describe("writing an object", () => {
  for (const [name, faults] of passing) {
    test(`survives ${name}`, async () => {
      const { server, connector } = await start();
      server.fail({ method: "PUT", faults });
      expect(["written", "present"]).toContain(await connector.putIfAbsent(path, bytes));
      expect(server.objects.get(path)).toEqual(bytes);
      expect(server.count("PUT")).toBe(2);
      expect(server.written).toHaveLength(1);
    });
  }

  const rows: readonly {
    readonly name: string;
    readonly faults: readonly ServerFault[];
    readonly outcome: "written" | "present" | FaultCode;
    readonly puts: number;
  }[] = [
    {
      name: "409 ConditionalRequestConflict",
      faults: [answer(409, "ConditionalRequestConflict")],
      outcome: "written",
      puts: 2,
    },
    {
      name: "409 OperationAborted",
      faults: [answer(409, "OperationAborted")],
      outcome: "store-failure",
      puts: 1,
    },
    { name: "304", faults: [answer(304, "")], outcome: "present", puts: 1 },
    {
      name: "a store without conditions",
      faults: [answer(501, "NotImplemented")],
      outcome: "written",
      puts: 2,
    },
    { name: "403", faults: [answer(403, "AccessDenied")], outcome: "permission-denied", puts: 1 },
    {
      name: "404 NoSuchBucket",
      faults: [answer(404, "NoSuchBucket")],
      outcome: "store-missing",
      puts: 1,
    },
  ];
  for (const { name, faults, outcome, puts } of rows) {
    test(`${name}: ${outcome}`, async () => {
      const { server, connector } = await start();
      server.fail({ method: "PUT", faults });
      const written = connector.putIfAbsent(path, bytes);
      if (outcome === "written" || outcome === "present") expect(await written).toBe(outcome);
      else expect(await codeOf(written)).toBe(outcome);
      expect(server.count("PUT")).toBe(puts);
    });
  }

  test("fails after six times 500, wherever it happens, and publishes nothing", async () => {
    for (let skip = 0; skip < 5; skip++) {
      const { server, connector } = await start();
      setRef(server, expected);
      server.fail({
        method: "PUT",
        skip,
        times: Number.POSITIVE_INFINITY,
        faults: [answer(500, "InternalError")],
      });
      const writing = (async () => {
        for (let object = 0; object < 5; object++) {
          await connector.putIfAbsent(manifestPath(sampleAddress(`${object}`)), bytes);
        }
      })();
      expect(await codeOf(writing)).toBe("store-failure");
      expect(server.count("PUT", "refs/")).toBe(0);
      expect(server.count("DELETE")).toBe(0);
    }
  });
});

test("no more requests are open at once than allowed", async () => {
  const { server, connector } = await start({ concurrency: 16 });
  // Nobody is answered before as many as may be are waiting.
  const full = (async () => {
    while (server.requests.length < 16) await Bun.sleep(1);
  })();
  server.fail({ method: "GET", times: 16, faults: [{ kind: "hold", ...before, until: full }] });
  await Promise.all(
    Array.from({ length: 100 }, (_, index) => connector.get(`manifests/${index}`)),
  );
  expect(server.mostAtOnce()).toBe(16);
});
