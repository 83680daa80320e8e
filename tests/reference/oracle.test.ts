import { expect, test } from "bun:test";
import { join } from "node:path";
import { describeWithReference } from "../support/describe-reference.ts";
import { backendUrl, copyStore, unpackFixture } from "../support/fixtures.ts";
import { oracle, oracleOf } from "../support/reference.ts";

const storeOf = (release: string, name: string) =>
  join(unpackFixture("legacy-stores"), release, name);

describeWithReference("the oracle", () => {
  test("reads nothing wrong in what the reference merged itself", async () => {
    const backend = backendUrl(copyStore(storeOf("0.0.16", "full-unmerged")));
    const union = await oracle("union", backend, "trunk", "w0", "w1");
    await oracle("merge", backend, "trunk", "w0", "w1");
    expect(await oracle("check", backend, "trunk", union)).toEqual([]);
    expect(union.count).toBe(12);
  });

  test("names a lost record, an unwanted record and a changed value", async () => {
    const backend = backendUrl(storeOf("0.0.16", "full-unmerged"));
    const { records, anchors, ...rest } = await oracle("dump", backend, "trunk");
    const { "1000": first, ...others } = records;
    const problems = await oracle("check", backend, "trunk", {
      ...rest,
      anchors,
      records: { ...others, "7": first, "1001": { ...records["1001"], label: "owl" } },
    });
    expect(problems.slice(0, 2)).toEqual(["record 7 is lost", "record 1000 is not wanted"]);
    expect(problems[2]).toStartWith("record 1001: found");
  });

  test("finds the records that a second merge of rewritten cells doubled", async () => {
    const backend = backendUrl(storeOf("0.0.9", "compact-merged"));
    const { repeated, missing } = await oracle("vectors", backend, "trunk", "emb");
    expect(repeated.length).toBeGreaterThan(0);
    expect(missing).toEqual([]);
  });

  test("keeps nanosecond anchors and large integers exact", async () => {
    const backend = backendUrl(copyStore(storeOf("0.0.16", "emb-unmerged")));
    const anchor = "1800000000000000123";
    await oracle("append", backend, "trunk", [{ emb: [1, 0, 0, 0, 0, 0, 0, 0], _anchor: anchor }]);
    expect((await oracle("summary", backend, "trunk")).anchors.at(-1)).toBe(anchor);
    expect(Object.keys((await oracle("dump", backend, "trunk")).records)).toContain(anchor);
  });

  test("reports an error of the reference as its own", async () => {
    const backend = backendUrl(storeOf("0.0.16", "emb-unmerged"));
    const failure = oracle("count" as "summary", backend, "trunk").then(() => "no error", String);
    expect(await failure).toContain("KeyError");
    expect(await oracle("summary", backend, "nowhere").then(() => "", String)).toContain("nowhere");
  });

  test("asks older releases too", async () => {
    const old = oracleOf("0.0.1");
    const backend = backendUrl(storeOf("0.0.1", "full-unmerged"));
    expect(await old("summary", backend, "w0")).toEqual(await oracle("summary", backend, "w0"));
  }, 120_000);
});
