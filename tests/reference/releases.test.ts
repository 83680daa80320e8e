import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { mergeMany } from "../support/dreamdb.ts";
import { describeWithReference } from "../support/describe-reference.ts";
import { backendUrl, copyStore, unpackFixture } from "../support/fixtures.ts";
import { oracle, oracleOf, referenceRelease } from "../support/reference.ts";

const folder = unpackFixture("legacy-stores");

/** Stores of each release in which trunk, w0 and w1 have diverged and nothing is merged. */
const unmerged = readdirSync(folder).sort().flatMap((release) =>
  readdirSync(join(folder, release))
    .filter((name) => name.endsWith("-unmerged") && !name.startsWith("constant-differs"))
    .map((name) => ({ release, name }))
);

const numberOf = (release: string) => Number(release.split(".")[2]);

/** A row that fits the store; embedding-only stores have nothing else. */
function row(name: string, anchor: string, note: string) {
  const emb = [1, 0.25, 0, 0, 0, 0, 0, 0];
  return name.startsWith("full")
    ? { _anchor: anchor, emb, image: { hex: "00ff" }, label: note, name: `${note}-name` }
    : { _anchor: anchor, emb };
}

describeWithReference("merging w0 and w1 into trunk", () => {
  test("is tried with every release that has an unmerged store", () => {
    expect(new Set(unmerged.map(({ release }) => release)).size).toBe(9);
    expect(unmerged).toHaveLength(18);
  });

  for (const { release, name } of unmerged) {
    test(`of ${release} ${name} gives exactly the union, in one Manifest`, async () => {
      const backend = backendUrl(copyStore(join(folder, release, name)));
      const union = await oracle("union", backend, "trunk", "w0", "w1");
      const before = await oracle("history", backend, "trunk");

      const { exitCode, document, stderr } = await mergeMany(backend, ["w0", "w1"]);
      expect({ exitCode, status: document.status, stderr }).toMatchObject({
        exitCode: 0,
        status: "merged",
      });

      expect(await oracle("check", backend, "trunk", union)).toEqual([]);
      const after = await oracle("history", backend, "trunk");
      expect(after).toHaveLength(before.length + 1);
      expect(after[0]?.parents).toBe(3);
    });

    test(`of ${release} ${name} can be read by ${release} itself`, async () => {
      const backend = backendUrl(copyStore(join(folder, release, name)));
      const union = await oracle("union", backend, "trunk", "w0", "w1");
      await mergeMany(backend, ["w0", "w1"]);
      const maker = oracleOf(release);
      const { count, anchors } = union;
      expect(await maker("summary", backend, "trunk")).toEqual({ count, anchors });
      // Before 0.0.3 the reference could read nothing but anchors and vectors.
      if (numberOf(release) >= 3) expect(await maker("check", backend, "trunk", union)).toEqual([]);
    }, 120_000);

    test(`of ${release} ${name} can be worked on by a release that writes its form`, async () => {
      const backend = backendUrl(copyStore(join(folder, release, name)));
      const { count } = await oracle("union", backend, "trunk", "w0", "w1");
      await mergeMany(backend, ["w0", "w1"]);
      const writer = numberOf(release) <= 8 ? oracleOf(release) : oracle;
      await writer("append", backend, "trunk", [row(name, "1800000000000000001", "one")]);
      await writer("branch", backend, "trunk", "later");
      await writer("append", backend, "later", [row(name, "1800000000000000002", "two")]);
      await writer("append", backend, "trunk", [row(name, "1800000000000000003", "three")]);
      // The embedding is the only kind of field that 0.0.1 could merge.
      if (numberOf(release) >= 3 || name.startsWith("emb")) {
        await writer("merge", backend, "trunk", "later");
      } else await mergeMany(backend, ["later"]);
      await writer("compact", backend, "trunk");
      const dump = await oracle("dump", backend, "trunk");
      expect(dump.count).toBe(count + 3);
      expect(await oracle("check", backend, "trunk", dump)).toEqual([]);
    }, 120_000);
  }

  test("of a store of three branches and nanosecond anchors keeps every record", async () => {
    const backend = backendUrl(copyStore(unpackFixture("demo-store")));
    const union = await oracle("union", backend, "trunk", "w0", "w1", "w2");
    const { exitCode } = await mergeMany(backend, ["w0", "w1", "w2"]);
    expect(exitCode).toBe(0);
    expect(union.count).toBe(1260);
    expect(await oracle("check", backend, "trunk", union)).toEqual([]);
    expect((await oracle("history", backend, "trunk"))[0]?.parents).toBe(4);
    expect(await oracle("distinct", backend, "trunk", "animal")).toHaveLength(4);
  });

  test("works on a store whose records the reference deleted, and keeps them deleted", async () => {
    const backend = backendUrl(copyStore(join(folder, referenceRelease, "full-unmerged")));
    await oracle("delete", backend, "w0", ["2000"]);
    await oracle("delete", backend, "trunk", ["1001"]);
    const union = await oracle("union", backend, "trunk", "w0", "w1");
    await mergeMany(backend, ["w0", "w1"]);
    const { anchors } = await oracle("summary", backend, "trunk");
    expect(anchors).toEqual(union.anchors.filter((anchor) => !["1001", "2000"].includes(anchor)));
  });
});
