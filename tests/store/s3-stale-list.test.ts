/**
 * Listings that lag behind what was written (ANCHORS D.3-6). BACKEND allows them to: refs are read
 * one by one, and a listing only ever answers which names there are.
 */

import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { addressBytes } from "../../src/encoding/address.ts";
import { dreamdb, dreamdbCommand } from "../support/dreamdb.ts";
import type { FaultServer } from "../support/fault-server.ts";
import { historyOf, merge, startMerging, trunkOf } from "../support/s3-merging.ts";
import { other, SECRET, start, stopFaultServers } from "../support/s3-setting.ts";

// Whole merges, on machines that have other work too.
setDefaultTimeout(60_000);
afterEach(stopFaultServers);

const W2 = "refs/w2";

/** `merge-many --branch-glob 'w*' --json` on the server, as a program of its own. */
async function mergeByGlob(server: FaultServer) {
  const credentials = ["AWS_ACCESS_KEY_ID=AKIATEST", `AWS_SECRET_ACCESS_KEY=${SECRET}`];
  const result = await dreamdb(
    [
      ...["merge-many", "--backend", `${server.endpoint}/${server.bucket}`, "--ref", "trunk"],
      ...["--branch-glob", "w*", "--json"],
    ],
    ["env", ...credentials, "AWS_REGION=us-east-1", ...dreamdbCommand()],
  );
  const { branches } = JSON.parse(result.stdout) as {
    readonly branches: readonly { readonly name: string }[];
  };
  return { exitCode: result.exitCode, branches: branches.map(({ name }) => name) };
}

function listings(server: FaultServer): number {
  return server.requests.filter(({ method, key }) => method === "GET" && key === "").length;
}

describe("a listing that lags behind", () => {
  test("is passed on as it is, while each ref reads as it was written", async () => {
    const { server, connector } = await start();
    for (const name of ["a", "b"]) server.objects.set(`refs/${name}`, addressBytes(other));
    server.switches.listed = (keys) => keys.filter((key) => key !== "refs/b");
    expect(await connector.listRefs()).toEqual(["a"]);
    expect(await connector.readRef("b")).toBe(other);
    server.switches.listed = () => [];
    expect(await connector.listRefs()).toEqual([]);
    expect(await connector.readRef("a")).toBe(other);
  });

  test("does not keep named branches from being merged", async () => {
    const { server, connector } = await startMerging();
    server.switches.listed = () => [];
    const tips = await Promise.all(["w0", "w1", "w2"].map((name) => connector.readRef(name)));
    const report = await merge(connector, "w0", "w1", "w2");
    expect(report.status).toBe("merged");
    const history = await historyOf(connector, trunkOf(server));
    expect(tips.filter((tip) => tip === undefined || !history.has(tip))).toEqual([]);
  });

  test("is not even asked for by a merge of named branches", async () => {
    const { server, connector } = await startMerging();
    expect((await merge(connector, "w0", "w1", "w2")).status).toBe("merged");
    expect(listings(server)).toBe(0);
  });

  test("leaves the newest branch of a pattern for the next run", async () => {
    const { server } = await startMerging();
    server.switches.listed = (keys) => keys.filter((key) => key !== W2);
    expect(await mergeByGlob(server)).toEqual({ exitCode: 0, branches: ["w0", "w1"] });
    server.switches.listed = (keys) => keys;
    expect(await mergeByGlob(server)).toEqual({ exitCode: 0, branches: ["w0", "w1", "w2"] });
  });

  test("that still names a deleted branch does not bring it back", async () => {
    const { server } = await startMerging();
    const trunk = trunkOf(server);
    server.objects.delete(W2);
    server.switches.listed = (keys) => [...keys, W2];
    expect((await mergeByGlob(server)).exitCode).toBe(4);
    expect(trunkOf(server)).toBe(trunk);
    expect(server.objects.has(W2)).toBe(false);
  });
});
