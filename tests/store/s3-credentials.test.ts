/**
 * Credentials, regions and clocks that a store refuses.
 */

import { afterEach, describe, expect, test } from "bun:test";
import { S3Connector } from "../../src/store/s3.ts";
import {
  answer,
  before,
  bytes,
  codeOf,
  committed,
  expected,
  next,
  path,
  SECRET,
  setRef,
  start,
  stopFaultServers,
} from "../support/s3-setting.ts";

afterEach(stopFaultServers);

describe("credentials and regions", () => {
  for (const status of [301, 400] as const) {
    test(`follows the region that a ${status} names`, async () => {
      const { server, connector } = await start();
      server.switches.region = { name: "eu-central-1", status };
      setRef(server, expected);
      expect(await connector.compareAndSetRef("trunk", expected, next)).toEqual(committed);
      const { length } = server.requests;
      await connector.readRef("trunk");
      expect(server.requests.length).toBe(length + 1);
    });
  }

  test("asks the host of the region that AWS names", async () => {
    const asked: string[] = [];
    const connector = new S3Connector("s3://ds/p", {
      environment: { AWS_ACCESS_KEY_ID: "AKIATEST", AWS_SECRET_ACCESS_KEY: SECRET },
      effects: {
        fetch: async (url) => {
          asked.push(url);
          return asked.length === 1
            ? new Response("", { status: 301, headers: { "x-amz-bucket-region": "eu-west-3" } })
            : new Response("", { status: 404 });
        },
      },
    });
    expect(await connector.readRef("trunk")).toBeUndefined();
    expect(asked).toEqual([
      "https://ds.s3.us-east-1.amazonaws.com/p/refs/trunk",
      "https://ds.s3.eu-west-3.amazonaws.com/p/refs/trunk",
    ]);
  });

  test("takes new credentials when the token expires within a run", async () => {
    const environment: Record<string, string> = {
      AWS_ACCESS_KEY_ID: "FIRST",
      AWS_SECRET_ACCESS_KEY: SECRET,
      AWS_SESSION_TOKEN: "first",
    };
    const { server, connector } = await start({ environment });
    setRef(server, expected);
    expect(await connector.readRef("trunk")).toBe(expected);
    expect(server.requests.at(-1)?.headers["x-amz-security-token"]).toBe("first");
    server.switches.expiredTokens.add("first");
    Object.assign(environment, { AWS_ACCESS_KEY_ID: "SECOND", AWS_SESSION_TOKEN: "second" });
    expect(await connector.compareAndSetRef("trunk", expected, next)).toEqual(committed);
  });

  for (const method of ["GET", "PUT"]) {
    test(`an expired token without a newer one is a matter of permission (${method})`, async () => {
      const { server, connector } = await start({
        environment: {
          AWS_ACCESS_KEY_ID: "FIRST",
          AWS_SECRET_ACCESS_KEY: SECRET,
          AWS_SESSION_TOKEN: "first",
        },
      });
      server.switches.expiredTokens.add("first");
      const call = method === "GET"
        ? connector.readRef("trunk")
        : connector.putIfAbsent(path, bytes);
      expect(await codeOf(call)).toBe("permission-denied");
      expect(server.requests).toHaveLength(1);
    });
  }

  test("an expired token at the ref write leaves the ref alone", async () => {
    const { server, connector } = await start();
    setRef(server, expected);
    server.fail({ method: "PUT", key: "refs/", times: 9, faults: [answer(400, "ExpiredToken")] });
    expect(await codeOf(connector.compareAndSetRef("trunk", expected, next))).toBe(
      "permission-denied",
    );
    expect(server.count("PUT", "refs/")).toBe(1);
  });

  test("corrects a clock that is an hour off", async () => {
    const now = Date.parse("2026-03-01T12:00:00Z");
    const { server, connector } = await start({ effects: { now: () => new Date(now) } });
    server.objects.set(path, bytes);
    server.fail({
      method: "GET",
      faults: [{
        kind: "answer",
        ...before,
        status: 403,
        code: "RequestTimeTooSkewed",
        headers: { date: "Sun, 01 Mar 2026 13:00:00 GMT" },
      }],
    });
    expect(await connector.get(path)).toEqual(bytes);
    expect(server.requests.map((request) => request.headers["x-amz-date"])).toEqual([
      "20260301T120000Z",
      "20260301T130000Z",
    ]);
  });

  test("signs nothing without credentials; an empty value is none", async () => {
    const { server, connector } = await start({
      environment: { AWS_ACCESS_KEY_ID: "", AWS_SECRET_ACCESS_KEY: "" },
    });
    await connector.get(path);
    expect(server.requests[0]?.headers["authorization"]).toBeUndefined();
  });

  test("a refusal names action, key id and region, and no secret", async () => {
    const { server, connector } = await start();
    server.fail({ method: "PUT", faults: [answer(403, "AccessDenied")] });
    const error = await connector.putIfAbsent(path, bytes).catch((thrown) => thrown);
    for (const part of ["write an object", path, "AKIATEST", "us-east-1", "AccessDenied"]) {
      expect(error.message).toContain(part);
    }
    expect(JSON.stringify(error.fault) + error.stack).not.toContain(SECRET);
    expect(JSON.stringify(error.fault)).not.toContain("Signature");
  });
});
