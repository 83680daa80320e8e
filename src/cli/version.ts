/**
 * Which build this is. The build defines both names; a run from source reads package.json.
 *
 * @module
 */

import { readFileSync } from "node:fs";

declare const DREAMDB_VERSION: string | undefined;
declare const DREAMDB_COMMIT: string | undefined;

/** The version as in package.json. */
export const VERSION: string = typeof DREAMDB_VERSION === "string"
  ? DREAMDB_VERSION
  : versionOfSource();

/** The commit that was built, or "source". */
export const COMMIT: string = typeof DREAMDB_COMMIT === "string" ? DREAMDB_COMMIT : "source";

function versionOfSource(): string {
  try {
    const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
    const { version } = JSON.parse(text) as { readonly version?: unknown };
    return typeof version === "string" ? version : "0.0.0";
  } catch {
    return "0.0.0";
  }
}
