/**
 * The conformance suite over real S3 servers: gofakes3 (no signatures) and versitygw (signatures
 * and payload hashes are checked).
 */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { addressOf } from "../../src/encoding/address.ts";
import { isDreamDBError } from "../../src/errors.ts";
import { mapConcurrent } from "../../src/store/limit.ts";
import { openConnector } from "../../src/store/open.ts";
import { manifestPath } from "../../src/store/paths.ts";
import { S3Connector } from "../../src/store/s3.ts";
import { checkS3Store } from "../../src/store/s3-check.ts";
import { listKeys } from "../../src/store/s3-list.ts";
import { demoObjects, merge } from "../support/s3-merging.ts";
import type { S3Server } from "../support/s3-servers.ts";
import { isInstalled, startS3Server } from "../support/s3-servers.ts";
import { sampleAddress, storeConformance } from "./conformance.ts";

for (const name of ["gofakes3", "versitygw"] as const) {
  if (!isInstalled(name)) {
    test.skip(`${name} is missing: run scripts/install-s3-servers.sh`, () => {});
    continue;
  }
  describe(name, () => {
    let server: S3Server;
    let stores = 0;
    beforeAll(async () => {
      server = await startS3Server(name);
    });
    afterAll(() => server.stop());

    const url = (prefix: string) => `${server.endpoint}/${server.bucket}/${prefix}`;

    storeConformance(`${name}: store below a prefix`, () => {
      const prefix = `store-${stores++}`;
      const { environment } = server;
      const connect = () => new S3Connector(url(prefix), { environment });
      const { http } = connect();
      return {
        connect,
        paths: async () =>
          (await listKeys(http, `${prefix}/`, undefined)).map((key) =>
            key.slice(prefix.length + 1)
          ),
        async putForeign(path, body) {
          const response = await http.retrying({
            method: "PUT",
            key: `${prefix}/${path}`,
            body,
            action: "put",
          });
          expect(response.status).toBe(200);
        },
        dispose: () => {},
      };
    }, { nestedRefs: name !== "versitygw", seesOtherBytes: false });

    test("both forms of the backend name the same objects", async () => {
      const options = { environment: { ...server.environment, AWS_ENDPOINT_URL: server.endpoint } };
      const byHost = await openConnector(url("forms"), options);
      const bytes = new TextEncoder().encode("object");
      const path = manifestPath(addressOf(bytes));
      await byHost.putIfAbsent(path, bytes);
      for (
        const form of [
          `s3://${server.bucket}/forms`,
          `s3://${server.bucket}/forms/`,
          `s3://${server.bucket}//forms//`,
          `${url("forms")}/`,
          `${server.endpoint}//${server.bucket}//forms/`,
        ]
      ) {
        const connector = await openConnector(form, options);
        expect(await connector.get(path)).toEqual(bytes);
        expect(await connector.putIfAbsent(path, bytes)).toBe("present");
      }
    });

    test("a bucket that does not exist is told from an object that does not", async () => {
      const { environment } = server;
      const missing = new S3Connector(`${server.endpoint}/no-such-bucket`, { environment });
      const address = sampleAddress("1");
      for (
        const call of [
          () => missing.readRef("trunk"),
          () => missing.get(manifestPath(address)),
          () => missing.putIfAbsent(manifestPath(address), new Uint8Array(1)),
          () => missing.listRefs(),
          () => missing.createRef("trunk", address),
        ]
      ) {
        const outcome = await call().catch((error) => error);
        expect(isDreamDBError(outcome, "store-missing")).toBe(true);
      }
    });

    test("takes a large object in parts, once", async () => {
      const { environment } = server;
      const options = { environment, partBytes: 5 * 1024 * 1024 };
      const connector = new S3Connector(url("parts"), options);
      const bytes = new Uint8Array(11 * 1024 * 1024).map((_, index) => index * 7 + (index >> 10));
      const path = manifestPath(addressOf(bytes));
      expect(await connector.putIfAbsent(path, bytes)).toBe("written");
      const read = await connector.get(path);
      expect(Buffer.compare(read ?? new Uint8Array(), bytes)).toBe(0);
      // gofakes3 does not look at the condition of a completed upload; the bytes are the same.
      expect(await connector.putIfAbsent(path, bytes)).toBe(
        name === "gofakes3" ? "written" : "present",
      );
    });

    test("passes the check, which leaves nothing behind", async () => {
      const { environment } = server;
      const connector = new S3Connector(url("check"), { environment });
      const check = await checkS3Store(connector.http, { rounds: 3 });
      expect(check.findings.filter((finding) => finding.result === "failed")).toEqual([]);
      expect(check.publishable).toBe(true);
      expect(await listKeys(connector.http, "check/", undefined)).toEqual([]);
    });
  });
}

describe.if(isInstalled("versitygw"))("signatures on versitygw", () => {
  let server: S3Server;
  beforeAll(async () => {
    server = await startS3Server("versitygw");
  });
  afterAll(() => server.stop());

  // Refs and tags use a part of these only; the rest is for prefixes.
  test("are right for every printable character of a key", async () => {
    const { endpoint, bucket, environment } = server;
    const printable = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index))
      .filter((character) => character !== "/").join("");
    const { http } = new S3Connector(`${endpoint}/${bucket}`, { environment });
    const body = new TextEncoder().encode("x");
    for (const key of [`a${printable}z`, "scalar.cat.field=label/x", "refs/a@b", "ü/日本"]) {
      const put = await http.retrying({ method: "PUT", key, body, action: "put" });
      expect([key, put.status]).toEqual([key, 200]);
      const get = await http.retrying({ method: "GET", key, action: "get" });
      expect([key, get.status, get.body]).toEqual([key, 200, body]);
    }
  });

  test("wrong secret, unknown key and none at all are matters of permission", async () => {
    const { endpoint, bucket, environment } = server;
    for (
      const changed of [
        { AWS_SECRET_ACCESS_KEY: "wrong" },
        { AWS_ACCESS_KEY_ID: "NOBODY" },
        { AWS_ACCESS_KEY_ID: "", AWS_SECRET_ACCESS_KEY: "" },
      ]
    ) {
      const connector = new S3Connector(`${endpoint}/${bucket}`, {
        environment: { ...environment, ...changed },
      });
      const outcome = await connector.readRef("trunk").catch((error) => error);
      expect(isDreamDBError(outcome, "permission-denied")).toBe(true);
      expect(String(outcome)).not.toContain(environment["AWS_SECRET_ACCESS_KEY"] ?? "?");
      expect(String(outcome)).not.toContain("wrong");
    }
  });
});

if (!isInstalled("s3rver")) {
  test.skip("s3rver is missing: run scripts/install-s3-servers.sh", () => {});
} else {
  describe("s3rver, which ignores conditions", () => {
    let server: S3Server;
    let url: string;
    beforeAll(async () => {
      server = await startS3Server("s3rver");
      url = `${server.endpoint}/${server.bucket}`;
    }, 60_000);
    afterAll(() => server.stop());

    test("does not pass the check", async () => {
      const { environment } = server;
      const check = await checkS3Store(new S3Connector(url, { environment }).http, {
        writers: 8,
        rounds: 1,
      });
      expect(check.publishable).toBe(false);
      expect(check.findings.filter(({ result }) => result === "failed").map(({ name }) => name))
        .toEqual(["If-None-Match", "If-Match, wrong", "If-Match, missing"]);
    }, 60_000);

    test("is not merged into", async () => {
      const { environment } = server;
      const connector = new S3Connector(url, { environment });
      const put = ([key, body]: readonly [string, Uint8Array]) =>
        connector.http.retrying({ method: "PUT", key, body, action: "put" });
      await mapConcurrent(demoObjects, 16, put);
      const before = await connector.readRef("trunk");
      const error = await merge(connector, "w0", "w1").catch((thrown: unknown) => thrown);
      expect(isDreamDBError(error, "conditions-ignored")).toBe(true);
      expect(await connector.readRef("trunk")).toBe(before);
    }, 120_000);
  });
}
