import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chownSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { makeImage } from "../../scripts/image.ts";
import { putStore } from "../action/s3-store.ts";
import { compiledExecutable } from "../support/dreamdb.ts";
import { copyStore, scratchFolder, treeDigest, unpackFixture } from "../support/fixtures.ts";
import { isInstalled, startS3Server } from "../support/s3-servers.ts";
import { snippetsIn } from "../support/snippets.ts";
import { Podman, podmanMissing } from "./podman.ts";

setDefaultTimeout(300_000);

if (podmanMissing !== undefined) console.warn(`skipped: containers: ${podmanMissing}`);

const BRANCHES = "--branches=w{0..2}";

/** A copy of a store that belongs to `owner`, folder and all, with the usual 0755. */
function storeOf(owner: number): string {
  const store = copyStore(join(unpackFixture("golden/stores"), "disjoint-3/store"));
  for (const path of ["", ...readdirSync(store, { recursive: true, encoding: "utf8" })]) {
    chownSync(join(store, path), owner, owner);
  }
  return store;
}

const ownersIn = (folder: string): readonly number[] => {
  const paths = ["", ...readdirSync(folder, { recursive: true, encoding: "utf8" })];
  return [...new Set(paths.map((path) => lstatSync(join(folder, path)).uid))].sort();
};

describe.skipIf(podmanMissing !== undefined)("the image", () => {
  let podman: Podman;
  let image: string;

  beforeAll(async () => {
    const archive = join(scratchFolder(), "image.tar");
    const architecture = process.arch === "x64" ? "amd64" : process.arch;
    makeImage(archive, new Map([[architecture, await compiledExecutable()]]), "test");
    podman = new Podman();
    image = await podman.load(archive);
  }, 300_000);
  afterAll(() => podman?.dispose());

  test("is small around the executable, and runs as nobody in particular", async () => {
    const { stdout } = await podman.podman(["image", "inspect", image]);
    const [inspected] = JSON.parse(stdout);
    expect(inspected.Config.User).toBe("65532:65532");
    expect(inspected.RootFS.Layers).toHaveLength(2);
    const executable = lstatSync(await compiledExecutable()).size;
    console.log(`the image: ${(inspected.Size / 1e6).toFixed(1)} MB`);
    expect(inspected.Size - executable).toBeLessThan(6_000_000);
  });

  test("prints the help when nothing is asked", async () => {
    const { stdout, exitCode } = await podman.run(image, []);
    expect(exitCode).toBe(0);
    expect(stdout).toContain("Usage: dreamdb");
  });

  for (const uid of [0, 1001, 65532]) {
    test(`merges as ${uid} in a folder of ${uid} and leaves no file of another owner (B32)`, async () => {
      const store = storeOf(uid);
      const args = ["merge-many", "--backend=file:///work", BRANCHES, "--json"];
      const volumes = { "/work": store };
      const { stdout, stderr, exitCode } = await podman.run(image, args, {
        user: `${uid}:${uid}`,
        volumes,
      });
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
      expect(JSON.parse(stdout)).toMatchObject({ status: "merged" });
      expect(ownersIn(store)).toEqual([uid]);
      const again = await podman.run(image, args, { user: `${uid}:${uid}`, volumes });
      expect(JSON.parse(again.stdout)).toMatchObject({ status: "already-merged" });
    });
  }

  for (const uid of [1001, 65532]) {
    test(`says why ${uid} cannot write to a folder of root, and changes nothing (B32)`, async () => {
      const store = storeOf(0);
      const before = treeDigest(store);
      const { stderr, exitCode } = await podman.run(
        image,
        ["merge-many", "--backend=file:///work", BRANCHES],
        { user: `${uid}:${uid}`, volumes: { "/work": store } },
      );
      expect(exitCode).toBe(6);
      expect(stderr).toContain("error:");
      expect(stderr).toContain("/work");
      expect(treeDigest(store)).toBe(before);
    });
  }

  test("merges as the example of docs/container.md says", async () => {
    const [example = ""] = snippetsIn("docs/container.md", "sh");
    const command = example.slice(example.indexOf("podman run"));
    const { stdout, exitCode } = await podman.script(command, { STORE: storeOf(0) });
    expect(stdout).toContain("merged into trunk: 3 branches");
    expect(exitCode).toBe(0);
  });

  test("needs no writable folder but the store", async () => {
    const { stdout, exitCode } = await podman.run(
      image,
      ["merge-many", "--backend=file:///work", BRANCHES, "--json"],
      { volumes: { "/work": storeOf(65532) }, temporary: false },
    );
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ status: "merged" });
  });

  test("ends with the documented code when a merge is refused", async () => {
    const store = copyStore(join(unpackFixture("golden/stores"), "duplicate-same-cell/store"));
    const { exitCode } = await podman.run(
      image,
      ["merge-many", "--backend=file:///work", "--branches=w0,w1"],
      { user: "0:0", volumes: { "/work": store } },
    );
    expect(exitCode).toBe(3);
  });

  test.skipIf(!isInstalled("gofakes3"))("merges in a store on S3", async () => {
    const server = await startS3Server("gofakes3");
    try {
      await putStore(server, join(unpackFixture("golden/stores"), "disjoint-3/store"), "store");
      const { stdout, exitCode } = await podman.run(
        image,
        ["merge-many", `--backend=s3://${server.bucket}/store`, BRANCHES, "--json"],
        {
          network: "host",
          environment: { ...server.environment, AWS_ENDPOINT_URL: server.endpoint },
        },
      );
      expect(exitCode).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ status: "merged" });
    } finally {
      await server.stop();
    }
  });
});
