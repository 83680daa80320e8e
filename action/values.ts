/**
 * Values that only the Action's inputs have; the others are read as the command line reads them.
 *
 * @module
 */

import { usageError } from "../src/cli/values.ts";

const TRUE = ["true", "True", "TRUE"];
const FALSE = ["false", "False", "FALSE"];

/**
 * The words of YAML 1.2 only: a mistyped "ture" must not pass for a no.
 * @throws DreamDBError usage
 */
export function parseBoolean(name: string, text: string): boolean {
  if (TRUE.includes(text)) return true;
  if (FALSE.includes(text)) return false;
  throw usageError(
    `${name} ${JSON.stringify(text)}`,
    "true or false",
    `Write ${name}: true or ${name}: false.`,
  );
}

/**
 * One of a few words.
 * @throws DreamDBError usage
 */
export function parseChoice<Word extends string>(
  name: string,
  text: string,
  words: readonly Word[],
): Word {
  const word = words.find((candidate) => candidate === text);
  if (word !== undefined) return word;
  throw usageError(
    `${name} ${JSON.stringify(text)}`,
    `one of ${words.join(", ")}`,
    `Write for example ${name}: ${words[0]}.`,
  );
}

/** The lines of a text without the empty ones. */
export function linesOf(text: string): readonly string[] {
  return text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
}
