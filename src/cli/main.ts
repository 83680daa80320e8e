#!/usr/bin/env bun
/**
 * The executable's entry.
 *
 * @module
 */

import process from "node:process";
import { runCommandLine } from "./run-command-line.ts";
import { endProcess, processTerminal } from "./terminal.ts";

await endProcess(await runCommandLine(process.argv.slice(2), processTerminal()));
