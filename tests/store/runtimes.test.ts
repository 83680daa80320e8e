/**
 * The file store outside of Bun: there the lock comes from the command flock(1).
 */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FileConnector } from "../../src/store/file.ts";
import { sampleAddress } from "./conformance.ts";

const folder = mkdtempSync(join(tmpdir(), "dreamdb-runtimes-"));
const program = join(folder, "program.mjs");

// Advances the counter ten times and says how it locks.
const SOURCE = `
import { addressOf } from "${import.meta.dir}/../../src/encoding/address.ts";
import { FileConnector } from "${import.meta.dir}/../../src/store/file.ts";
import { findFileLock } from "${import.meta.dir}/../../src/store/flock.ts";
const connector = new FileConnector(process.argv[2]);
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
    external: ["@napi-rs/*"],
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

describe("the bundled file store", () => {
  test("lets Node, Deno and Bun move one ref together without losing a step", async () => {
    const root = mkdtempSync(join(folder, "store-"));
    const connector = new FileConnector(`file://${root}`);
    await connector.createRef("trunk", sampleAddress("step 0"));
    const outputs = await Promise.all(runtimes.map(async ([name, command, options]) => {
      const child = spawn(command, [...options, program, `file://${root}`], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      let output = "";
      child.stdout.on("data", (chunk) => output += chunk);
      const status = await new Promise((resolve, reject) => {
        child.on("error", reject);
        child.on("close", resolve);
      });
      return [name, status, output.trim()];
    }));
    expect(outputs).toEqual(runtimes.map(([name, , , lock]) => [name, 0, `${lock} trunk`]));
    expect(await connector.readRef("trunk")).toBe(sampleAddress("step 30"));
  }, 60_000);
});
