/**
 * Backend URLs of object stores: `s3://bucket[/prefix]` and `http(s)://host/bucket[/prefix]`, the
 * form the reference knows (BACKEND 1.1).
 *
 * @module
 */

import { DreamDBError } from "../errors.ts";

/** Where the objects of one store are. */
export interface S3Location {
  /** The canonical form of what was given, without slashes at its end. */
  readonly url: string;
  readonly bucket: string;
  /** What every key begins with: empty, or ending in `/`. */
  readonly prefix: string;
  /** The URL of the bucket; undefined: the bucket's own host at AWS, which depends on the region. */
  readonly base: string | undefined;
  /** Whether the bucket is the first part of the path, and not a part of the host's name. */
  readonly pathStyle: boolean;
  /** The region that the host's name tells, if any. */
  readonly region: string | undefined;
  /** Whether the host belongs to AWS or nothing else was named, so that AWS credentials fit. */
  readonly isAws: boolean;
}

/** What beside the URL decides where the objects are. */
export interface S3Addressing {
  /** `http(s)://host[:port]` for `s3://` URLs; default: AWS. */
  readonly endpoint?: string | undefined;
  /** Bucket in the path or in the host's name; default: path with an endpoint, host without. */
  readonly style?: "path" | "virtual" | undefined;
}

// One bucket, then s3 with a hyphen or a dot and the region.
const AWS_HOST = /^(?:(.+)\.)?s3[.-](?:dualstack\.)?(?:([a-z0-9-]+)\.)?amazonaws\.com(?:\.cn)?$/;
const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/**
 * Reads a backend URL.
 * @throws DreamDBError usage
 */
export function parseS3Url(url: string, addressing: S3Addressing = {}): S3Location {
  return url.startsWith("s3:") ? bucketUrl(url, addressing) : hostUrl(url);
}

/** The URL of the bucket itself, without a slash at its end. */
export function baseUrl(location: S3Location, region: string): string {
  if (location.base !== undefined) return location.base;
  const domain = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
  return location.pathStyle
    ? `https://s3.${region}.${domain}/${location.bucket}`
    : `https://${location.bucket}.s3.${region}.${domain}`;
}

/** Percent-encodes everything but unreserved characters, as signatures demand (RFC 3986). */
export function encodeComponent(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** An object's key as it appears in a URL; `/` stays. */
export function encodeKey(key: string): string {
  return key.split("/").map(encodeComponent).join("/");
}

function bucketUrl(url: string, { endpoint, style }: S3Addressing): S3Location {
  const match = /^s3:\/\/([^/]+)(.*)$/.exec(url);
  const bucket = match?.[1] ?? "";
  const segments = (match?.[2] ?? "").split("/").filter((segment) => segment !== "");
  checkParts(url, bucket, segments);
  const common = {
    url: ["s3:/", bucket, ...segments].join("/"),
    bucket,
    prefix: prefixOf(segments),
    region: undefined,
  };
  if (endpoint === undefined) {
    // The certificates of AWS cover one label, so a bucket with dots goes into the path.
    const pathStyle = style === "path" || (style === undefined && /[.A-Z_]/.test(bucket));
    return { ...common, base: undefined, pathStyle, isAws: true };
  }
  const host = parseHttp(endpoint);
  const folder = host.pathname.replace(/\/+$/, "");
  const pathStyle = style !== "virtual";
  const base = !pathStyle
    ? `${host.protocol}//${bucket}.${host.host}${folder}`
    : `${host.protocol}//${host.host}${folder}/${bucket}`;
  const aws = AWS_HOST.exec(host.hostname);
  return { ...common, base, pathStyle, region: aws?.[2], isAws: aws !== null };
}

function hostUrl(url: string): S3Location {
  const host = parseHttp(url);
  const segments = host.pathname.split("/").filter((segment) => segment !== "").map((segment) =>
    decode(url, segment)
  );
  const aws = AWS_HOST.exec(host.hostname);
  // Without a path the bucket is in the host's name, which an address or a bare name cannot hold.
  const mayHoldBucket = segments.length === 0 && /^[^[\d].*\./.test(host.hostname);
  const bucketInHost = aws?.[1] ?? (mayHoldBucket ? host.hostname.split(".")[0] : undefined);
  const bucket = bucketInHost ?? segments.shift() ?? "";
  checkParts(url, bucket, segments);
  const origin = `${host.protocol}//${host.host}`;
  const base = bucketInHost === undefined ? `${origin}/${bucket}` : origin;
  return {
    url: [base, ...segments].join("/"),
    bucket,
    prefix: prefixOf(segments),
    base,
    pathStyle: bucketInHost === undefined,
    region: aws?.[2],
    isAws: aws !== null,
  };
}

function parseHttp(text: string): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch (error) {
    throw usage(text, "Write it as http(s)://host[:port]/bucket.", error);
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw usage(text, "The scheme of an endpoint is http or https.");
  }
  if (url.username !== "" || url.password !== "") {
    // The text is not shown: it holds a password.
    throw usage(
      `${url.protocol}//…@${url.host}${url.pathname}`,
      "Credentials do not belong into a " +
        "URL: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
    );
  }
  // A URL forgets these without a word.
  if (/\/(?:\.|%2e){1,2}(?:\/|$)/i.test(text)) {
    throw usage(text, 'The path must not contain "." or ".." as a part.');
  }
  if (url.search !== "" || url.hash !== "") {
    throw usage(`${url.origin}${url.pathname}`, "Leave out what follows the path (? or #).");
  }
  return url;
}

function checkParts(url: string, bucket: string, segments: readonly string[]): void {
  if (!BUCKET.test(bucket)) {
    throw usage(url, "Name a bucket: letters, digits, dots and hyphens.");
  }
  for (const segment of segments) {
    if (segment === "." || segment === ".." || /\p{Cc}/u.test(segment)) {
      throw usage(url, 'The prefix must not contain ".", ".." or control characters as a part.');
    }
  }
}

function prefixOf(segments: readonly string[]): string {
  return segments.length === 0 ? "" : `${segments.join("/")}/`;
}

function decode(url: string, segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    throw usage(url, "A % in a URL is followed by two hexadecimal digits.", error);
  }
}

function usage(url: string, next: string, cause?: unknown): DreamDBError {
  return new DreamDBError({
    code: "usage",
    found: `the backend ${JSON.stringify(url)}`,
    expected: "s3://bucket[/prefix] or http(s)://host[:port]/bucket[/prefix]",
    next,
  }, { cause });
}
