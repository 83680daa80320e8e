/**
 * Listing keys (ListObjectsV2), page by page.
 *
 * Whatever is not plainly a page is an error: the reference takes an HTML page for an empty list
 * (BACKEND 1.4).
 *
 * @module
 */

import { DreamDBError } from "../errors.ts";
import type { S3Http } from "./s3-http.ts";
import type { RequestContext, S3Response } from "./s3-response.ts";
import { decodeEntities, responseFault } from "./s3-response.ts";

/** One page of keys. */
interface Page {
  readonly keys: readonly string[];
  /** Where the next page begins; undefined on the last one. */
  readonly token: string | undefined;
}

/**
 * All keys that begin with `prefix`, sorted, each once.
 * @throws DreamDBError store-missing, permission-denied, store-failure
 */
export async function listKeys(
  http: S3Http,
  prefix: string,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const keys = new Set<string>();
  const tokens = new Set<string>();
  let token: string | undefined;
  do {
    const request = {
      method: "GET",
      action: "list keys",
      query: [
        ...(token === undefined ? [] : [["continuation-token", token] as const]),
        ["list-type", "2"] as const,
        ["prefix", prefix] as const,
      ],
    } as const;
    const response = await http.retrying(request, signal);
    const context = { ...http.context(request), key: prefix };
    if (response.status !== 200) throw responseFault(response, context);
    const page = parsePage(response, context);
    for (const key of page.keys) if (key.startsWith(prefix)) keys.add(key);
    token = page.token;
    if (token !== undefined && tokens.has(token)) {
      throw notAPage("a page that leads back to an earlier one", context);
    }
    if (token !== undefined) tokens.add(token);
  } while (token !== undefined);
  return [...keys].sort();
}

function parsePage(response: S3Response, context: RequestContext): Page {
  const text = new TextDecoder().decode(response.body);
  const truncated = /<IsTruncated>\s*(true|false)\s*<\/IsTruncated>/.exec(text)?.[1];
  if (
    !/^\s*(?:<\?xml[^>]*\?>\s*)?<ListBucketResult[\s>]/.test(text) ||
    !/<\/ListBucketResult>\s*$/.test(text) || truncated === undefined
  ) {
    throw notAPage("something other than a list of keys", context);
  }
  const keys = [...text.matchAll(/<Key>([^<]*)<\/Key>/g)].map((match) =>
    decodeEntities(match[1] ?? "")
  );
  if (truncated === "false") return { keys, token: undefined };
  const token = /<NextContinuationToken>([^<]+)<\/NextContinuationToken>/.exec(text)?.[1];
  if (token === undefined) throw notAPage("a cut list without its continuation", context);
  return { keys, token: decodeEntities(token) };
}

function notAPage(found: string, context: RequestContext): DreamDBError {
  return new DreamDBError({
    code: "store-failure",
    action: context.action,
    path: context.key,
    found: `${found} from ${context.url}`,
    expected: "a ListBucketResult",
    next: "Check the backend URL: a web server that is no object store may answer there.",
  });
}
