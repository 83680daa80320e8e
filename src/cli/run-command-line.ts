/**
 * From arguments to an exit code: parse, run, print one result.
 *
 * @module
 */

import { CommanderError } from "commander";
import { DreamDBError } from "../errors.ts";
import { EXIT, exitCodeOf } from "./exit-codes.ts";
import { failedDocument, failureText, toFault } from "./failure.ts";
import { DOCUMENT_VERSION, documentText } from "./json.ts";
import { failedMergeDocument } from "./merge-document.ts";
import type { Invocation, Outcome } from "./outcome.ts";
import { createProgram } from "./program.ts";
import { redactor } from "./redact.ts";
import { createStopper } from "./stop.ts";
import { createStyle, usesColor } from "./style.ts";
import type { ColorMode } from "./style.ts";
import type { Terminal } from "./terminal.ts";
import { usageError } from "./values.ts";

/**
 * Runs one command line to its end.
 * @param argv the arguments behind the program's name
 * @returns the exit code
 */
export async function runCommandLine(
  argv: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const redact = redactor(terminal.environment);
  const safe: Terminal = {
    ...terminal,
    out: (text) => terminal.out(redact(text)),
    err: (text) => terminal.err(redact(text)),
  };
  let parsed: Invocation | number;
  try {
    parsed = await parse(argv, safe);
  } catch (error) {
    return reportUnparsed(argv, safe, toFault(error));
  }
  return typeof parsed === "number" ? parsed : await runInvocation(parsed, safe);
}

/** The command, or the exit code when help or the version was all that was asked for. */
async function parse(argv: readonly string[], terminal: Terminal): Promise<Invocation | number> {
  if (argv[0] === "complete") {
    (await import("./run/completion.ts")).answerCompletion(argv.slice(1));
    return EXIT.done;
  }
  let invocation: Invocation | undefined;
  const program = createProgram({
    environment: terminal.environment,
    invoke: (parsed) => invocation = parsed,
  });
  const output = {
    writeOut: (text: string) => terminal.out(text),
    writeErr: () => {},
    outputError: () => {},
  };
  for (const command of allCommands(program)) command.configureOutput(output);
  if (argv.length === 0) {
    throw usageError(
      "no command",
      program.commands.map((command) => command.name()).join(", "),
      "See `dreamdb --help`.",
    );
  }
  try {
    await program.parseAsync([...argv], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return EXIT.done;
    throw commanderFault(error, argv);
  }
  if (invocation === undefined) throw new Error("no command was run");
  return invocation;
}

function* allCommands(
  command: ReturnType<typeof createProgram>,
): Generator<ReturnType<typeof createProgram>> {
  yield command;
  for (const child of command.commands) yield* allCommands(child);
}

function commanderFault(error: CommanderError, argv: readonly string[]): DreamDBError {
  const [first = "", ...hints] = error.message.replace(/^error: /, "").split("\n");
  const hint = hints.join(" ").replace(/[()]/g, "").trim();
  const command = commandName(argv);
  const help = `See \`dreamdb${command === null ? "" : ` ${command}`} --help\`.`;
  return usageError(
    error.code === "commander.help" ? "no command" : first,
    "the commands and options that the help lists",
    hint === "" ? help : `${hint} ${help}`,
  );
}

/** The command that `argv` names, as well as can be told when it cannot be parsed. */
function commandName(argv: readonly string[]): string | null {
  const program = createProgram({ environment: {}, invoke: () => {} });
  const words = argv.filter((word) => !word.startsWith("-"));
  const command = program.commands.find((one) => one.name() === words[0]);
  if (command === undefined) return null;
  const sub = command.commands.find((one) => one.name() === words[1]);
  return sub === undefined ? command.name() : `${command.name()} ${sub.name()}`;
}

function hasFlag(argv: readonly string[], flag: string): boolean {
  const end = argv.indexOf("--");
  return (end < 0 ? argv : argv.slice(0, end)).includes(flag);
}

function reportUnparsed(
  argv: readonly string[],
  terminal: Terminal,
  error: DreamDBError,
): number {
  const command = commandName(argv);
  if (hasFlag(argv, "--json")) {
    const document = command === "merge-many" || command === "merge"
      ? failedMergeDocument({
        backend: null,
        ref: null,
        dryRun: hasFlag(argv, "--dry-run") || hasFlag(argv, "-n"),
      }, error)
      : failedDocument(error);
    terminal.out(documentText({ version: DOCUMENT_VERSION, command, ...document }));
  }
  const mode = (["always", "never"] as const).find((one) => hasFlag(argv, `--color=${one}`));
  terminal.err(
    failureText(error, styleFor(terminal, mode ?? "auto", false), hasFlag(argv, "--debug")),
  );
  return exitCodeOf(error.fault);
}

async function runInvocation(invocation: Invocation, terminal: Terminal): Promise<number> {
  const { command, options } = invocation;
  const stopper = createStopper(terminal, options.timeout);
  let outcome: Outcome;
  try {
    outcome = await invocation.run({
      terminal,
      options,
      style: styleFor(terminal, options.color, true),
      signal: stopper.signal,
      note: (text) => options.quiet || terminal.err(`${text}\n`),
      movingRef: (ref) => stopper.moving = ref,
    });
  } catch (thrown) {
    const error = toFault(thrown, stopper.signal);
    outcome = {
      exitCode: exitCodeOf(error.fault),
      document: invocation.failed(error),
      text: "",
      error,
    };
  } finally {
    stopper.dispose();
  }
  if (options.json) {
    terminal.out(documentText({ version: DOCUMENT_VERSION, command, ...outcome.document }));
  } else if (outcome.text !== "") terminal.out(outcome.text);
  if (outcome.error !== undefined) {
    const style = styleFor(terminal, options.color, false);
    terminal.err(failureText(outcome.error, style, options.debug));
  }
  return outcome.exitCode;
}

function styleFor(terminal: Terminal, mode: ColorMode, out: boolean) {
  const isTerminal = out ? terminal.outIsTerminal : terminal.errIsTerminal;
  return createStyle(usesColor(mode, terminal.environment, isTerminal));
}
