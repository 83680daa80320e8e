/**
 * Reading the values of flags. Everything here is pure.
 *
 * @module
 */

import { DreamDBError } from "../errors.ts";

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A usage fault, the only kind this folder makes of its own. */
export function usageError(found: string, expected: string, next: string): DreamDBError {
  return new DreamDBError({ code: "usage", found, expected, next });
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

// Timers hold 31 bits of milliseconds, about 24.8 days.
const LONGEST_MILLISECONDS = 2 ** 31 - 1;

/**
 * A duration in milliseconds: seconds (`90`, `1.5`) or a number with `ms`, `s`, `m` or `h`.
 * @throws DreamDBError usage
 */
export function parseDuration(flag: string, text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text.trim());
  const milliseconds = Number(match?.[1]) * (UNITS[match?.[2] ?? "s"] ?? NaN);
  if (!(milliseconds > 0 && milliseconds <= LONGEST_MILLISECONDS)) {
    throw usageError(
      `${flag} ${JSON.stringify(text)}`,
      "a time above zero and below 24 days, in seconds or as in 90s, 10m, 2h",
      `Write for example ${flag}=10m.`,
    );
  }
  return Math.max(1, Math.round(milliseconds));
}

/**
 * A whole number from `least` to `most`.
 * @throws DreamDBError usage
 */
export function parseCount(flag: string, text: string, least: number, most: number): number {
  const value = /^\d{1,15}$/.test(text.trim()) ? Number(text) : NaN;
  if (value >= least && value <= most) return value;
  throw usageError(
    `${flag} ${JSON.stringify(text)}`,
    `a whole number from ${least} to ${most}`,
    `Write for example ${flag}=${Math.max(least, 1)}.`,
  );
}

/** One `--pick MODALITY=REF`. @throws DreamDBError usage */
export function parsePick(text: string): readonly [modality: string, ref: string] {
  const at = text.lastIndexOf("=");
  const modality = text.slice(0, at);
  const ref = text.slice(at + 1);
  if (at > 0 && ref !== "") return [modality, ref];
  throw usageError(
    `--pick ${JSON.stringify(text)}`,
    "MODALITY=REF: the modality of a constant and the ref whose value wins",
    "Write for example --pick constant.license=trunk.",
  );
}

/** Text that nobody expanded: `$NAME`, `$(NAME)`, `${NAME}`. */
const VARIABLE = /\$(?:\(\w+\)|\{\w+\}|[A-Za-z_]\w*)/;

/**
 * Refuses text with an unexpanded variable in it.
 * @throws DreamDBError usage
 */
export function checkExpanded(what: string, text: string): void {
  const variable = VARIABLE.exec(text)?.[0];
  if (variable === undefined) return;
  const name = /\w+/.exec(variable)?.[0] ?? "NAME";
  throw usageError(
    `${what} ${JSON.stringify(text)}, with the variable ${variable} in it`,
    "text in which every variable has been replaced",
    `No shell runs in a container's command: Kubernetes replaces $(${name}) only, and only when ` +
      `${name} is set in the container's env. In a shell, write it in double quotes.`,
  );
}

/** `flag`, or else the variable, or else the default; empty variables count as unset. */
export function setting(
  flag: string | undefined,
  variable: string | undefined,
  otherwise: string | undefined,
): string | undefined {
  return flag ?? (variable === undefined || variable === "" ? otherwise : variable);
}

/** One part of so many. */
export interface Sample {
  /** From 1 to `parts`. */
  readonly part: number;
  readonly parts: number;
}

/** `3/30`: the third of thirty parts. @throws DreamDBError usage */
export function parseSample(text: string): Sample {
  const match = /^(\d{1,9})\/(\d{1,9})$/.exec(text.trim());
  const part = Number(match?.[1]);
  const parts = Number(match?.[2]);
  if (match !== null && part >= 1 && part <= parts) return { part, parts };
  throw usageError(
    `--sample ${JSON.stringify(text)}`,
    "n/t, the n-th of t parts",
    "Write for example --sample 1/10.",
  );
}
