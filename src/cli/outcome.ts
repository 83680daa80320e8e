/**
 * How a command runs and what it gives back. A command prints nothing itself: it returns one
 * document and the same as text, and the caller prints one of both.
 *
 * @module
 */

import type { DreamDBError } from "../errors.ts";
import type { Environment } from "./values.ts";
import type { ExitCode } from "./exit-codes.ts";
import type { ColorMode, Style } from "./style.ts";
import type { Terminal } from "./terminal.ts";

/** How progress is shown on stderr. */
export type ProgressMode = "auto" | "plain" | "json" | "none";

/** What every command can be told. */
export interface CommonOptions {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly debug: boolean;
  readonly color: ColorMode;
  readonly progress: ProgressMode;
  /** Milliseconds; undefined for no limit. */
  readonly timeout: number | undefined;
}

/** What a running command may use. */
export interface RunContext {
  readonly terminal: Terminal;
  readonly options: CommonOptions;
  readonly style: Style;
  /** Aborted by a signal or the time limit. */
  readonly signal: AbortSignal;
  /** A message for people, on stderr, unless they asked for quiet. */
  note(text: string): void;
  /** The ref whose write is under way and may have been applied; undefined when none is. */
  movingRef(ref: string | undefined): void;
}

/** The end of a command. */
export interface Outcome {
  readonly exitCode: ExitCode;
  /** `version` and `command` are added by the caller; `status` and `error` belong to it. */
  readonly document: Readonly<Record<string, unknown>>;
  /** The same for people. */
  readonly text: string;
  /** Why the command failed; for people it goes to stderr. */
  readonly error?: DreamDBError;
}

/** A command with its arguments, ready to run. */
export interface Invocation {
  readonly command: string;
  readonly options: CommonOptions;
  /** The document for a failure outside of `run`. */
  failed(error: DreamDBError): Readonly<Record<string, unknown>>;
  run(context: RunContext): Promise<Outcome>;
}

/** What the definition of commands hands out. */
export interface ProgramEffects {
  readonly environment: Environment;
  /** Takes the command that was parsed. */
  invoke(invocation: Invocation): void;
}
