import { describe, expect, test } from "bun:test";
import { isDreamDBError } from "../../src/errors.ts";
import type { S3Addressing } from "../../src/store/s3-location.ts";
import { baseUrl, encodeKey, parseS3Url } from "../../src/store/s3-location.ts";

interface Row {
  readonly url: string;
  readonly addressing?: S3Addressing;
  readonly region?: string;
  /** The URL of the object `refs/trunk`. */
  readonly object: string;
  readonly canonical: string;
}

const local = { endpoint: "http://127.0.0.1:9000" };
const rows: readonly Row[] = [
  ...["http://h:9000/ds", "http://h:9000/ds/", "http://h:9000//ds//", "HTTP://H:9000/ds"].map(
    (url) => ({ url, object: "http://h:9000/ds/refs/trunk", canonical: "http://h:9000/ds" }),
  ),
  ...["https://h/ds/a/b", "https://h/ds/a/b/", "https://h:443//ds//a//b//"].map((url) => ({
    url,
    object: "https://h/ds/a/b/refs/trunk",
    canonical: "https://h/ds/a/b",
  })),
  {
    url: "http://h/ds/a%20b%3D",
    object: "http://h/ds/a%20b%3D/refs/trunk",
    canonical: "http://h/ds/a b=",
  },
  {
    url: "https://ds.s3.eu-central-1.amazonaws.com",
    object: "https://ds.s3.eu-central-1.amazonaws.com/refs/trunk",
    canonical: "https://ds.s3.eu-central-1.amazonaws.com",
  },
  {
    url: "https://ds.s3.eu-central-1.amazonaws.com/p/",
    object: "https://ds.s3.eu-central-1.amazonaws.com/p/refs/trunk",
    canonical: "https://ds.s3.eu-central-1.amazonaws.com/p",
  },
  {
    url: "https://s3.eu-central-1.amazonaws.com/ds/p",
    object: "https://s3.eu-central-1.amazonaws.com/ds/p/refs/trunk",
    canonical: "https://s3.eu-central-1.amazonaws.com/ds/p",
  },
  {
    url: "https://ds.store.example",
    object: "https://ds.store.example/refs/trunk",
    canonical: "https://ds.store.example",
  },
  ...["s3://ds", "s3://ds/", "s3://ds//"].map((url) => ({
    url,
    object: "https://ds.s3.us-east-1.amazonaws.com/refs/trunk",
    canonical: "s3://ds",
  })),
  {
    url: "s3://ds/a/b/",
    region: "eu-west-3",
    object: "https://ds.s3.eu-west-3.amazonaws.com/a/b/refs/trunk",
    canonical: "s3://ds/a/b",
  },
  {
    url: "s3://ds",
    region: "cn-north-1",
    object: "https://ds.s3.cn-north-1.amazonaws.com.cn/refs/trunk",
    canonical: "s3://ds",
  },
  {
    url: "s3://my.bucket",
    object: "https://s3.us-east-1.amazonaws.com/my.bucket/refs/trunk",
    canonical: "s3://my.bucket",
  },
  {
    url: "s3://ds",
    addressing: { style: "path" },
    object: "https://s3.us-east-1.amazonaws.com/ds/refs/trunk",
    canonical: "s3://ds",
  },
  {
    url: "s3://ds/p",
    addressing: local,
    object: "http://127.0.0.1:9000/ds/p/refs/trunk",
    canonical: "s3://ds/p",
  },
  {
    url: "s3://ds/p",
    addressing: { ...local, style: "virtual" },
    object: "http://ds.127.0.0.1:9000/p/refs/trunk",
    canonical: "s3://ds/p",
  },
  {
    url: "s3://ds/p",
    addressing: { endpoint: "https://gateway.example/s3/" },
    object: "https://gateway.example/s3/ds/p/refs/trunk",
    canonical: "s3://ds/p",
  },
];

describe("backend URLs of object stores", () => {
  for (const { url, addressing, region = "us-east-1", object, canonical } of rows) {
    test(`${url} ${JSON.stringify(addressing ?? {})} is ${canonical}`, () => {
      const location = parseS3Url(url, addressing);
      expect(location.url).toBe(canonical);
      expect(`${baseUrl(location, region)}/${encodeKey(`${location.prefix}refs/trunk`)}`).toBe(
        object,
      );
    });
  }

  test("the host tells the region", () => {
    expect(parseS3Url("https://s3.eu-central-1.amazonaws.com/ds").region).toBe("eu-central-1");
    expect(parseS3Url("https://ds.s3-eu-west-1.amazonaws.com").region).toBe("eu-west-1");
    expect(parseS3Url("https://ds.s3.amazonaws.com").region).toBeUndefined();
    expect(parseS3Url("https://h/ds").region).toBeUndefined();
  });

  const refused: readonly (readonly [string, S3Addressing?])[] = [
    ["s3://"],
    ["s3:///prefix"],
    ["s3:bucket"],
    ["s3://bu cket"],
    ["s3://-x"],
    ["s3://ds/a/../b"],
    ["s3://ds/./b"],
    ["s3://ds/a\nb"],
    ["http://"],
    ["http:///ds"],
    ["http://localhost:9000"],
    ["http://127.0.0.1:9000/"],
    ["http://[::1]:9000/"],
    ["http://h.example/ds/../x"],
    ["http://h/ds?x=1"],
    ["http://h/ds#x"],
    ["http://h/%zz"],
    ["http://h/ds/%2e%2e"],
    ["s3://ds", { endpoint: "127.0.0.1:9000" }],
    ["s3://ds", { endpoint: "ftp://h" }],
  ];
  for (const [url, addressing] of refused) {
    test(`${JSON.stringify(url)} ${JSON.stringify(addressing ?? {})} is refused`, () => {
      expect(thrownBy(() => parseS3Url(url, addressing))).toMatchObject({
        fault: { code: "usage" },
      });
    });
  }

  test("a password in a URL is refused and not repeated", () => {
    for (const url of ["http://user:hunter2@h/ds", "https://:hunter2@h/ds"]) {
      const error = thrownBy(() => parseS3Url(url));
      expect(isDreamDBError(error, "usage")).toBe(true);
      expect(String(error)).not.toContain("hunter2");
    }
  });
});

function thrownBy(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    return error;
  }
}
