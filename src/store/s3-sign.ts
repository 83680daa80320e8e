/**
 * AWS Signature Version 4 for S3, over `node:crypto`: a fraction of the time that the SDK takes for
 * each request (BACKEND 4), checked against the SDK in the tests.
 *
 * @module
 */

import { createHash, createHmac } from "node:crypto";

/** What a request is signed with. */
export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/** A request as it goes out. */
export interface SignableRequest {
  readonly method: string;
  /** Scheme and host are as in the request; path and query are percent-encoded already. */
  readonly url: string;
  /** Lower-case names; all of them are signed. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
}

const SHA256_OF_NOTHING = createHash("sha256").digest("hex");
const ENCODER = new TextEncoder();

interface DayKey {
  readonly secret: string;
  readonly scope: string;
  readonly key: Uint8Array;
}

/** Signs requests; keeps the key of the day. */
export class Signer {
  #dayKey: DayKey | undefined;

  /** The headers of the request with those of its signature, without `host`. */
  sign(
    request: SignableRequest,
    credentials: S3Credentials,
    region: string,
    now: Date,
  ): Record<string, string> {
    const time = now.toISOString().replace(/[-:]|\.\d+/g, "");
    const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`;
    const { host, path, query } = splitUrl(request.url);
    const payloadHash = hashOf(request.body);
    const headers: Record<string, string> = {
      ...request.headers,
      "x-amz-content-sha256": payloadHash,
      "x-amz-date": time,
    };
    if (credentials.sessionToken !== undefined) {
      headers["x-amz-security-token"] = credentials.sessionToken;
    }
    const signed: Record<string, string> = { ...headers, host };
    const names = Object.keys(signed).sort();
    const canonicalRequest = [
      request.method,
      path,
      sortedQuery(query),
      ...names.map((name) => `${name}:${signed[name]?.trim().replace(/ +/g, " ")}`),
      "",
      names.join(";"),
      payloadHash,
    ].join("\n");
    const signature = createHmac("sha256", this.#keyOf(credentials, scope))
      .update(`AWS4-HMAC-SHA256\n${time}\n${scope}\n${hashOf(ENCODER.encode(canonicalRequest))}`)
      .digest("hex");
    headers["authorization"] = `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/${scope}, ` +
      `SignedHeaders=${names.join(";")}, Signature=${signature}`;
    return headers;
  }

  #keyOf(credentials: S3Credentials, scope: string): Uint8Array {
    const secret = credentials.secretAccessKey;
    const kept = this.#dayKey;
    if (kept?.scope === scope && kept.secret === secret) return kept.key;
    let key: Uint8Array = ENCODER.encode(`AWS4${secret}`);
    for (const part of scope.split("/")) key = createHmac("sha256", key).update(part).digest();
    this.#dayKey = { secret, scope, key };
    return key;
  }
}

function hashOf(body: Uint8Array | undefined): string {
  return body === undefined || body.length === 0
    ? SHA256_OF_NOTHING
    : createHash("sha256").update(body).digest("hex");
}

/** The parameters by name, then by value: a name ends before any character that it could hold. */
function sortedQuery(query: string): string {
  return query.split("&").map((pair) => pair.replace("=", "\0")).sort().join("&")
    .replaceAll("\0", "=");
}

function splitUrl(url: string): { host: string; path: string; query: string } {
  const start = url.indexOf("//") + 2;
  const pathStart = url.indexOf("/", start);
  const queryStart = url.indexOf("?", pathStart);
  const end = queryStart === -1 ? url.length : queryStart;
  return {
    host: url.slice(start, pathStart).toLowerCase().replace(
      url.startsWith("https:") ? /:443$/ : /:80$/,
      "",
    ),
    path: url.slice(pathStart, end),
    query: url.slice(end + 1),
  };
}
