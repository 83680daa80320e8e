/**
 * The grammar of ref names (FORMAT 1.4): `/`-separated segments of 1–64 characters of `[a-z0-9_@-]`,
 * at most 256 characters in all.
 *
 * @module
 */

import { DreamDBError } from "../errors.ts";

const SEGMENT = /^[a-z0-9_@-]{1,64}$/;
const MAXIMUM_SEGMENT = 64;
const MAXIMUM_NAME = 256;
const GRAMMAR =
  `"/"-separated segments of 1 to ${MAXIMUM_SEGMENT} characters from a-z, 0-9, "_", ` +
  `"-" and "@", at most ${MAXIMUM_NAME} characters in all`;

/**
 * A name as it may be shown on a terminal: quoted, cut at 80 characters, everything outside of
 * printable ASCII escaped, so that a name cannot move the cursor or reverse the text.
 */
export function quoteRefName(name: string): string {
  const characters = [...name];
  const shown = characters.slice(0, 80).join("");
  const escaped = JSON.stringify(shown).replace(
    /[^\x20-\x7e]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
  return characters.length > 80 ? `${escaped}… (${characters.length} characters)` : escaped;
}

/** Whether `name` is within the grammar (FORMAT 1.4); reserved names are. */
export function isRefName(name: string): boolean {
  return name.length <= MAXIMUM_NAME && name.split("/").every((segment) => SEGMENT.test(segment));
}

/** Whether `name` is `tags` or lies below it: create-only snapshot tags (FORMAT 1.4). */
export function isReservedRefName(name: string): boolean {
  return name === "tags" || name.startsWith("tags/");
}

/**
 * Checks a name that is to be read.
 * @throws DreamDBError invalid-ref-name, with a hint on the likeliest cause
 */
export function checkRefName(name: string): void {
  if (isRefName(name)) return;
  throw new DreamDBError({
    code: "invalid-ref-name",
    name,
    found: `${quoteRefName(name)} is not a ref name`,
    expected: GRAMMAR,
    next: hintFor(name),
  });
}

/**
 * Checks a name that is to be created or moved: within the grammar and not reserved.
 * @throws DreamDBError invalid-ref-name
 */
export function checkWritableRefName(name: string): void {
  checkRefName(name);
  if (!isReservedRefName(name)) return;
  throw new DreamDBError({
    code: "invalid-ref-name",
    name,
    found: `${quoteRefName(name)} is reserved for snapshot tags`,
    expected: `a name that is not "tags" and does not begin with "tags/"`,
    next: "Choose another name; refs below tags/ can be read but not created or moved.",
  });
}

function hintFor(name: string): string {
  if (name === "") return "Give a name; an empty one is often an unset variable.";
  if (/[$(){}]/.test(name)) {
    return "This looks like an unexpanded variable or range: Kubernetes replaces only $(NAME), and " +
      "no shell runs in a container's command.";
  }
  if (/[A-Z]/.test(name)) return "Use lower case: ref names have no upper case letters.";
  if (name.includes("..")) return 'Remove "..": a ref name cannot leave its folder.';
  if (name.includes(".")) return 'Remove the ".": a ref name has no dots.';
  if (/[\s,]/.test(name)) return "Remove the white space or comma, or give the names one by one.";
  if (name.startsWith("refs/")) return 'Leave out "refs/": names are given without it.';
  if (/^\/|\/$|\/\//.test(name)) return 'Remove the "/" at an end or the double "/".';
  if (name.length > MAXIMUM_NAME) return `Shorten it: it has ${name.length} characters.`;
  const long = name.split("/").find((segment) => segment.length > MAXIMUM_SEGMENT);
  if (long !== undefined && SEGMENT.test(long.slice(0, MAXIMUM_SEGMENT))) {
    return `Shorten the segment of ${long.length} characters.`;
  }
  return "Use only the allowed characters.";
}
