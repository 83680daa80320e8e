/**
 * Whether a store looks at the conditions of conditional writes. Some do not, and answer 200
 * (BACKEND 3.1): on them the updates of others are lost without a sign.
 *
 * @module
 */

import { DreamDBError } from "../errors.ts";
import type { S3Http, S3Request } from "./s3-http.ts";
import { isSuccess, responseFault } from "./s3-response.ts";

/** An ETag that no object has. */
const WRONG_TAG = '"00000000000000000000000000000000"';

/**
 * Probes with an object that exists, by two writes of the bytes it already has under conditions
 * that do not hold. A store that honours conditions changes nothing; one that does not writes what
 * is there already. Nothing is left behind and nothing has to be deleted.
 * @param bytes what is at `key`
 * @throws DreamDBError conditions-ignored, and failures
 */
export async function probeConditions(
  http: S3Http,
  key: string,
  bytes: Uint8Array,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const headers of [{ "if-none-match": "*" }, { "if-match": WRONG_TAG }]) {
    const request: S3Request = {
      method: "PUT",
      key,
      body: bytes,
      headers,
      action: "probe conditional writes",
    };
    const response = await http.retrying(request, signal, ({ status }) => status === 409);
    const header = Object.keys(headers)[0] ?? "";
    if (isSuccess(response) || response.status === 501) {
      throw conditionsIgnored(http, header, response.status);
    }
    if (![412, 304].includes(response.status)) {
      throw responseFault(response, http.context(request));
    }
  }
}

/** The fault of a store that cannot be published to. */
export function conditionsIgnored(http: S3Http, header: string, status: number): DreamDBError {
  return new DreamDBError({
    code: "conditions-ignored",
    url: http.location.url,
    found:
      `${status} to a write whose condition (${header}) does not hold, in ${http.location.url}`,
    expected: "412: a store that looks at the conditions of writes",
    next: "Nothing was published. Two writers would overwrite each other here: use a store with " +
      "conditional writes, or a proxy that passes them on.",
  });
}
