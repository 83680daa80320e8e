/**
 * Defines `store check` and `completion`.
 *
 * @module
 */

import { Argument } from "commander";
import type { Command } from "commander";
import { addCommonOptions, addStoreOptions, readCommon } from "../common-options.ts";
import { failedDocument } from "../failure.ts";
import type { ProgramEffects } from "../outcome.ts";
import { act } from "./act.ts";

/** Adds `store check`. */
export function defineStoreCommands(program: Command, effects: ProgramEffects): void {
  const store = program.command("store").helpCommand(false).description(
    "Look at a store as a whole.",
  );
  const command = store.command("check")
    .description("Find out by trying whether merges can be published safely to a store.");
  addStoreOptions(command, true);
  addCommonOptions(command, ["dreamdb store check --backend s3://lake/clips"]);
  act(
    "store check",
    command,
    effects,
    () => ({}),
    async (options, context) =>
      await (await import("../run/store-check.ts")).runStoreCheck(options, context),
  );
}

/** Adds `completion`. */
export function defineCompletionCommand(program: Command, effects: ProgramEffects): void {
  const command = program.command("completion")
    .description("Print the script that lets a shell complete commands and options.")
    .addArgument(
      new Argument("<shell>", "the shell").choices(["bash", "zsh", "fish", "powershell"]),
    )
    .addHelpText(
      "after",
      "\nExamples:\n" +
        "  source <(dreamdb completion bash)      # needs the package bash-completion\n" +
        "  dreamdb completion zsh > ~/.zfunc/_dreamdb\n" +
        "  dreamdb completion fish > ~/.config/fish/completions/dreamdb.fish\n" +
        "  dreamdb completion powershell | Out-String | Invoke-Expression",
    );
  command.action((shell: string) => {
    effects.invoke({
      command: "completion",
      options: readCommon({ color: "auto", progress: "none" }),
      failed: failedDocument,
      run: async () => (await import("../run/completion.ts")).runCompletion(shell),
    });
  });
}
