/**
 * Defines `branch create`, `branch list` and `branch delete`.
 *
 * @module
 */

import type { Command } from "commander";
import { addCommonOptions, addStoreOptions, readRef } from "../common-options.ts";
import type { ProgramEffects } from "../outcome.ts";
import { checkExpanded } from "../values.ts";
import { act } from "./act.ts";

/** Adds the commands. */
export function defineBranchCommands(program: Command, effects: ProgramEffects): void {
  const branch = program.command("branch").helpCommand(false).description(
    "Create, list and delete refs.",
  );
  defineCreate(branch, effects);
  defineList(branch, effects);
  defineDelete(branch, effects);
}

function defineCreate(branch: Command, effects: ProgramEffects): void {
  const command = branch.command("create")
    .description("Create a ref at the tip of another ref.")
    .argument("<name>", "the new ref")
    .option("--from <ref>", "a ref or an address (default: $DREAMDB_REF, then trunk)");
  addStoreOptions(command, true);
  addCommonOptions(command, [
    "dreamdb branch create ingest-w-0 --backend file:///data/store --from trunk",
  ]);
  act(
    "branch create",
    command,
    effects,
    (values, name: string) => {
      checkExpanded("the name", name);
      return {
        name,
        from: (values["from"] as string | undefined) ?? readRef({}, effects.environment),
      };
    },
    async (options, context) =>
      await (await import("../run/branch.ts")).runBranchCreate(options, context),
  );
}

function defineList(branch: Command, effects: ProgramEffects): void {
  const command = branch.command("list")
    .description("List refs and the Manifests they hold.")
    .argument("[prefix]", "only names that begin with it", "");
  addStoreOptions(command, false);
  addCommonOptions(command, [
    "dreamdb branch list --backend file:///data/store",
    "dreamdb branch list ingest-w- -b s3://lake/clips --json",
  ]);
  act(
    "branch list",
    command,
    effects,
    (_values, prefix: string) => {
      checkExpanded("the prefix", prefix);
      return { prefix };
    },
    async (options, context) =>
      await (await import("../run/branch.ts")).runBranchList(options, context),
  );
}

function defineDelete(branch: Command, effects: ProgramEffects): void {
  const command = branch.command("delete")
    .description("Delete a ref. Objects stay; a gc may then take those nothing else reaches.")
    .argument("<name>", "the ref")
    .option("-y, --yes", "do it");
  addStoreOptions(command, true);
  addCommonOptions(command, [
    "dreamdb branch delete ingest-w-0 --yes --backend file:///data/store",
  ]);
  act(
    "branch delete",
    command,
    effects,
    (values, name: string) => {
      checkExpanded("the name", name);
      return { name, confirmed: values["yes"] === true };
    },
    async (options, context) =>
      await (await import("../run/branch.ts")).runBranchDelete(options, context),
  );
}
