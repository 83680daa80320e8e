import { beforeAll, expect, test } from "bun:test";
import { once } from "node:events";
import { compiledExecutable, mergeMany, type MergeRun } from "../support/dreamdb.ts";
import { describeWithReference } from "../support/describe-reference.ts";
import { backendUrl, scratchFolder } from "../support/fixtures.ts";
import { collect, oracle, referenceMissing, runPython, startPython } from "../support/reference.ts";

const rounds = 200;
const firstOfWriter = 1_800_000_000_000_000_000n;
const firstOfBranches = 1_900_000_000_000_000_000n;
/** The exit code of a merge that lost the race for the ref; it may simply be run again. */
const lostRace = 5;

/** A new store with one field "label" and one record, made by the reference. */
async function newStore(): Promise<string> {
  const folder = scratchFolder();
  const made = await runPython("tests/reference/new-store.py", [folder]);
  expect(made).toMatchObject({ exitCode: 0, stderr: "" });
  return backendUrl(folder);
}

/** Forks `branch` from trunk and appends one record to it. */
async function fork(backend: string, branch: string, anchor: bigint): Promise<void> {
  await oracle("branch", backend, "trunk", branch);
  await oracle("append", backend, branch, [{ label: branch, _anchor: String(anchor) }]);
}

/** Merges again for as long as the race for the ref is lost, which must end some time. */
async function mergeUntilWon(
  backend: string,
  branches: readonly string[],
  command: readonly string[],
): Promise<MergeRun> {
  let run = await mergeMany(backend, branches, { command });
  for (let tries = 1; run.exitCode === lostRace && tries < 100; tries++) {
    run = await mergeMany(backend, branches, { command });
  }
  return run;
}

describeWithReference("merges beside other writers", () => {
  if (referenceMissing === undefined) beforeAll(compiledExecutable, 300_000);

  test(`lose no update in ${rounds} rounds beside a reference that appends to trunk`, async () => {
    const command = [await compiledExecutable()];
    const backend = await newStore();
    const writer = await startPython("tests/reference/writer.py", [
      backend,
      "trunk",
      String(firstOfWriter),
    ]);
    const written = collect(writer);
    await Promise.race([once(writer.stdout, "data"), written]);

    const expected: string[] = ["1"];
    for (let round = 0; round < rounds; round++) {
      const anchor = firstOfBranches + BigInt(round);
      await fork(backend, `w${round}`, anchor);
      expect(await mergeUntilWon(backend, [`w${round}`], command)).toMatchObject({ exitCode: 0 });
      expected.push(String(anchor));
    }
    writer.stdin.end();
    const { stdout, stderr, exitCode } = await written;
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const { records } = JSON.parse(stdout.split("\n")[1] ?? "") as { readonly records: number };
    for (let i = 0; i < records; i++) expected.push(String(firstOfWriter + BigInt(i)));

    const { count, anchors } = await oracle("summary", backend, "trunk");
    expect(new Set(anchors)).toEqual(new Set(expected));
    expect(count).toBe(expected.length);
    expect(await oracle("query", backend, "trunk", "label", "==", "writer")).toHaveLength(records);
  }, 600_000);

  test("of two at once each is published, or says so and can be run again", async () => {
    const command = [await compiledExecutable()];
    const backend = await newStore();
    const expected = ["1"];
    for (let round = 0; round < 10; round++) {
      const names = [0, 1, 2, 3].map((number) => `r${round}w${number}`);
      for (const [number, name] of names.entries()) {
        const anchor = firstOfBranches + BigInt(4 * round + number);
        await fork(backend, name, anchor);
        expected.push(String(anchor));
      }
      const pairs = [names.slice(0, 2), names.slice(2)];
      const runs = await Promise.all(pairs.map((pair) => mergeMany(backend, pair, { command })));
      const exits = runs.map((run) => run.exitCode);
      expect([0, lostRace]).toEqual(expect.arrayContaining(exits));
      expect(exits).toContain(0);
      for (const [index, run] of runs.entries()) {
        if (run.exitCode === 0) continue;
        const again = await mergeUntilWon(backend, pairs[index] ?? [], command);
        expect(again).toMatchObject({ exitCode: 0, document: { status: "merged" } });
      }
    }
    const { count, anchors } = await oracle("summary", backend, "trunk");
    expect(anchors).toEqual(expected);
    expect(count).toBe(expected.length);
  }, 600_000);
});
