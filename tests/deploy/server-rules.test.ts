import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot, scratchFolder } from "../support/fixtures.ts";
import { deployedFiles, kustomized, kustomizeMissing } from "./manifests.ts";

setDefaultTimeout(60_000);

const jobvalidate = join(projectRoot, ".cache/bin/jobvalidate");
const missing = existsSync(jobvalidate)
  ? undefined
  : "jobvalidate is missing: run scripts/install-deploy-tools.sh";
if (missing !== undefined) console.warn(`skipped: the API server's rules: ${missing}`);

/** What the rules of the API server say of a file's Jobs. */
function validate(text: string): { readonly valid: boolean; readonly said: string } {
  const file = join(scratchFolder(), "jobs.yaml");
  writeFileSync(file, text);
  const { status, stdout, stderr } = spawnSync(jobvalidate, [file], { encoding: "utf8" });
  return { valid: status === 0, said: (stdout + stderr).replaceAll(file, "FILE") };
}

const base = (name: string) => readFileSync(join(projectRoot, "deploy/base", name), "utf8");

describe.skipIf(missing !== undefined)("by the API server's own rules", () => {
  for (const [path, text] of deployedFiles().filter(([path]) => /job\.yaml$/.test(path))) {
    test(`${path} is valid`, () => {
      const { valid, said } = validate(text);
      expect({ valid, said }).toEqual({ valid: true, said: expect.stringContaining("is valid") });
    });
  }

  test.skipIf(kustomizeMissing !== undefined)("the overlays are valid", () => {
    for (const folder of ["base", "overlays/64-workers", "overlays/file-store"]) {
      expect(validate(kustomized(folder)).said.match(/is valid/g)).toHaveLength(2);
    }
  });

  test("the Jobs of the design document are not (docs/kubernetes.md)", () => {
    const text = readFileSync(join(projectRoot, "tests/deploy/design-document.yaml"), "utf8");
    const { valid, said } = validate(text);
    expect(valid).toBe(false);
    expect(said.match(/restartPolicy: Required value/g)).toHaveLength(2);
  });

  const broken: readonly (readonly [string, string, string, string, string])[] = [
    [
      "no restartPolicy, as in the design document",
      "merge-job.yaml",
      "      restartPolicy: Never\n",
      "",
      `Required value: valid values: "OnFailure", "Never"`,
    ],
    [
      "a misspelt field",
      "merge-job.yaml",
      "backoffLimit: 4",
      "backofLimit: 4",
      `unknown field "backofLimit"`,
    ],
    [
      "exit code 0 among those that fail the Job",
      "merge-job.yaml",
      "values: [8]",
      "values: [0]",
      "must not be 0",
    ],
    [
      "exit codes out of order",
      "merge-job.yaml",
      "values: [2, 3, 4, 6, 9]",
      "values: [3, 2]",
      "must be ordered",
    ],
    [
      "maxFailedIndexes without backoffLimitPerIndex",
      "ingest-job.yaml",
      "  backoffLimitPerIndex: 3\n",
      "",
      "job.spec.backoffLimitPerIndex: Required value",
    ],
    [
      "a volume that is not there",
      "merge-job.yaml",
      "- { name: tmp, mountPath: /tmp }",
      "- { name: temp, mountPath: /tmp }",
      `Not found: "temp"`,
    ],
  ];
  for (const [what, file, from, to, message] of broken) {
    test(`${what} is refused`, () => {
      expect(base(file)).toContain(from);
      const { valid, said } = validate(base(file).replace(from, to));
      expect({ valid, said }).toEqual({ valid: false, said: expect.stringContaining(message) });
    });
  }
});
