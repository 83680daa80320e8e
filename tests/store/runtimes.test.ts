/**
 * The stores outside of Bun: the lock of the file store comes from the command flock(1) there, and
 * the S3 store uses another `fetch`.
 */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openConnector } from "../../src/store/open.ts";
import type { FaultServer } from "../support/fault-server.ts";
import { startFaultServer } from "../support/fault-server.ts";
import { sampleAddress } from "./conformance.ts";

const folder = mkdtempSync(join(tmpdir(), "dreamdb-runtimes-"));
const program = join(folder, "program.mjs");

// Advances the counter ten times and says how it would lock.
const SOURCE = `
import { addressOf } from "${import.meta.dir}/../../src/encoding/address.ts";
import { openConnector } from "${import.meta.dir}/../../src/store/open.ts";
import { findFileLock } from "${import.meta.dir}/../../src/store/flock.ts";
const connector = await openConnector(process.argv[2]);
const address = (step) => addressOf(new TextEncoder().encode("step " + step));
const steps = new Map(Array.from({ length: 100 }, (_, step) => [address(step), step]));
for (let done = 0; done < 10;) {
  const current = await connector.readRef("trunk");
  const bytes = new TextEncoder().encode("object " + current);
  await connector.putIfAbsent("manifests/" + addressOf(bytes), bytes);
  await connector.flush();
  const next = address(steps.get(current) + 1);
  const outcome = await connector.compareAndSetRef("trunk", current, next);
  if (outcome.status === "committed") done++;
}
console.log((await findFileLock()).kind, (await connector.listRefs()).join());
`;

beforeAll(async () => {
  const entry = join(folder, "entry.ts");
  writeFileSync(entry, SOURCE);
  const built = await Bun.build({
    entrypoints: [entry],
    target: "node",
    external: ["@napi-rs/*", "@aws-sdk/*"],
  });
  await Bun.write(program, built.outputs[0] ?? "");
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const deno = join(import.meta.dir, "../../node_modules/.bin/deno");
const runtimes: readonly (readonly [string, string, readonly string[], string])[] = [
  ["Node", "node", [], "flock(1)"],
  ["Deno", deno, ["run", "--allow-all", "--no-config"], "flock(1)"],
  ["Bun", process.execPath, [], "bun:ffi"],
];

/** Name, exit status and output of the program in a runtime. */
async function run(
  [name, command, options]: (typeof runtimes)[number],
  url: string,
): Promise<readonly unknown[]> {
  const child = spawn(command, [...options, program, url], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, AWS_ACCESS_KEY_ID: "AKIATEST", AWS_SECRET_ACCESS_KEY: "s" },
  });
  let output = "";
  child.stdout.on("data", (chunk) => output += chunk);
  const status = await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  return [name, status, output.trim()];
}

describe("the bundled stores", () => {
  test("let Node, Deno and Bun move one ref of a folder without losing a step", async () => {
    const url = `file://${mkdtempSync(join(folder, "store-"))}`;
    const connector = await openConnector(url);
    await connector.createRef("trunk", sampleAddress("step 0"));
    const outputs = await Promise.all(runtimes.map((runtime) => run(runtime, url)));
    expect(outputs).toEqual(runtimes.map(([name, , , lock]) => [name, 0, `${lock} trunk`]));
    expect(await connector.readRef("trunk")).toBe(sampleAddress("step 30"));
  }, 60_000);

  for (const runtime of runtimes) {
    const [name, , , lock] = runtime;
    test(
      `let ${name} move a ref of a bucket whose answers get lost, each step once`,
      async () => {
        using server: FaultServer = await startFaultServer();
        const url = `${server.endpoint}/${server.bucket}/p`;
        const connector = await openConnector(url, { environment: {}, unsafeSkipProbe: true });
        await connector.createRef("trunk", sampleAddress("step 0"));
        const { length } = server.written;
        server.fail({
          method: "PUT",
          key: "p/refs/",
          skip: 2,
          times: 3,
          faults: [{ kind: "cut", when: "after" }],
        });
        server.fail({
          method: "GET",
          key: "p/refs/",
          skip: 9,
          faults: [{ kind: "cut-body", bytes: 5 }],
        });
        expect(await run(runtime, url)).toEqual([name, 0, `${lock} trunk`]);
        expect(await connector.readRef("trunk")).toBe(sampleAddress("step 10"));
        const moves = server.written.slice(length).filter(({ key }) => key.startsWith("p/refs/"));
        expect(moves).toHaveLength(10);
        // Deno sends again by itself when a connection breaks that was used before; the condition makes
        // the copy fail, and reading again tells that the first one won.
        if (name !== "Deno") expect(server.count("PUT", "p/refs/")).toBe(11);
      },
      60_000,
    );
  }
});
