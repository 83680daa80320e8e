import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Connector } from "../../src/store/connector.ts";
import { FileConnector } from "../../src/store/file.ts";
import { verifyManifest } from "../../src/verify/verify.ts";
import { backendUrl, copyStore, listFiles, unpackFixture } from "../support/fixtures.ts";
import { run, runJson, unmergedStore } from "./support.ts";

// Whole runs of the program, on machines that may be busy.
setDefaultTimeout(60_000);

interface Problem {
  readonly code: string;
  readonly path: string;
}

const verify = (store: string, ...rest: readonly string[]) =>
  runJson(["verify", "-b", backendUrl(store), ...rest]);

const folders = (root: string): string[] =>
  readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory())
    .map((entry) => join(root, entry.name));

describe("stores of the reference are sound", () => {
  const stores = [
    ...folders(unpackFixture("stores")),
    ...folders(join(unpackFixture("legacy-stores"), "0.0.16")),
    ...folders(join(unpackFixture("legacy-stores"), "0.0.1")),
    ...folders(unpackFixture("paged-stores")).slice(0, 4),
  ];
  test.each(stores.map((store) => [store.split("/").slice(-2).join("/"), store] as const))(
    "%s",
    async (_name, store) => {
      const ref = listFiles(join(store, "refs")).includes("trunk") ? "trunk" : undefined;
      const name = ref ?? listFiles(join(store, "refs"))[0];
      if (name === undefined) throw new Error(`${store} has no ref`);
      const { document, exitCode } = await verify(store, name, "--data", "--history");
      expect(document["problems"]).toEqual([]);
      expect(exitCode).toBe(0);
      expect(document["status"]).toBe("ok");
    },
  );
});

test("what a merge writes is sound", async () => {
  const store = copyStore(unmergedStore());
  await run(["merge-many", "-b", backendUrl(store), "w0", "w1"]);
  const { document } = await verify(store, "--data", "--history");
  expect(document).toMatchObject({ status: "ok", problemCount: 0, payloadSkipped: 0 });
});

const trunkObjects: readonly string[] = await (async () => {
  const read: string[] = [];
  const inner = new FileConnector(backendUrl(unmergedStore()));
  const connector: Connector = {
    url: inner.url,
    get(path, options) {
      read.push(path);
      return inner.get(path, options);
    },
    putIfAbsent: inner.putIfAbsent.bind(inner),
    flush: inner.flush.bind(inner),
    readRef: inner.readRef.bind(inner),
    createRef: inner.createRef.bind(inner),
    compareAndSetRef: inner.compareAndSetRef.bind(inner),
    listRefs: inner.listRefs.bind(inner),
    deleteRef: inner.deleteRef.bind(inner),
    close: inner.close.bind(inner),
  };
  const tip = await inner.readRef("trunk");
  if (tip === undefined) throw new Error("the store has no trunk");
  await verifyManifest(connector, tip, {
    data: true,
    sample: undefined,
    history: false,
    concurrency: 8,
    signal: undefined,
  });
  return read;
})();

/** One object of each kind that trunk reaches, and what its loss or damage must be called. */
const places: readonly [kind: string, path: RegExp, needsData: boolean][] = [
  ["Track", /\/embedding[^/]+\/track\//, false],
  ["B-tree page", /\/index\//, false],
  ["SpatialIndex", /^spatial-index\//, false],
  ["ScalarIndex", /^scalar-index\//, false],
  ["Genesis", /^genesis\//, false],
  ["SpatialBucket", /\/embedding[^/]+\/[01]+\//, true],
  ["ScalarBucket", /\/bucket\//, true],
  ["Fragment", /\/image[^/]+\/0{16}\//, true],
];

describe("damage is found, and the walk goes on", () => {
  test.each(places)("%s", async (_kind, path, needsData) => {
    const store = copyStore(unmergedStore());
    const file = reached(path);
    const bytes = readFileSync(join(store, file));
    chmodSync(join(store, file), 0o644);
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 0x10;
    writeFileSync(join(store, file), bytes);
    const changed = await verify(store, "--data");
    expect(changed.exitCode).toBe(9);
    expect(changed.document["problems"]).toContainEqual(
      expect.objectContaining({ code: "wrong-hash", path: file }),
    );
    rmSync(join(store, file));
    const { document, exitCode } = await verify(store, ...(needsData ? ["--data"] : []));
    expect([exitCode, document["status"]]).toEqual([9, "damaged"]);
    expect(document["problems"]).toEqual([
      expect.objectContaining({ code: "missing", path: file }),
    ]);
  });

  test("several problems are all reported", async () => {
    const store = copyStore(unmergedStore());
    const lost = places.filter(([, , needsData]) => !needsData)
      .map(([, path]) => reached(path));
    for (const file of lost) rmSync(join(store, file));
    const { document } = await verify(store);
    const paths = (document["problems"] as readonly Problem[]).map((problem) => problem.path);
    // A page below a lost Track cannot be asked for; everything else is named.
    expect(paths.sort()).toEqual([...lost].sort());
  });

  test("a wrong Bao outboard", async () => {
    const store = copyStore(unmergedStore());
    const outboard = `bao-outboard/${reached(/\/bucket\//).split("/").at(-1)}`;
    chmodSync(join(store, outboard), 0o644);
    writeFileSync(join(store, outboard), new Uint8Array(8));
    const { document } = await verify(store, "--data");
    expect(document["problems"]).toEqual([
      expect.objectContaining({ code: "outboard", path: outboard }),
    ]);
  });
});

test("payload is left out unless asked for, and samples divide it exactly", async () => {
  const store = unmergedStore();
  const count = async (...rest: readonly string[]) => {
    const { document } = await verify(store, ...rest);
    const objects = document["objects"] as Readonly<Record<string, number>>;
    return Object.values(objects).reduce((sum, each) => sum + each, 0);
  };
  const structural = await count();
  const everything = await count("--data");
  expect(everything).toBeGreaterThan(structural);
  const parts = [];
  for (const part of [1, 2, 3]) parts.push(await count("--sample", `${part}/3`) - structural);
  expect(parts.reduce((sum, part) => sum + part, 0)).toBe(everything - structural);
});

/** A file that matches among those that a verification of trunk reads. */
function reached(path: RegExp): string {
  const file = trunkObjects.find((name) => path.test(name));
  if (file === undefined) throw new Error(`trunk reaches no object like ${path}`);
  return file;
}
