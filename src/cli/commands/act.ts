/**
 * What commands about a store have in common: options are read when the command is parsed, and the
 * code that acts on them is loaded when it runs.
 *
 * @module
 */

import type { Command } from "commander";
import type { StoreOptions, Values } from "../common-options.ts";
import { readCommon, readStore } from "../common-options.ts";
import { failedDocument } from "../failure.ts";
import type { Outcome, ProgramEffects, RunContext } from "../outcome.ts";

/**
 * Says what a command does.
 * @param name its full name, as in "branch create"
 * @param read makes of the given options and the arguments what the command needs to know beside
 * its store; may throw DreamDBError usage
 */
export function act<Given extends readonly (string | undefined)[], Options>(
  name: string,
  command: Command,
  effects: ProgramEffects,
  read: (values: Values, ...given: Given) => Options,
  run: (options: StoreOptions & Options, context: RunContext) => Promise<Outcome>,
): void {
  command.action((...given: Given) => {
    const values = command.opts();
    const own = read(values, ...given);
    const options = { ...readStore(values, effects.environment), ...own };
    effects.invoke({
      command: name,
      options: readCommon(values),
      failed: failedDocument,
      run: async (context) => await run(options, context),
    });
  });
}
