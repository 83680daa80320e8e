/**
 * Listing the refs of a bucket (ANCHORS D.3-6).
 */

import { afterEach, describe, expect, test } from "bun:test";
import { addressBytes } from "../../src/encoding/address.ts";
import {
  answer,
  before,
  bytes,
  codeOf,
  cutAfter,
  other,
  start,
  stopFaultServers,
} from "../support/s3-setting.ts";

afterEach(stopFaultServers);

describe("listing refs", () => {
  test("goes through all pages", async () => {
    const { server, connector } = await start();
    server.switches.pageSize = 2;
    const names = Array.from({ length: 7 }, (_, index) => `w-${index}`);
    for (const name of names) server.objects.set(`refs/${name}`, addressBytes(other));
    server.objects.set("manifests/x", bytes);
    expect(await connector.listRefs()).toEqual(names);
    expect(await connector.listRefs("w-3")).toEqual(["w-3"]);
    expect(server.count("GET")).toBe(5);
  });

  test("goes through 1,001 refs", async () => {
    const { server, connector } = await start();
    const names = Array.from({ length: 1001 }, (_, index) => `w-${index}`).sort();
    for (const name of names) server.objects.set(`refs/${name}`, addressBytes(other));
    expect(await connector.listRefs()).toEqual(names);
    expect(server.count("GET")).toBe(2);
  });

  test("names each ref once when a page comes twice", async () => {
    const { server, connector } = await start();
    const page = (token: string) =>
      `<ListBucketResult><IsTruncated>${token !== ""}</IsTruncated><Contents><Key>refs/a</Key>` +
      `</Contents><NextContinuationToken>${token}</NextContinuationToken></ListBucketResult>`;
    for (const [skip, token] of ["1", "2", ""].entries()) {
      server.fail({
        method: "GET",
        skip,
        faults: [{ kind: "answer", ...before, status: 200, body: page(token) }],
      });
    }
    expect(await connector.listRefs()).toEqual(["a"]);
  });

  test("survives failures that pass", async () => {
    const { server, connector } = await start();
    server.objects.set("refs/a", addressBytes(other));
    server.fail({ method: "GET", faults: [answer(503, "SlowDown")] });
    server.fail({ method: "GET", skip: 1, faults: [cutAfter] });
    expect(await connector.listRefs()).toEqual(["a"]);
  });

  const cut = "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>";
  const loop = "<ListBucketResult><IsTruncated>true</IsTruncated>" +
    "<NextContinuationToken>x</NextContinuationToken></ListBucketResult>";
  const pages: readonly (readonly [string, string])[] = [
    ["a web page", "<!doctype html><html><body>Welcome</body></html>"],
    ["nothing", ""],
    ["JSON", "{}"],
    ["a list without IsTruncated", "<ListBucketResult></ListBucketResult>"],
    ["half a list", "<ListBucketResult><IsTruncated>false</IsTruncated><Contents>"],
    ["a cut list without its continuation", cut],
    ["a list without end", loop],
    [
      "a list of buckets",
      "<ListAllMyBucketsResult><IsTruncated>false</IsTruncated></ListAllMyBucketsResult>",
    ],
  ];
  for (const [name, body] of pages) {
    test(`takes ${name} for an error, not for an empty list`, async () => {
      const { server, connector } = await start();
      server.fail({
        method: "GET",
        times: 9,
        faults: [{ kind: "answer", ...before, status: 200, body }],
      });
      expect(await codeOf(connector.listRefs())).toBe("store-failure");
    });
  }
});
