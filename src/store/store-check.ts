/**
 * What was found by trying out a store.
 *
 * @module
 */

import type { CallOptions } from "./connector.ts";

/** Size of the race. */
export interface CheckOptions extends CallOptions {
  /** Writers that write at the same moment; default 32. */
  readonly writers?: number;
  /** How often they do; default 5. */
  readonly rounds?: number;
}

/** One thing that was tried. */
export interface StoreFinding {
  readonly name: string;
  /** `note`: not needed to publish, but good to know. */
  readonly result: "ok" | "failed" | "note";
  /** One sentence in plain words. */
  readonly text: string;
}

/** All that was found. */
export interface StoreCheck {
  readonly url: string;
  /** Whether publishing beside other writers is safe, as far as trying can tell. */
  readonly publishable: boolean;
  readonly findings: readonly StoreFinding[];
}

/** The result of a check from its findings. */
export function storeCheck(url: string, findings: readonly StoreFinding[]): StoreCheck {
  return {
    url,
    publishable: findings.every((finding) => finding.result !== "failed"),
    findings,
  };
}

/** A finding that all is well. */
export function ok(name: string, text: string): StoreFinding {
  return { name, result: "ok", text };
}

/** A finding that forbids publishing. */
export function failed(name: string, text: string): StoreFinding {
  return { name, result: "failed", text };
}

/** A finding that is good to know. */
export function note(name: string, text: string): StoreFinding {
  return { name, result: "note", text };
}

/**
 * The finding of a race.
 * @param several rounds in which more than one writer won
 * @param none rounds in which nobody won
 */
export function raceFinding(
  { writers, rounds }: { readonly writers: number; readonly rounds: number },
  several: number,
  none: number,
): StoreFinding {
  const name = `race of ${writers} writers`;
  if (several > 0) {
    return failed(
      name,
      `The store checks conditions, but not atomically: in ${several} of ${rounds} rounds more ` +
        "than one writer won. Updates would be lost.",
    );
  }
  return none > 0
    ? note(name, `In ${none} of ${rounds} rounds nobody won, else one.`)
    : ok(name, `Exactly one writer won each of ${rounds} rounds.`);
}
