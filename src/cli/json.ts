/**
 * The only place where JSON is written. Every command prints exactly one document, also when it
 * fails; 64-bit integers are decimal text, since most readers round numbers above 2^53.
 *
 * @module
 */

import type { Fault } from "../errors.ts";

/** The version of the documents' shape; it grows when a field changes its meaning or goes. */
export const DOCUMENT_VERSION = 1;

/** What a document can hold before it is written. */
export type JsonValue =
  | string
  | number
  | boolean
  | bigint
  | null
  | undefined
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/** The text of a document, with a line break at its end. */
export function documentText(document: Readonly<Record<string, unknown>>): string {
  return `${
    JSON.stringify(
      document,
      (_key, value: unknown) => typeof value === "bigint" ? value.toString() : value,
      2,
    )
  }\n`;
}

/** A fault as it stands in a document: `code` and `message` first, then its typed fields. */
export function faultJson(fault: Fault): JsonValue {
  const { code, found, expected, next, ...rest } = fault;
  return {
    code,
    message: `${found}; expected ${expected}`,
    found,
    expected,
    next,
    ...(rest as { readonly [key: string]: JsonValue }),
  };
}

/** One line of `--progress=json`. */
export function progressText(progress: Readonly<Record<never, unknown>>): string {
  return `${JSON.stringify({ event: "progress", ...progress })}\n`;
}
