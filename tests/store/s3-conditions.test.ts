/**
 * Stores that ignore, refuse or lose the conditions of writes (BACKEND 3.1).
 */

import { afterEach, describe, expect, test } from "bun:test";
import { addressBytes } from "../../src/encoding/address.ts";
import { manifestPath } from "../../src/store/paths.ts";
import { checkS3Store } from "../../src/store/s3-check.ts";
import type { FaultServer } from "../support/fault-server.ts";
import type { Setting } from "../support/s3-setting.ts";
import {
  answer,
  before,
  bytes,
  codeOf,
  committed,
  expected,
  next,
  path,
  setRef,
  start,
  stopFaultServers,
} from "../support/s3-setting.ts";

afterEach(stopFaultServers);

describe("a store and its conditions", () => {
  async function startProbing(): Promise<Setting> {
    const setting = await start({ unsafeSkipProbe: false });
    setRef(setting.server, expected);
    setting.server.objects.set(manifestPath(next), bytes);
    return setting;
  }

  test("are probed once, with the Manifest that is published; nothing is written or deleted", async () => {
    const { server, connector } = await startProbing();
    expect(await connector.compareAndSetRef("trunk", expected, next)).toEqual(committed);
    expect(server.written.map(({ key }) => key)).toEqual(["refs/trunk"]);
    expect(server.count("PUT", "manifests/")).toBe(2);
    await connector.createRef("branch", next);
    expect(server.count("PUT", "manifests/")).toBe(2);
    expect(server.count("DELETE")).toBe(0);
  });

  test("are probed with an object that the run has written, while it writes others", async () => {
    const { server, connector } = await startProbing();
    expect(await connector.putIfAbsent(path, bytes)).toBe("written");
    expect(await connector.compareAndSetRef("trunk", expected, next)).toEqual(committed);
    expect(server.written.map(({ key }) => key)).toEqual([path, "refs/trunk"]);
    expect(server.count("PUT", path)).toBe(3);
    expect(server.count("PUT", manifestPath(next))).toBe(0);
    expect(server.count("DELETE")).toBe(0);
  });

  test("that are ignored while objects are written end the run before a ref is written", async () => {
    const { server, connector } = await startProbing();
    server.switches.ignoreConditions = true;
    await connector.putIfAbsent(path, bytes);
    expect(await codeOf(connector.compareAndSetRef("trunk", expected, next))).toBe(
      "conditions-ignored",
    );
    expect(server.count("PUT", "refs/")).toBe(0);
    expect(server.objects.get(path)).toEqual(bytes);
  });

  test("are probed again when a probe failed for another reason", async () => {
    const { server, connector } = await startProbing();
    server.fail({ method: "PUT", times: 6, faults: [answer(500, "InternalError")] });
    expect(await codeOf(connector.compareAndSetRef("trunk", expected, next))).toBe("store-failure");
    expect(await connector.compareAndSetRef("trunk", expected, next)).toEqual(committed);
  });

  test("are probed with a scratch object where there is none", async () => {
    const { server, connector } = await startProbing();
    server.objects.delete(manifestPath(next));
    expect(await connector.createRef("branch", next)).toBe("created");
    expect([...server.objects.keys()].sort()).toEqual(["refs/branch", "refs/trunk"]);
  });

  for (const [name, withManifest] of [["with", true], ["without", false]] as const) {
    test(`that are ignored end the run before a ref is written, ${name} a Manifest`, async () => {
      const { server, connector } = await startProbing();
      if (!withManifest) server.objects.delete(manifestPath(next));
      server.switches.ignoreConditions = true;
      for (
        const call of [
          () => connector.compareAndSetRef("trunk", expected, next),
          () => connector.createRef("branch", next),
        ]
      ) {
        expect(await codeOf(call())).toBe("conditions-ignored");
      }
      expect(server.count("PUT", "refs/")).toBe(0);
      if (withManifest) expect(server.count("DELETE")).toBe(0);
    });
  }

  test("that are refused (501) end the run before a ref is written", async () => {
    const { server, connector } = await startProbing();
    server.fail({ method: "PUT", times: 9, faults: [answer(501, "NotImplemented")] });
    expect(await codeOf(connector.compareAndSetRef("trunk", expected, next))).toBe(
      "conditions-ignored",
    );
    expect(server.count("PUT", "refs/")).toBe(0);
  });

  test("without ETags cannot be published to", async () => {
    const { server, connector } = await start();
    setRef(server, expected);
    server.switches.withoutTags = true;
    expect(await codeOf(connector.compareAndSetRef("trunk", expected, next))).toBe(
      "conditions-ignored",
    );
    expect(server.count("PUT")).toBe(0);
  });

  for (
    const [name, tag] of [["weak", (etag: string) => `W/${etag}`], [
      "unquoted",
      (etag: string) => etag.replaceAll('"', ""),
    ]] as const
  ) {
    test(`take ${name} ETags`, async () => {
      const { server, connector } = await start();
      setRef(server, expected);
      const body = addressBytes(expected);
      const etag = `"${new Bun.CryptoHasher("md5").update(body).digest("hex")}"`;
      server.fail({
        method: "GET",
        faults: [{ kind: "answer", ...before, status: 200, body, headers: { etag: tag(etag) } }],
      });
      expect(await connector.compareAndSetRef("trunk", expected, next)).toEqual(committed);
      expect(server.requests.find((request) => request.method === "PUT")?.headers["if-match"]).toBe(
        etag,
      );
    });
  }
});

describe("checking a store", () => {
  test("finds nothing wrong with one that is right, and leaves nothing behind", async () => {
    const { server, connector } = await start();
    const check = await checkS3Store(connector.http);
    expect(check.findings.map(({ result }) => result)).toEqual(Array(8).fill("ok"));
    expect(check.publishable).toBe(true);
    expect([...server.objects.keys()]).toEqual([]);
  });

  const rows: readonly (readonly [string, (server: FaultServer) => void, string])[] = [
    [
      "ignored conditions",
      ({ switches }) => switches.ignoreConditions = true,
      "If-None-Match",
    ],
    [
      "conditions that are not atomic",
      ({ switches }) => switches.racyConditions = true,
      "race of 32 writers",
    ],
    ["missing ETags", ({ switches }) => switches.withoutTags = true, "ETag"],
    [
      "a read-only key",
      (server) => server.fail({ method: "PUT", times: 9, faults: [answer(403, "AccessDenied")] }),
      "write",
    ],
  ];
  for (const [name, spoil, finding] of rows) {
    test(`finds ${name}`, async () => {
      const { server, connector } = await start();
      spoil(server);
      const check = await checkS3Store(connector.http);
      expect(check.publishable).toBe(false);
      expect(check.findings.filter(({ result }) => result === "failed").map(({ name }) => name))
        .toContain(finding);
      expect([...server.objects.keys()]).toEqual([]);
    });
  }

  test("takes a missing right to list for a note", async () => {
    const { server, connector } = await start();
    server.fail({ method: "GET", faults: [answer(403, "AccessDenied")] });
    const check = await checkS3Store(connector.http);
    expect(check.publishable).toBe(true);
    expect(check.findings[0]).toMatchObject({ name: "list refs", result: "note" });
  });
});
