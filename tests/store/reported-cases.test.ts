/**
 * Failures that users of DreamDB and of other stores have reported, each as the test it became
 * (BUGS). The tables of the other tests go further; these are here to be found by their number.
 */

import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Address } from "../../src/encoding/address.ts";
import { addressFromBytes } from "../../src/encoding/address.ts";
import { DreamDBError, isDreamDBError } from "../../src/errors.ts";
import { exitCodeOf } from "../../src/cli/exit-codes.ts";
import { checkStore } from "../../src/store/check.ts";
import { openConnector } from "../../src/store/open.ts";
import { baseUrl, encodeComponent, encodeKey, parseS3Url } from "../../src/store/s3-location.ts";
import { S3Connector } from "../../src/store/s3.ts";
import type { FaultRule, FaultServer, ServerFault } from "../support/fault-server.ts";
import { historyOf, merge, startMerging, TRUNK, trunkOf } from "../support/s3-merging.ts";
import { answer, cutAfter, stopFaultServers } from "../support/s3-setting.ts";
import { findDefects } from "../support/store-reader.ts";

// Whole merges, on machines that have other work too.
setDefaultTimeout(60_000);
afterEach(stopFaultServers);

const forever = Number.POSITIVE_INFINITY;

function onTrunk(faults: readonly ServerFault[], times = 1): FaultRule {
  return { method: "PUT", key: TRUNK, times, faults };
}

/** The fault that a merge ends with, and its exit code. */
async function failureOf(
  run: Promise<unknown>,
): Promise<{ readonly error: DreamDBError; readonly exit: number }> {
  const error = await run.then(() => undefined, (thrown: unknown) => thrown);
  if (!isDreamDBError(error)) throw new Error(`no fault, but ${error}`);
  return { error, exit: exitCodeOf(error.fault) };
}

function publishedBy(server: FaultServer): readonly Address[] {
  return server.written.filter(({ key }) => key === TRUNK)
    .map(({ body }) => addressFromBytes(body));
}

describe("B01: a lost race that is answered with 409", () => {
  test("ConditionalRequestConflict while another writer wins: planned again, and merged", async () => {
    const { server, connector } = await startMerging();
    const other = new S3Connector(connector.url, { environment: {} });
    server.fail(onTrunk([
      { kind: "hold", when: "before", until: () => merge(other, "w2") },
      answer(409, "ConditionalRequestConflict"),
    ]));
    expect(await merge(connector, "w0", "w1")).toMatchObject({ status: "merged", attempts: 2 });
    const history = await historyOf(connector, trunkOf(server));
    for (const manifest of publishedBy(server)) expect(history.has(manifest)).toBe(true);
  });

  test("ConditionalRequestConflict of an object: sent again, and merged", async () => {
    const { server, connector } = await startMerging();
    server.fail({
      method: "PUT",
      key: "manifests/",
      faults: [answer(409, "ConditionalRequestConflict")],
    });
    expect(await merge(connector, "w0", "w1")).toMatchObject({ status: "merged", attempts: 1 });
  });

  test("OperationAborted of an object is a failure of the store, not a lost race", async () => {
    const { server, connector } = await startMerging();
    const before = trunkOf(server);
    server.fail({ method: "PUT", times: forever, faults: [answer(409, "OperationAborted")] });
    expect((await failureOf(merge(connector, "w0", "w1"))).exit).toBe(7);
    expect(trunkOf(server)).toBe(before);
  });
});

describe("B05: 500 to the write of an object", () => {
  test("once, whichever object it is: sent again, and merged", async () => {
    const counted = await startMerging();
    await merge(counted.connector, "w0", "w1");
    const puts = counted.server.count("PUT") - counted.server.count("PUT", TRUNK);
    expect(puts).toBeGreaterThan(5);
    for (let skip = 0; skip < puts; skip += Math.max(1, Math.floor(puts / 6))) {
      const { server, connector } = await startMerging();
      server.fail({ method: "PUT", skip, faults: [answer(500, "InternalError")] });
      expect(await merge(connector, "w0", "w1")).toMatchObject({ status: "merged", attempts: 1 });
    }
  });

  test("for ever: a failure of the store, and nothing published", async () => {
    const { server, connector, pauses } = await startMerging();
    const before = trunkOf(server);
    server.fail({ method: "PUT", times: forever, faults: [answer(500, "InternalError")] });
    const { error, exit } = await failureOf(merge(connector, "w0", "w1"));
    expect(exit).toBe(7);
    expect(String(error)).toContain("othing was published");
    expect(pauses.length).toBeGreaterThan(0);
    expect(trunkOf(server)).toBe(before);
  });
});

describe("B10: the answer to the write of the ref is lost", () => {
  test("applied: found by reading again, and merged once", async () => {
    const { server, connector } = await startMerging();
    server.fail(onTrunk([cutAfter]));
    const report = await merge(connector, "w0", "w1");
    expect(report).toMatchObject({ status: "merged", resolvedByReading: true });
    expect(publishedBy(server)).toEqual([report.manifest ?? trunkOf(server)]);
  });

  test("and the ref cannot be read: unknown, with the Manifest and what to do", async () => {
    const { server, connector } = await startMerging();
    server.fail(onTrunk([cutAfter]));
    server.fail({
      method: "GET",
      key: TRUNK,
      skip: 1,
      times: forever,
      faults: [answer(500, "InternalError")],
    });
    const { error, exit } = await failureOf(merge(connector, "w0", "w1"));
    expect(exit).toBe(8);
    const [manifest] = publishedBy(server);
    expect(error.fault).toMatchObject({ manifest });
    expect(String(error)).toContain(manifest ?? "no Manifest");
    expect(String(error)).toContain("Run the same command again");
  });
});

describe("B12: nothing is deleted after a failure, and what the ref names is complete", () => {
  const failures: readonly (readonly [string, FaultRule])[] = [
    ["a lost answer", onTrunk([cutAfter])],
    ["500 after the ref moved", onTrunk([answer(500, "InternalError", "after")])],
    ["412 after the ref moved", onTrunk([answer(412, "PreconditionFailed", "after")])],
    ["412 for ever", onTrunk([answer(412, "PreconditionFailed")], forever)],
    ["500 for ever", onTrunk([answer(500, "InternalError")], forever)],
    ["lost answers for ever", onTrunk([cutAfter], forever)],
  ];
  for (const [name, rule] of failures) {
    test(name, async () => {
      const { server, connector } = await startMerging();
      server.fail(rule);
      await merge(connector, "w0", "w1").catch(() => {});
      expect(server.count("DELETE")).toBe(0);
      expect(await findDefects(connector, trunkOf(server))).toEqual([]);
    });
  }
});

test("B13: an unknown outcome, then somebody on top of ours: a second run adds nothing", async () => {
  const { server, connector } = await startMerging();
  let readable = false;
  server.fail(onTrunk([cutAfter]));
  server.fail({
    method: "GET",
    key: TRUNK,
    skip: 1,
    times: forever,
    faults: [answer(500, "InternalError")],
    isOver: () => readable,
  });
  expect((await failureOf(merge(connector, "w0", "w1"))).exit).toBe(8);
  const [ours] = publishedBy(server);
  readable = true;
  await merge(new S3Connector(connector.url, { environment: {} }), "w2");
  const tip = trunkOf(server);
  expect((await historyOf(connector, tip)).has(ours ?? tip)).toBe(true);
  expect(tip).not.toBe(ours ?? tip);
  expect(await merge(connector, "w0", "w1")).toMatchObject({ status: "already-merged" });
  expect(trunkOf(server)).toBe(tip);
});

describe("B14: a failure that is not what it says", () => {
  test("500 although the ref moved: merged", async () => {
    const { server, connector } = await startMerging();
    server.fail(onTrunk([answer(500, "InternalError", "after")]));
    expect(await merge(connector, "w0", "w1")).toMatchObject({
      status: "merged",
      resolvedByReading: true,
    });
  });

  test("412 for ever, for want of a permission: ends, and says where to look", async () => {
    const { server, connector } = await startMerging();
    server.fail(onTrunk([answer(412, "PreconditionFailed")], forever));
    const { error, exit } = await failureOf(merge(connector, "w0", "w1"));
    expect(exit).toBe(5);
    expect(String(error)).toContain("missing permission");
    expect(server.count("PUT", TRUNK)).toBeLessThanOrEqual(25);
  });
});

describe("B16: the ref is gone when it is to be moved", () => {
  for (const status of [404, 412] as const) {
    test(`${status}: a lost race that says so; the ref is not made again`, async () => {
      const { server, connector } = await startMerging();
      server.fail(onTrunk([
        { kind: "meanwhile", when: "before", happens: () => server.objects.delete(TRUNK) },
        answer(status, status === 404 ? "NoSuchKey" : "PreconditionFailed"),
      ]));
      const { error, exit } = await failureOf(merge(connector, "w0", "w1"));
      expect(exit).toBe(5);
      expect(String(error)).toContain("trunk disappeared");
      expect(server.objects.has(TRUNK)).toBe(false);
    });
  }
});

describe("B17: a store that does not look at conditions", () => {
  test("is not merged into", async () => {
    const { server, connector } = await startMerging();
    server.switches.ignoreConditions = true;
    expect((await failureOf(merge(connector, "w0", "w1"))).exit).toBe(2);
    expect(publishedBy(server)).toEqual([]);
  });

  test("is found by the check of stores", async () => {
    const { server, connector } = await startMerging();
    server.switches.ignoreConditions = true;
    const check = await checkStore(connector.url, { environment: {}, writers: 8, rounds: 1 });
    expect(check.publishable).toBe(false);
  });

  test("the ref is read once more after it was moved", async () => {
    const { server, connector } = await startMerging();
    await merge(connector, "w0", "w1");
    const moved = server.requests.findIndex(({ method, key }) => method === "PUT" && key === TRUNK);
    const later = server.requests.slice(moved + 1);
    expect(later.some(({ method, key }) => method === "GET" && key === TRUNK)).toBe(true);
  });

  test("a ref that others have overwritten by then is not taken for merged", async () => {
    const { server, connector } = await startMerging();
    const before = server.objects.get(TRUNK) ?? new Uint8Array();
    server.fail(onTrunk([
      { kind: "meanwhile", when: "after", happens: () => server.objects.set(TRUNK, before) },
    ]));
    expect(await merge(connector, "w0", "w1")).toMatchObject({ status: "merged" });
    const history = await historyOf(connector, trunkOf(server));
    expect(history.has(publishedBy(server).at(-1) ?? trunkOf(server))).toBe(true);
  });
});

describe("B39: slashes at the end and in the middle of a backend", () => {
  const forms: readonly (readonly [string, readonly string[]])[] = [
    ["http://h.example/bucket", ["http://h.example/bucket/", "http://h.example//bucket//"]],
    ["http://h.example/bucket/p", ["http://h.example/bucket//p/", "http://h.example/bucket/p//"]],
    ["s3://bucket", ["s3://bucket/", "s3://bucket//"]],
    ["s3://bucket/p/q", ["s3://bucket//p//q/", "s3://bucket/p/q/"]],
    ["file:///d", ["file:///d/", "file:///d//"]],
  ];
  for (const [canonical, others] of forms) {
    for (const form of [canonical, ...others]) {
      test(`${form} is ${canonical}`, async () => {
        expect((await openConnector(form, { environment: {} })).url).toBe(canonical);
        if (form.startsWith("file:")) return;
        const key = (url: string) => {
          const location = parseS3Url(url);
          return `${baseUrl(location, "us-east-1")}/${encodeKey(`${location.prefix}refs/trunk`)}`;
        };
        expect(key(form)).toBe(key(canonical));
        expect(key(form).replace("://", "")).not.toContain("//");
      });
    }
  }

  test("file://localhost/d is refused rather than taken for another folder", async () => {
    const error = await openConnector("file://localhost/d").catch((thrown: unknown) => thrown);
    expect(isDreamDBError(error, "usage")).toBe(true);
  });
});

describe("B40: keys with characters that signatures trip over", () => {
  const unreserved = /[A-Za-z0-9\-._~]/;
  const characters = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index));

  test("every printable character is encoded as the signature wants it", () => {
    for (const character of characters) {
      const hexadecimal = character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0");
      expect(encodeComponent(character)).toBe(
        unreserved.test(character) ? character : `%${hexadecimal}`,
      );
    }
    expect(encodeComponent("é")).toBe("%C3%A9");
    expect(encodeKey("x/scalar.cat.field=label/trunk@v1")).toBe(
      "x/scalar.cat.field%3Dlabel/trunk%40v1",
    );
  });

  test("and arrives as it was meant", async () => {
    const { server, connector } = await startMerging();
    for (const character of characters.filter((one) => one !== "/")) {
      const key = `k/a${character}b=label@v1`;
      const { status } = await connector.http.retrying({
        method: "PUT",
        key,
        body: new Uint8Array(1),
        action: "put",
      });
      expect([key, status, server.objects.has(key)]).toEqual([key, 200, true]);
    }
  });
});
