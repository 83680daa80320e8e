/**
 * The many ways of naming branches on a command line, all brought to a plain list (DESIGN 4).
 * Everything here is pure.
 *
 * @module
 */

import { DreamDBError } from "../errors.ts";
import { checkRefName } from "../model/ref-name.ts";
import { checkExpanded, usageError } from "./values.ts";

/** The most branches of one merge. */
export const MOST_BRANCHES = 10_000;

/** One thing on the command line that names branches, in the order in which they stand there. */
export type BranchArgument =
  | { readonly form: "list"; readonly flag: string; readonly text: string }
  | { readonly form: "file"; readonly path: string }
  | { readonly form: "glob"; readonly pattern: string };

/**
 * The branches of a list such as `a,b,ingest-w-{0..63}`: separated by commas or white space, with
 * ranges (`{0..63}`, zero-padded `{00..63}`) and choices (`{a,b}`) in braces. No shell is needed.
 *
 * @param flag how the list was given, for messages
 * @throws DreamDBError usage, invalid-ref-name
 */
export function parseBranchList(flag: string, text: string): readonly string[] {
  checkExpanded(flag, text);
  const items = splitOutsideBraces(flag, text);
  checkEllipsis(flag, items);
  const names: string[] = [];
  for (const item of items) {
    if (item === "") {
      throw usageError(
        items.length === 1 ? `${flag} without a name` : `${flag} with an empty name in it`,
        "names of branches, separated by commas",
        items.length === 1
          ? "Give a name; an empty one is often an unset variable."
          : "Remove the comma that is too many; an empty name is often an unset variable.",
      );
    }
    checkBareRange(flag, item);
    const expanded = expandBraces(flag, item, MOST_BRANCHES - names.length);
    for (const name of expanded) checkRefName(name);
    names.push(...expanded);
  }
  return names;
}

/**
 * The branches of a file: lists as on the command line, any number a line; `#` begins a comment.
 * @throws DreamDBError usage, invalid-ref-name
 */
export function parseBranchFile(path: string, text: string): readonly string[] {
  const names: string[] = [];
  for (const [index, line] of text.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/).entries()) {
    const content = line.replace(/#.*$/, "").trim();
    if (content === "") continue;
    names.push(...parseBranchList(`line ${index + 1} of ${path}`, content));
    checkLength(names.length);
  }
  if (names.length === 0) {
    throw usageError(
      `no branch in ${path}`,
      "at least one name",
      "Write one name a line; lines that begin with # are comments.",
    );
  }
  return names;
}

/** What a glob needs from the store: the text before its first special character. */
export function globPrefix(pattern: string): string {
  return /^[^*?]*/.exec(pattern)?.[0] ?? "";
}

/**
 * Checks a glob: `*` stands for any text without `/`, `**` for any text, `?` for one character.
 * @throws DreamDBError usage
 */
export function checkGlob(pattern: string): void {
  checkExpanded("--branch-glob", pattern);
  if (/^[a-z0-9_\-/*?]+$/.test(pattern)) return;
  throw usageError(
    `--branch-glob ${JSON.stringify(pattern)}`,
    "a ref name in which * stands for any text without /, ** for any text, ? for one character",
    "Write for example --branch-glob 'ingest-w-*', in quotes.",
  );
}

/** The names that a glob matches, numbers in them in numerical order. */
export function matchGlob(pattern: string, names: readonly string[]): readonly string[] {
  const source = pattern.replace(
    /\*\*|\*|\?|[^*?]/g,
    (part) => part === "**" ? ".*" : part === "*" ? "[^/]*" : part === "?" ? "[^/]" : part,
  );
  const expression = new RegExp(`^(?:${source})$`);
  return names.filter((name) => expression.test(name)).sort(compareNaturally);
}

/** Compares names so that `w-9` comes before `w-10`. */
export function compareNaturally(a: string, b: string): number {
  const ours = a.match(/\d+|\D+/g) ?? [];
  const theirs = b.match(/\d+|\D+/g) ?? [];
  for (const [index, part] of ours.entries()) {
    const other = theirs[index];
    if (other === undefined) return 1;
    if (part === other) continue;
    const numbers = /^\d/.test(part) && /^\d/.test(other);
    const difference = numbers ? BigInt(part) - BigInt(other) : 0n;
    if (difference !== 0n) return difference < 0n ? -1 : 1;
    return part < other ? -1 : 1;
  }
  return ours.length - theirs.length;
}

/** @throws DreamDBError usage when there are more than one merge takes */
export function checkLength(count: number): void {
  if (count <= MOST_BRANCHES) return;
  throw usageError(
    `more than ${MOST_BRANCHES} branches`,
    `at most ${MOST_BRANCHES} in one merge`,
    "Merge in several runs, or correct the range.",
  );
}

/** The items of a list; white space around and between them separates as commas do. */
function splitOutsideBraces(flag: string, text: string): readonly string[] {
  if (/[{}]/.test(text.replace(/\{[^{}]*\}/g, ""))) throw unbalanced(flag, text);
  return text
    .replace(/\{[^{}]*\}/g, (braces) => braces.replace(/\s+/g, ""))
    .split(/,(?![^{}]*\})/)
    .flatMap((item) => item.trim().split(/\s+/));
}

function unbalanced(flag: string, text: string): DreamDBError {
  return usageError(
    `${flag} ${JSON.stringify(text)} with braces that do not match`,
    "a range {0..63} or a choice {a,b}, without braces inside of braces",
    "Write for example ingest-w-{0..63}.",
  );
}

/** `a-0,a-1,...,a-63`, as people write for people. */
function checkEllipsis(flag: string, items: readonly string[]): void {
  const at = items.findIndex((item) => /^(?:\.{2,}|…)$/.test(item));
  if (at < 0) return;
  const first = items[0] ?? "";
  const last = items.at(-1) ?? "";
  const from = /^(.*?)(\d+)$/.exec(first);
  const to = /^(.*?)(\d+)$/.exec(last);
  const range = from !== null && to !== null && from[1] === to[1]
    ? `${from[1]}{${from[2]}..${to[2]}}`
    : "ingest-w-{0..63}";
  throw usageError(
    `${flag} with ${JSON.stringify(items[at])} in it`,
    "every branch by name, or a range",
    `Write the range as ${range}.`,
  );
}

/** `w-0..63`, `w-[0..63]`, `w-[0-63]`: ranges in other tools' words. */
function checkBareRange(flag: string, item: string): void {
  const match = /^([^{}]*?)[[(]?(\d+)(?:\.\.+|-)(\d+)[\])]$|^([^{}]*?)(\d+)\.\.+(\d+)$/.exec(item);
  if (match === null) return;
  const stem = match[1] ?? match[4] ?? "";
  throw usageError(
    `${flag} ${JSON.stringify(item)}`,
    "a range in braces",
    `Write ${stem}{${match[2] ?? match[5]}..${match[3] ?? match[6]}}.`,
  );
}

function expandBraces(flag: string, item: string, room: number): readonly string[] {
  const parts = item.split(/\{([^{}]*)\}/);
  // Odd parts were inside of braces. The product is counted before it is made.
  const choices = parts.map((part, index) =>
    index % 2 === 0 ? [part] : choicesOf(flag, item, part)
  );
  const count = choices.reduce((product, list) => product * list.length, 1);
  if (count > room) checkLength(MOST_BRANCHES + 1);
  let names = [""];
  for (const list of choices) {
    names = names.flatMap((name) => list.map((choice) => name + choice));
  }
  return names;
}

function choicesOf(flag: string, item: string, inside: string): readonly string[] {
  const range = /^(\d{1,9})\.\.(\d{1,9})$/.exec(inside);
  if (range !== null) {
    const [, from = "", to = ""] = range;
    const padded = /^0\d/.test(from) || /^0\d/.test(to);
    const width = padded ? Math.max(from.length, to.length) : 0;
    const first = Number(from);
    const last = Number(to);
    const length = Math.abs(last - first) + 1;
    checkLength(length);
    const step = last < first ? -1 : 1;
    return Array.from(
      { length },
      (_, index) => String(first + step * index).padStart(width, "0"),
    );
  }
  const choices = inside.split(",").map((choice) => choice.trim());
  if (choices.length > 1 && choices.every((choice) => choice !== "" && !choice.includes(".."))) {
    return choices;
  }
  throw usageError(
    `${flag} ${JSON.stringify(item)}`,
    "two whole numbers with .. between them in braces, as in {0..63}, or a choice, as in {a,b}",
    "Correct what is in the braces; both ends of a range are included.",
  );
}
