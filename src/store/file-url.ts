/**
 * `file://` URLs as the reference reads them: the text behind `file://` is the path, taken as it
 * is, without percent-decoding (BEHAVIOUR A.7).
 *
 * @module
 */

import { DreamDBError } from "../errors.ts";

const SCHEME = "file://";

/**
 * The root folder that a `file:///…` URL names, without slashes at its end, and the canonical URL.
 * @throws DreamDBError usage
 */
export function parseFileUrl(url: string): { readonly root: string; readonly url: string } {
  const path = url.slice(SCHEME.length);
  if (!url.startsWith(SCHEME) || !path.startsWith("/") || path.includes("\0")) {
    throw new DreamDBError({
      code: "usage",
      found: `the backend ${JSON.stringify(url)}`,
      expected: "file:// followed by an absolute path, as in file:///data/store",
      next: "Write three slashes; a host and a relative path are not possible.",
    });
  }
  const root = path.replace(/\/+$/, "") || "/";
  return { root, url: `${SCHEME}${root}` };
}
