/**
 * Creating and deleting refs of a store that fails (ANCHORS D.2).
 */

import { afterEach, describe, expect, test } from "bun:test";
import type { Address } from "../../src/encoding/address.ts";
import type { FaultCode } from "../../src/errors.ts";
import type { ServerFault } from "../support/fault-server.ts";
import {
  answer,
  before,
  codeOf,
  cutAfter,
  cutBefore,
  expected,
  next,
  other,
  setRef,
  start,
  stopFaultServers,
} from "../support/s3-setting.ts";

afterEach(stopFaultServers);

describe("creating a ref through", () => {
  const rows: readonly {
    readonly name: string;
    readonly faults: readonly ServerFault[];
    readonly present?: Address;
    readonly outcome: "created" | "exists" | FaultCode;
    readonly puts: number;
  }[] = [
    { name: "an undisturbed write", faults: [], outcome: "created", puts: 1 },
    { name: "412", faults: [], present: other, outcome: "exists", puts: 1 },
    { name: "a lost answer", faults: [cutAfter], outcome: "created", puts: 1 },
    { name: "a lost request", faults: [cutBefore], outcome: "created", puts: 2 },
    {
      name: "a proxy that delivers twice",
      faults: [{ kind: "twice" }],
      outcome: "created",
      puts: 1,
    },
    {
      name: "409 from a race that another won",
      faults: [answer(409, "ConditionalRequestConflict")],
      present: other,
      outcome: "exists",
      puts: 1,
    },
    {
      name: "409 from a race that nobody won",
      faults: [answer(409, "ConditionalRequestConflict")],
      outcome: "created",
      puts: 2,
    },
    {
      name: "500 after",
      faults: [answer(500, "InternalError", "after")],
      outcome: "created",
      puts: 1,
    },
    { name: "503 before", faults: [answer(503, "SlowDown")], outcome: "created", puts: 2 },
    { name: "403", faults: [answer(403, "AccessDenied")], outcome: "permission-denied", puts: 1 },
    {
      name: "501",
      faults: [answer(501, "NotImplemented")],
      outcome: "conditions-ignored",
      puts: 1,
    },
  ];
  for (const { name, faults, present, outcome, puts } of rows) {
    test(name, async () => {
      const { server, connector } = await start();
      setRef(server, present);
      server.fail({ method: "PUT", key: "refs/", faults });
      const made = connector.createRef("trunk", next);
      if (outcome === "created" || outcome === "exists") expect(await made).toBe(outcome);
      else expect(await codeOf(made)).toBe(outcome);
      expect(server.count("PUT", "refs/")).toBe(puts);
      expect(server.count("DELETE")).toBe(0);
    });
  }
});

describe("deleting a ref", () => {
  test("names the state that is deleted", async () => {
    const { server, connector } = await start();
    setRef(server, expected);
    server.fail({
      method: "DELETE",
      faults: [{ kind: "meanwhile", ...before, happens: () => setRef(server, other) }],
    });
    expect(await connector.deleteRef("trunk", expected)).toBe("conflict");
    expect(server.objects.has("refs/trunk")).toBe(true);
  });

  const rows: readonly (readonly [string, readonly ServerFault[], number])[] = [
    ["a lost answer", [cutAfter], 1],
    ["a lost request", [cutBefore], 2],
    ["a store without conditional deletes", [answer(501, "NotImplemented")], 2],
    ["503", [answer(503, "SlowDown")], 2],
  ];
  for (const [name, faults, deletes] of rows) {
    test(`survives ${name}`, async () => {
      const { server, connector } = await start();
      setRef(server, expected);
      server.fail({ method: "DELETE", faults });
      expect(await connector.deleteRef("trunk", expected)).toBe("deleted");
      expect(server.count("DELETE")).toBe(deletes);
    });
  }
});
