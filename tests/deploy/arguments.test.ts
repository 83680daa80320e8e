import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { dreamdb } from "../support/dreamdb.ts";
import { backendUrl, copyStore, unpackFixture } from "../support/fixtures.ts";
import { deployedFiles } from "./manifests.ts";

setDefaultTimeout(60_000);

/** The arguments of the merge as they stand in a file, quotes and all left out. */
function mergeArguments(text: string): readonly string[] {
  const lines = text.slice(text.indexOf("- merge-many")).split("\n");
  const end = lines.findIndex((line) => !line.trimStart().startsWith("- "));
  return lines.slice(0, end).map((line) => line.trim().slice(2));
}

for (const path of ["base/merge-job.yaml", "argo/workflow.yaml"]) {
  test(`what ${path} says to dreamdb merges`, async () => {
    const store = copyStore(join(unpackFixture("golden/stores"), "disjoint-3/store"));
    const text = deployedFiles().find(([name]) => name === path)?.[1] ?? "";
    const args = mergeArguments(text).map((word) =>
      word.replace("$(DREAMDB_BACKEND)", backendUrl(store))
        .replace("$(DREAMDB_REF)", "trunk")
        .replace(/\$\(BRANCHES\)|\{\{workflow\.parameters\.branches\}\}/, "w{0..2}")
    );
    expect(args.length).toBeGreaterThan(3);
    const { stdout, exitCode } = await dreamdb(args);
    expect(stdout).toContain("merged into trunk: 3 branches");
    expect(exitCode).toBe(0);
  });
}
