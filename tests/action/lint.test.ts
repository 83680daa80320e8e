import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../support/fixtures.ts";

setDefaultTimeout(60_000);

const go = ".cache/bin";
const python = ".cache/python/workflow-tools/bin";

const filesIn = (folder: string, ending: string) =>
  readdirSync(join(projectRoot, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .map((name) => `${folder}/${name}`)
    .sort();

const workflows = [
  ...filesIn(".github/workflows", ".yml"),
  ...filesIn("tests/action/workflows", ".yml"),
];
const scripts = [
  "install.sh",
  ".ci/run",
  ...filesIn("scripts", ".sh"),
  ...filesIn("deploy", ".sh"),
];

const linters: readonly (readonly [name: string, command: string, args: readonly string[]])[] = [
  [
    "workflows, with the inputs of action.yml and the scripts in them: actionlint",
    `${go}/actionlint`,
    ["-no-color", "-shellcheck", join(projectRoot, python, "shellcheck"), ...workflows],
  ],
  ["workflows, for security: zizmor", `${python}/zizmor`, [
    ...["--offline", "--no-progress", "--color=never", "--config=.github/zizmor.yml"],
    ...["action.yml", ...workflows],
  ]],
  ["workflows by their schema", `${python}/check-jsonschema`, [
    ...["--builtin-schema", "vendor.github-workflows", ...workflows],
  ]],
  ["action.yml by its schema", `${python}/check-jsonschema`, [
    ...["--builtin-schema", "vendor.github-actions", "action.yml"],
  ]],
  ["dependabot.yml by its schema", `${python}/check-jsonschema`, [
    ...["--builtin-schema", "vendor.dependabot", ".github/dependabot.yml"],
  ]],
  ["shell scripts: shellcheck", `${python}/shellcheck`, scripts],
  ["Dockerfiles: hadolint", `${python}/hadolint`, ["Dockerfile", "deploy/ingest/Dockerfile"]],
];

describe("linters find nothing in", () => {
  for (const [name, command, args] of linters) {
    const missing = !existsSync(join(projectRoot, command));
    if (missing) {
      console.warn(
        `skipped: ${name}: ${command} is missing, run scripts/install-workflow-tools.sh`,
      );
    }
    test.skipIf(missing)(name, () => {
      const { status, stdout, stderr } = spawnSync(join(projectRoot, command), args, {
        cwd: projectRoot,
        encoding: "utf8",
      });
      expect({ status, said: status === 0 ? "" : stdout + stderr }).toEqual({
        status: 0,
        said: "",
      });
    });
  }
});
