import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { projectRoot, scratchFolder } from "../support/fixtures.ts";
import { collect, type ProgramResult } from "../support/reference.ts";

/** How one run of the Action ended. */
export interface ActionRun extends ProgramResult {
  readonly outputs: Readonly<Record<string, string>>;
  readonly summary: string;
  readonly workspace: string;
}

/** What a run is given besides its inputs. */
export interface ActionOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** Files of the workspace by name. */
  readonly files?: Readonly<Record<string, string>>;
  /** The event that started the workflow. */
  readonly event?: { readonly name: string; readonly payload: unknown };
  /** Called with the running process. */
  readonly running?: (child: ReturnType<typeof spawn>) => void;
}

let installed: string | undefined;

/** The Action as a runner unpacks it: what is committed, away from any node_modules. */
export function installedAction(): string {
  if (installed === undefined) {
    installed = mkdtempSync(join(tmpdir(), "dreamdb-action-"));
    for (const name of ["action.yml", "package.json", "dist"]) {
      cpSync(join(projectRoot, name), join(installed, name), { recursive: true });
    }
  }
  return installed;
}

/** Removes what `installedAction` made; for the end of a file of tests. */
export function removeInstalledAction(): void {
  if (installed !== undefined) rmSync(installed, { recursive: true, force: true });
  installed = undefined;
}

/**
 * Runs the bundled Action under Node as the runner does: inputs in `INPUT_…` variables, outputs and
 * summary through files.
 */
export async function runAction(
  inputs: Readonly<Record<string, string>>,
  options: ActionOptions = {},
): Promise<ActionRun> {
  const folder = scratchFolder();
  const workspace = join(folder, "workspace");
  const temporary = join(folder, "temp");
  for (const name of [workspace, temporary]) mkdirSync(name);
  for (const [name, text] of Object.entries(options.files ?? {})) {
    writeFileSync(join(workspace, name), text);
  }
  const file = (name: string, text = "") => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const output = file("output");
  const summary = file("summary");
  const child = spawn("node", [join(installedAction(), "dist/index.js")], {
    cwd: workspace,
    stdio: "pipe",
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: folder,
      GITHUB_ACTIONS: "true",
      GITHUB_WORKSPACE: workspace,
      RUNNER_TEMP: temporary,
      GITHUB_OUTPUT: output,
      GITHUB_STEP_SUMMARY: summary,
      GITHUB_EVENT_NAME: options.event?.name ?? "push",
      GITHUB_EVENT_PATH: file("event.json", JSON.stringify(options.event?.payload ?? {})),
      ...Object.fromEntries(
        Object.entries(inputs).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value]),
      ),
      ...options.environment,
    },
  });
  child.stdin.end();
  options.running?.(child);
  const result = await collect(child);
  const written = readFileSync(output, "utf8");
  const outputs = [...written.matchAll(/^(.+?)<<(ghadelimiter_\S+)\n([\s\S]*?)\n\2$/gm)];
  return {
    ...result,
    outputs: Object.fromEntries(outputs.map(([, name = "", , value = ""]) => [name, value])),
    summary: readFileSync(summary, "utf8"),
    workspace,
  };
}
