/**
 * Our merges beside writers of the reference, all at once on one bucket.
 */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { mergeMany } from "../../src/merge/merge-many.ts";
import { DEFAULTS } from "../../src/merge/request.ts";
import { S3Connector } from "../../src/store/s3.ts";
import { describeWithReference } from "../support/describe-reference.ts";
import { oracle, runPython, startPython } from "../support/reference.ts";
import type { S3Server, S3ServerName } from "../support/s3-servers.ts";
import { isInstalled, startS3Server } from "../support/s3-servers.ts";

const WRITERS = 4;
const MERGERS = 2;
const ROUNDS = 20;
/** Of one merge; as many as it takes on a machine that has other work. */
const ATTEMPTS = 100;

function anchorOf(part: number, index: number): bigint {
  return 1_800_000_000_000_000_000n + BigInt(part) * 1_000_000n + BigInt(index);
}

for (const name of ["versitygw", "gofakes3"] as const satisfies readonly S3ServerName[]) {
  if (!isInstalled(name)) {
    test.skip(`${name} is missing: run scripts/install-s3-servers.sh`, () => {});
    continue;
  }
  describeWithReference(`on a bucket of ${name}`, () => {
    let server: S3Server;
    const before = { ...process.env };
    beforeAll(async () => {
      server = await startS3Server(name);
      // The reference reads them from the environment that it inherits.
      Object.assign(process.env, server.environment, { NO_PROXY: "127.0.0.1" });
    });
    afterAll(async () => {
      await server.stop();
      for (const variable of [...Object.keys(server.environment), "NO_PROXY"]) {
        if (before[variable] === undefined) delete process.env[variable];
        else process.env[variable] = before[variable];
      }
    });

    test(
      `${WRITERS} writers of the reference and ${MERGERS} mergers of ours lose no update`,
      async () => {
        const backend = `${server.endpoint}/${server.bucket}`;
        expect(await runPython("tests/store/new-store.py", [backend])).toMatchObject({
          exitCode: 0,
          stderr: "",
        });
        const writers = await Promise.all(
          Array.from({ length: WRITERS }, (_, part) => startWriter(backend, anchorOf(part, 0))),
        );
        const expected = [1n];

        for (let round = 0; round < ROUNDS; round++) {
          const branches = Array.from({ length: MERGERS }, (_, merger) => `m${merger}-r${round}`);
          for (const [merger, branch] of branches.entries()) {
            const anchor = anchorOf(WRITERS + merger, round);
            await oracle("branch", backend, "trunk", branch);
            await oracle("append", backend, branch, [{ label: branch, _anchor: String(anchor) }]);
            expected.push(anchor);
          }
          const [reports] = await Promise.all([
            Promise.all(branches.map((branch) => merge(backend, branch))),
            Promise.all(writers.map((writer) => writer.append())),
          ]);
          // The first to publish may find that trunk has not moved since its branch was made.
          for (const { status } of reports) expect(["merged", "fast-forwarded"]).toContain(status);
          for (let part = 0; part < WRITERS; part++) expected.push(anchorOf(part, round));
        }

        for (const writer of writers) writer.stop();
        const { anchors, count } = await oracle("summary", backend, "trunk");
        expect(anchors.map(BigInt).sort(compare)).toEqual(expected.sort(compare));
        expect(count).toBe(expected.length);
      },
      600_000,
    );
  });
}

/** A process of the reference that appends one record to trunk whenever it is told to. */
async function startWriter(backend: string, first: bigint) {
  const child = await startPython("tests/store/interop-writer.py", [
    backend,
    "trunk",
    String(first),
  ]);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  child.stderr.on("data", (text) => console.error(String(text)));
  return {
    async append(): Promise<void> {
      child.stdin.write("append\n");
      expect(await lines.next()).toMatchObject({ done: false });
    },
    stop: () => child.stdin.end(),
  };
}

async function merge(backend: string, branch: string) {
  return await mergeMany(
    { ...DEFAULTS, ref: "trunk", branches: [branch], picks: new Map(), attempts: ATTEMPTS },
    {
      connector: new S3Connector(backend),
      concurrency: DEFAULTS.concurrency,
      now: () => BigInt(Date.now()) * 1_000_000n,
      random: Math.random,
      pause: async (milliseconds, signal) => {
        await pause(milliseconds, undefined, signal === undefined ? {} : { signal });
      },
      version: "test",
    },
  );
}

function compare(left: bigint, right: bigint): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
