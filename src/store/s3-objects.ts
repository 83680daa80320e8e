/**
 * Reading and writing the immutable objects of an object store. Every request here may arrive
 * twice without harm, so all of them are retried (BACKEND 4.1).
 *
 * @module
 */

import type { S3Http, S3Request } from "./s3-http.ts";
import type { S3Response } from "./s3-response.ts";
import { errorCode, isSuccess, responseFault, xmlText } from "./s3-response.ts";
import { DreamDBError } from "../errors.ts";

/** Objects above this many bytes go in parts of this size, as the reference's do (BACKEND 1.3). */
export const PART_BYTES = 100 * 1024 * 1024;

/**
 * The object at `key`, or undefined.
 * @throws DreamDBError store-missing, permission-denied, store-failure
 */
export async function getS3Object(
  http: S3Http,
  key: string,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | undefined> {
  const request: S3Request = { method: "GET", key, action: "read an object" };
  const response = await http.retrying(request, signal);
  if (response.status === 200) return response.body;
  if (isMissingKey(response)) return undefined;
  throw responseFault(response, http.context(request));
}

/**
 * Whether the answer says that there is no such object; a missing bucket, and with some servers an
 * unknown user, is a 404 too. Plain web servers name no code.
 */
export function isMissingKey(response: S3Response): boolean {
  return response.status === 404 &&
    [undefined, "NoSuchKey", "NotFound", "NoSuchVersion"].includes(errorCode(response));
}

/** Whether the answer to a conditional create says that the object is there. */
function isPresent(response: S3Response): boolean {
  // 304 was MinIO's answer once (ANCHORS D.2).
  return response.status === 412 || response.status === 304;
}

/** AWS's word for: try the conditional request again. */
function isRequestConflict(response: S3Response): boolean {
  return response.status === 409 && errorCode(response) === "ConditionalRequestConflict";
}

/**
 * Writes an object unless it is there.
 * @throws DreamDBError store-missing, permission-denied, store-failure
 */
export async function putS3Object(
  http: S3Http,
  key: string,
  body: Uint8Array,
  signal: AbortSignal | undefined,
  partBytes: number = PART_BYTES,
): Promise<"written" | "present"> {
  if (body.length > partBytes) return await putInParts(http, key, body, signal, partBytes);
  const request: S3Request = {
    method: "PUT",
    key,
    body,
    headers: { "if-none-match": "*" },
    action: "write an object",
  };
  let response = await http.retrying(request, signal, isRequestConflict);
  if (response.status === 501) {
    // No conditions at all: the name stands for the bytes, so writing them again does no harm.
    response = await http.retrying({ ...request, headers: {} }, signal);
  }
  if (isSuccess(response)) return "written";
  if (isPresent(response)) return "present";
  throw responseFault(response, http.context(request));
}

/** Whole uploads that are tried when a conflict ends one. */
const UPLOADS = 5;

async function putInParts(
  http: S3Http,
  key: string,
  body: Uint8Array,
  signal: AbortSignal | undefined,
  partBytes: number,
): Promise<"written" | "present"> {
  for (let attempt = 1;; attempt++) {
    const { response, request } = await upload(http, key, body, signal, partBytes);
    // A completed upload may carry its failure in the body of an answer of success.
    const failed = response.status !== 200 || errorCode(response) !== undefined;
    if (!failed) return "written";
    if (isPresent(response) || errorCode(response) === "PreconditionFailed") return "present";
    if (!isRequestConflict(response) || attempt >= UPLOADS) {
      throw responseFault(response, http.context(request));
    }
    await http.pause(attempt, response, signal);
  }
}

async function upload(
  http: S3Http,
  key: string,
  body: Uint8Array,
  signal: AbortSignal | undefined,
  partBytes: number,
): Promise<{ readonly response: S3Response; readonly request: S3Request }> {
  const action = "write an object in parts";
  const create: S3Request = { method: "POST", key, query: [["uploads", ""]], action };
  const created = await http.retrying(create, signal);
  const uploadId = created.status === 200 ? xmlText(created, "UploadId") : undefined;
  if (uploadId === undefined) throw responseFault(created, http.context(create));
  let ended = false;
  try {
    const tags: string[] = [];
    for (let offset = 0; offset < body.length; offset += partBytes) {
      const part: S3Request = {
        method: "PUT",
        key,
        query: [["partNumber", `${tags.length + 1}`], ["uploadId", uploadId]],
        body: body.subarray(offset, offset + partBytes),
        action,
      };
      const response = await http.retrying(part, signal);
      if (response.status !== 200) throw responseFault(response, http.context(part));
      tags.push(tagOf(response, part, http));
    }
    const parts = tags.map((tag, index) =>
      `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escapeXml(tag)}</ETag></Part>`
    );
    const request: S3Request = {
      method: "POST",
      key,
      query: [["uploadId", uploadId]],
      headers: { "content-type": "application/xml", "if-none-match": "*" },
      body: new TextEncoder().encode(
        `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${
          parts.join("")
        }</CompleteMultipartUpload>`,
      ),
      action,
    };
    const response = await http.retrying(request, signal);
    ended = response.status === 200 && errorCode(response) === undefined;
    return { response, request };
  } finally {
    // Parts of an upload that is given up cost money until they are taken away. A failure here
    // must not hide what happened.
    if (!ended) {
      await http.retrying({ method: "DELETE", key, query: [["uploadId", uploadId]], action })
        .catch(() => {});
    }
  }
}

function tagOf(response: S3Response, request: S3Request, http: S3Http): string {
  const tag = response.headers.get("etag");
  if (tag !== null) return tag;
  const { action, key, url } = http.context(request);
  throw new DreamDBError({
    code: "store-failure",
    action,
    path: key,
    found: `an answer without ETag to a part of ${key} in ${url}`,
    expected: "the ETag that completing the upload needs",
    next: "Use a store, or a proxy in front of it, that sends ETags.",
  });
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
