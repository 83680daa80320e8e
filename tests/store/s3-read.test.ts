/**
 * Reading objects of a store that fails (ANCHORS D.3-4).
 */

import { afterEach, describe, expect, test } from "bun:test";
import type { FaultCode } from "../../src/errors.ts";
import { getObject } from "../../src/store/objects.ts";
import type { ServerFault } from "../support/fault-server.ts";
import {
  address,
  answer,
  before,
  bytes,
  codeOf,
  passing,
  path,
  start,
  stopFaultServers,
} from "../support/s3-setting.ts";

afterEach(stopFaultServers);

describe("reading an object", () => {
  for (
    const [name, faults] of [...passing, ["a cut body", [{ kind: "cut-body", bytes: 3 }]] as const]
  ) {
    for (const times of [1, 5]) {
      test(`survives ${name}, ${times} times`, async () => {
        const { server, connector } = await start();
        server.objects.set(path, bytes);
        server.fail({ method: "GET", times, faults });
        expect(await connector.get(path)).toEqual(bytes);
      });
    }
    test(`fails after six times ${name}`, async () => {
      const { server, connector } = await start();
      server.objects.set(path, bytes);
      server.fail({ method: "GET", times: 6, faults });
      expect(await codeOf(connector.get(path))).toBe("store-failure");
      expect(server.count("GET")).toBe(6);
    });
  }

  test("survives an answer that never comes", async () => {
    const { server, connector } = await start({ timing: { head: 50 } });
    server.objects.set(path, bytes);
    const never = Promise.withResolvers<void>();
    server.fail({ method: "GET", faults: [{ kind: "hold", ...before, until: never.promise }] });
    expect(await connector.get(path)).toEqual(bytes);
    never.resolve();
  });

  test("pauses longer and longer, and as long as the store asks", async () => {
    const { server, connector, pauses } = await start();
    server.objects.set(path, bytes);
    server.fail({ method: "GET", times: 3, faults: [answer(500, "InternalError")] });
    server.fail({
      method: "GET",
      skip: 3,
      times: 1,
      faults: [{ ...answer(503, "SlowDown"), headers: { "retry-after": "7" } } as ServerFault],
    });
    expect(await connector.get(path)).toEqual(bytes);
    expect(pauses).toEqual([50, 100, 200, 7_000]);
  });

  test("says that there is none, and does not ask again", async () => {
    const { server, connector } = await start();
    expect(await connector.get(path)).toBeUndefined();
    expect(server.count("GET")).toBe(1);
  });

  const wrong: readonly (readonly [string, (body: Uint8Array) => Uint8Array])[] = [
    ["a flipped first bit", (body) => body.map((byte, index) => index === 0 ? byte ^ 1 : byte)],
    ["a flipped bit within", (body) => body.map((byte, index) => index === 9 ? byte ^ 4 : byte)],
    [
      "a flipped last bit",
      (body) => body.map((b, index) => index === body.length - 1 ? b ^ 128 : b),
    ],
    ["a shorter body", (body) => body.subarray(0, -1)],
    ["no body", () => new Uint8Array()],
    ["another object", () => new TextEncoder().encode("another")],
  ];
  for (const [name, change] of wrong) {
    test(`reads ${name} once more`, async () => {
      const { server, connector } = await start();
      server.objects.set(path, bytes);
      server.fail({ method: "GET", faults: [{ kind: "change-body", change }] });
      expect(await getObject(connector, path, address)).toEqual(bytes);
      expect(server.count("GET")).toBe(2);
    });
    test(`refuses ${name} that stays`, async () => {
      const { server, connector } = await start();
      server.objects.set(path, bytes);
      server.fail({ method: "GET", times: 9, faults: [{ kind: "change-body", change }] });
      expect(await codeOf(getObject(connector, path, address))).toBe("hash-mismatch");
      expect(server.count("GET")).toBe(2);
    });
  }

  const strange: readonly (readonly [string, ServerFault, FaultCode])[] = [
    ["206", { kind: "answer", ...before, status: 206, body: "an" }, "store-failure"],
    ["206 with the whole object and another Content-Range", {
      kind: "answer",
      ...before,
      status: 206,
      headers: { "content-range": `bytes 4-6/${bytes.length}` },
      body: bytes,
    }, "store-failure"],
    ["206 with a Content-Range that fits", {
      kind: "answer",
      ...before,
      status: 206,
      headers: { "content-range": `bytes 0-1/${bytes.length}` },
      body: "an",
    }, "store-failure"],
    ["304", { kind: "answer", ...before, status: 304 }, "store-failure"],
    ["a redirect", {
      kind: "answer",
      ...before,
      status: 302,
      headers: { location: "http://127.0.0.1:1/" },
    }, "store-failure"],
    ["403", answer(403, "AccessDenied"), "permission-denied"],
    ["404 NoSuchBucket", answer(404, "NoSuchBucket"), "store-missing"],
    ["404 of another kind", answer(404, "NoSuchUpload"), "store-failure"],
  ];
  for (const [name, fault, code] of strange) {
    test(`${name} is ${code}`, async () => {
      const { server, connector } = await start();
      server.objects.set(path, bytes);
      server.fail({ method: "GET", faults: [fault] });
      expect(await codeOf(connector.get(path))).toBe(code);
      expect(server.count("GET")).toBe(1);
    });
  }

  test("takes a compressed answer for what it means", async () => {
    const { server, connector } = await start();
    server.fail({
      method: "GET",
      faults: [{
        kind: "answer",
        ...before,
        status: 200,
        headers: { "content-encoding": "gzip" },
        body: Bun.gzipSync(bytes),
      }],
    });
    expect(await getObject(connector, path, address)).toEqual(bytes);
  });
});
