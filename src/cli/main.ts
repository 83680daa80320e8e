#!/usr/bin/env bun
/**
 * The executable's entry.
 *
 * @module
 */

import process from "node:process";
import { restart } from "./restart.ts";

const args = process.argv.slice(2);
restart(args);
// Loaded only now: a restart would load everything twice.
const { runCommandLine } = await import("./run-command-line.ts");
const { endProcess, processTerminal } = await import("./terminal.ts");
await endProcess(await runCommandLine(args, processTerminal()));
