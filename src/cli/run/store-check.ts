/**
 * Runs `store check`: whether publishing to a store is safe, found out by trying.
 *
 * @module
 */

import { checkStore } from "../../store/check.ts";
import type { StoreOptions } from "../common-options.ts";
import { EXIT } from "../exit-codes.ts";
import { openOptions } from "../open-store.ts";
import type { Outcome, RunContext } from "../outcome.ts";
import { wrap } from "../style.ts";

const WIDTH = 80;

/** Tries out a store; one that cannot publish safely ends with the exit code for usage. */
export async function runStoreCheck(
  options: StoreOptions,
  context: RunContext,
): Promise<Outcome> {
  const { url, publishable, findings } = await checkStore(options.backend, {
    ...openOptions(options, context),
    signal: context.signal,
  });
  const { style } = context;
  const paint = { ok: style.green, failed: style.red, note: style.yellow };
  const lines = findings.flatMap(({ name, result, text }) => [
    `${paint[result](result.padEnd(6))}  ${name}`,
    ...wrap(text, WIDTH, "        "),
  ]);
  return {
    exitCode: publishable ? EXIT.done : EXIT.usage,
    document: {
      status: publishable ? "ok" : "not-publishable",
      backend: url,
      publishable,
      findings,
      error: null,
    },
    text: `${lines.join("\n")}\n\n${url} ${
      publishable ? "can be published to" : "cannot be published to safely"
    }\n`,
  };
}
