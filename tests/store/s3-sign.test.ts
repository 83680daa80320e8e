import { describe, expect, test } from "bun:test";
import {
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { encodeComponent, encodeKey } from "../../src/store/s3-location.ts";
import { Signer } from "../../src/store/s3-sign.ts";

// The examples of "Authenticating requests: using the Authorization header" in AWS's S3 manual.
const example = {
  accessKeyId: "AKIAIOSFODNN7EXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
};
const HOST = "https://examplebucket.s3.amazonaws.com";
const examples: readonly {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signature: string;
}[] = [
  {
    name: "GET an object",
    method: "GET",
    path: "/test.txt",
    headers: { range: "bytes=0-9" },
    signature: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
  },
  {
    name: "PUT an object",
    method: "PUT",
    path: "/test%24file.text",
    headers: {
      "date": "Fri, 24 May 2013 00:00:00 GMT",
      "x-amz-storage-class": "REDUCED_REDUNDANCY",
    },
    body: "Welcome to Amazon S3.",
    signature: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
  },
  {
    name: "GET a parameter without value",
    method: "GET",
    path: "/?lifecycle=",
    headers: {},
    signature: "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
  },
  {
    name: "LIST",
    method: "GET",
    path: "/?max-keys=2&prefix=J",
    headers: {},
    signature: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
  },
];

function signatureOf(headers: Readonly<Record<string, string>>): string | undefined {
  return /Signature=([0-9a-f]{64})$/.exec(headers["authorization"] ?? "")?.[1];
}

describe("the signer agrees with AWS's examples", () => {
  for (const { name, method, path, headers, body, signature } of examples) {
    test(name, () => {
      const signed = new Signer().sign(
        {
          method,
          url: `${HOST}${path}`,
          headers,
          body: body === undefined ? undefined : new TextEncoder().encode(body),
        },
        example,
        "us-east-1",
        new Date("2013-05-24T00:00:00Z"),
      );
      expect(signatureOf(signed)).toBe(signature);
    });
  }
});

/** A request as the SDK would send it. */
interface SdkRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
}

type SdkCommand = PutObjectCommand | GetObjectCommand | ListObjectsV2Command;

/** What the SDK sends for a command, signed with `credentials`. */
async function sdkRequest(
  command: SdkCommand,
  credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string },
): Promise<SdkRequest> {
  let sent: SdkRequest | undefined;
  const client = new S3Client({
    region: "eu-central-1",
    endpoint: "http://127.0.0.1:9000",
    forcePathStyle: true,
    credentials,
    requestChecksumCalculation: "WHEN_REQUIRED",
    maxAttempts: 1,
    requestHandler: {
      handle(request: SdkRequest) {
        sent = request;
        return Promise.reject(new Error("not sent"));
      },
    },
  });
  await client.send(command as GetObjectCommand).catch(() => {});
  client.destroy();
  if (sent === undefined) throw new Error("the SDK sent nothing");
  return sent;
}

const printable = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index));
const commands: readonly (readonly [string, string, SdkCommand])[] = [
  ...[
    ...printable.filter((character) => character !== "/").map((character) => `a${character}b`),
    printable.join(""),
    "scalar.cat.field=label/bucket/d2",
    "refs/team/w@1",
    "ü/日本/🙂",
  ].map((key) =>
    [
      `PUT ${key}`,
      `/ds/${encodeKey(key)}`,
      new PutObjectCommand({ Bucket: "ds", Key: key, Body: "body", IfNoneMatch: "*" }),
    ] as const
  ),
  [
    "GET",
    "/ds/genesis/x",
    new GetObjectCommand({ Bucket: "ds", Key: "genesis/x" }),
  ],
  ...printable.map((character) =>
    [
      `LIST ${character}`,
      "/ds",
      new ListObjectsV2Command({
        Bucket: "ds",
        Prefix: `refs/${character}`,
        ContinuationToken: "a=+",
      }),
    ] as const
  ),
];

describe("the signer agrees with the SDK", () => {
  const credentials = { ...example, sessionToken: "token/+=" };
  for (const [name, path, command] of commands) {
    test(name, async () => {
      const sent = await sdkRequest(command, credentials);
      expect(sent.path.replace(/\/$/, "")).toBe(path);
      const names = /SignedHeaders=([^,]*)/.exec(sent.headers["authorization"] ?? "")?.[1]
        ?.split(";") ?? [];
      const own = ["host", "x-amz-content-sha256", "x-amz-date", "x-amz-security-token"];
      const headers = Object.fromEntries(
        names.filter((header) => !own.includes(header)).map((header) => [
          header,
          sent.headers[header] ?? "",
        ]),
      );
      const query = Object.entries(sent.query)
        .map(([key, value]) => `${encodeComponent(key)}=${encodeComponent(value)}`).join("&");
      const time = (sent.headers["x-amz-date"] ?? "").replace(
        /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/,
        "$1-$2-$3T$4:$5:$6Z",
      );
      const ours = new Signer().sign(
        {
          method: sent.method,
          url: `http://127.0.0.1:9000${sent.path}?${query}`,
          headers,
          body: sent.method === "PUT" ? new TextEncoder().encode("body") : undefined,
        },
        credentials,
        "eu-central-1",
        new Date(time),
      );
      expect(signatureOf(ours)).toBe(signatureOf(sent.headers));
    });
  }
});

describe("the key of the day", () => {
  test("changes with the day, the region and the secret", () => {
    const signer = new Signer();
    const sign = (day: string, region: string, secretAccessKey: string) =>
      signatureOf(
        signer.sign(
          { method: "GET", url: `${HOST}/x`, headers: {} },
          { ...example, secretAccessKey },
          region,
          new Date(`2026-01-0${day}T00:00:00Z`),
        ),
      );
    const all = [
      sign("1", "us-east-1", "a"),
      sign("2", "us-east-1", "a"),
      sign("2", "eu-west-1", "a"),
      sign("2", "eu-west-1", "b"),
    ];
    expect(new Set(all).size).toBe(4);
    expect(sign("1", "us-east-1", "a")).toBe(all[0]);
  });
});
