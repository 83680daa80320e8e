import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describeWithReference } from "../support/describe-reference.ts";
import { mergeMany } from "../support/dreamdb.ts";
import { backendUrl, scratchFolder } from "../support/fixtures.ts";
import { oracle, runPython } from "../support/reference.ts";

setDefaultTimeout(120_000);

const WORKERS = 3;
const ROWS = 100;

describeWithReference("the worker of deploy/ingest", () => {
  const ingest = (store: string, source: string, slice: string) =>
    runPython("deploy/ingest/ingest.py", [
      ...["--backend", backendUrl(store), "--ref-source", "trunk", "--source", source],
      ...[`--slice=${slice}`, `--branch=ingest-w-${slice.split("/")[0]}`],
    ]);

  test("ingests each record once, however often and at whatever time it is run", async () => {
    const folder = scratchFolder();
    mkdirSync(join(folder, "store"));
    const [store, source] = [join(folder, "store/dataset"), join(folder, "rows.jsonl")];
    const made = await runPython("tests/deploy/acceptance/make-source.py", [
      store,
      source,
      String(ROWS),
    ]);
    expect(made).toMatchObject({ exitCode: 0 });
    const slices = Array.from({ length: WORKERS }, (_, index) => `${index}/${WORKERS}`);
    // Two pods of one index may overlap.
    const runs = [...slices, ...slices].map((slice) => ingest(store, source, slice));
    for (const run of await Promise.all(runs)) {
      expect(run).toMatchObject({ exitCode: 0 });
    }
    const again = await ingest(store, source, "1/3");
    expect(again.stdout).toBe("ingest-w-1: 0 records added\n");
    const { document } = await mergeMany(backendUrl(store), ["ingest-w-{0..2}"]);
    expect(document.status).toBe("merged");
    const { count, doubled } = await oracle("dump", backendUrl(store), "trunk");
    expect({ count, doubled }).toEqual({ count: ROWS, doubled: [] });
  });

  test("ends with 2 for what another try cannot mend", async () => {
    const { exitCode, stderr } = await ingest(scratchFolder(), "/no/such/file", "3/3");
    expect(exitCode).toBe(2);
    expect(stderr).toContain("the index must be below the count");
  });
});
