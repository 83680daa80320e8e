/**
 * What an answer of an object store says, and which fault it means for a run (BACKEND 2).
 *
 * @module
 */

import { DreamDBError } from "../errors.ts";

/** A complete answer. */
export interface S3Response {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/**
 * How one send ended. `lost`: no complete answer came, so the store may or may not have done what
 * was asked, unless `sent` is false: then the request never left.
 */
export type Exchange =
  | { readonly kind: "answer"; readonly response: S3Response }
  | { readonly kind: "lost"; readonly sent: boolean; readonly cause: unknown };

/** Who asked for what; for messages. */
export interface RequestContext {
  /** As in "read an object". */
  readonly action: string;
  /** The key within the bucket. */
  readonly key: string;
  /** The canonical URL of the store. */
  readonly url: string;
  readonly region: string;
  readonly accessKeyId: string | undefined;
}

/** The text of an element of an XML answer, entities decoded; undefined when there is none. */
export function xmlText(response: S3Response, element: string): string | undefined {
  const text = new TextDecoder().decode(response.body.subarray(0, 65_536));
  const match = new RegExp(`<${element}>([^<]*)</${element}>`).exec(text);
  return match?.[1] === undefined ? undefined : decodeEntities(match[1]);
}

/** The error code of an answer (`NoSuchKey`, `SlowDown`, …); undefined when it names none. */
export function errorCode(response: S3Response): string | undefined {
  return xmlText(response, "Code");
}

/** Text of an XML document with its entities replaced. */
export function decodeEntities(text: string): string {
  return text.replace(/&(#x[0-9a-f]+|#\d+|amp|lt|gt|quot|apos);/gi, (entity, name: string) => {
    const named: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
    if (!name.startsWith("#")) return named[name.toLowerCase()] ?? entity;
    const code = name[1]?.toLowerCase() === "x"
      ? Number.parseInt(name.slice(2), 16)
      : Number.parseInt(name.slice(1), 10);
    return code <= 0x10ffff ? String.fromCodePoint(code) : entity;
  });
}

/** Whether the store asks for fewer requests. */
export function isOverload(exchange: Exchange): boolean {
  return exchange.kind === "answer" && [429, 503].includes(exchange.response.status);
}

/** Whether the store did what was asked. */
export function isSuccess({ status }: S3Response): boolean {
  return status >= 200 && status < 300;
}

/** Whether the same request may succeed a moment later. */
export function isTransient({ status }: S3Response): boolean {
  return status === 408 || status === 429 || (status >= 500 && status !== 501);
}

/** Codes that speak of credentials although the status may be 400. */
const CREDENTIAL_CODES: ReadonlySet<string | undefined> = new Set([
  "ExpiredToken",
  "ExpiredTokenException",
  "TokenRefreshRequired",
  "InvalidToken",
  "InvalidAccessKeyId",
  "SignatureDoesNotMatch",
  "AuthorizationHeaderMalformed",
  "AccessDenied",
  "RequestTimeTooSkewed",
  // versitygw, with status 404.
  "XAdminUserNotFound",
]);

/** Whether the answer is about the credentials, so that newer ones may help. */
export function isAboutCredentials(response: S3Response): boolean {
  return response.status >= 400 && CREDENTIAL_CODES.has(errorCode(response));
}

/** The fault that an answer means. */
export function responseFault(response: S3Response, context: RequestContext): DreamDBError {
  const { action, key, url, region, accessKeyId } = context;
  const code = errorCode(response);
  const said = [`${response.status}`, code, cleanMessage(xmlText(response, "Message"))]
    .filter((part) => part !== undefined && part !== "").join(" ");
  const found = `${said} when trying to ${action} at ${key} in ${url}`;
  if (code === "NoSuchBucket" || code === "InvalidBucketName") {
    return new DreamDBError({
      code: "store-missing",
      url,
      found: `no bucket behind ${url} (${said})`,
      expected: "an existing bucket",
      next: "Check the bucket's name, the endpoint and the region; buckets are never created here.",
    });
  }
  if ([401, 403].includes(response.status) || isAboutCredentials(response)) {
    const who = accessKeyId === undefined
      ? "without credentials"
      : `as access key ${accessKeyId}, region ${region}`;
    return new DreamDBError({
      code: "permission-denied",
      action,
      path: key,
      found: `${found}, ${who}`,
      expected: "to be allowed to",
      next: accessKeyId === undefined
        ? "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (or AWS_PROFILE), or allow anonymous " +
          "access."
        : "Check that the key is valid and has s3:GetObject, s3:PutObject and s3:ListBucket on " +
          "the bucket (a missing object also looks like this without s3:ListBucket).",
    });
  }
  return new DreamDBError({
    code: "store-failure",
    action,
    path: key,
    found,
    expected: "an answer of success",
    next: nothingPublished(context.action) +
      (isTransient(response)
        ? "The store is overloaded or failing: run again later."
        : "Check the backend URL, the region and what lies between here and the store."),
  });
}

/** The fault of a request that never got an answer. */
export function lostFault(cause: unknown, context: RequestContext): DreamDBError {
  const reason = cause instanceof Error ? cleanMessage(cause.message) : String(cause);
  return new DreamDBError({
    code: "store-failure",
    action: context.action,
    path: context.key,
    found: `no answer when trying to ${context.action} at ${context.key} in ${context.url} ` +
      `(${reason})`,
    expected: "an answer",
    next: nothingPublished(context.action) +
      "Check that (a) the endpoint is right, (b) the store is running, (c) no proxy or " +
      "firewall is in the way; then run again.",
  }, { cause });
}

/** Foreign text for a message: one line, printable, at most 200 characters. */
function cleanMessage(text: string | undefined): string | undefined {
  return text?.replace(/[^\x20-\x7e]+/g, " ").trim().slice(0, 200);
}

/** Objects are written before the ref that leads to them. */
function nothingPublished(action: string): string {
  return action === "write an object" ? "Nothing was published. " : "";
}
