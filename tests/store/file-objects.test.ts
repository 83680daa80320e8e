/**
 * When an object of a file store gets its name, and what it meets there.
 */

import { afterEach, describe, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDreamDBError } from "../../src/errors.ts";
import { FileConnector } from "../../src/store/file.ts";
import { manifestPath } from "../../src/store/paths.ts";
import { sampleAddress } from "./conformance.ts";

const roots: string[] = [];
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
});

const bytes = new TextEncoder().encode("object");
const address = sampleAddress("object");
const path = manifestPath(address);
/** What the reference calls the file of an object that is being written (FORMAT 1.5). */
const temporaryName = new RegExp(`^${address}\\.tmp-${address}-\\d+-\\d+$`);

interface Setting {
  readonly root: string;
  readonly connector: FileConnector;
  /** The object's file, and the names in its folder. */
  readonly file: string;
  readonly names: () => readonly string[];
}

function start(): Setting {
  const root = mkdtempSync(join(tmpdir(), "dreamdb-objects-"));
  roots.push(root);
  mkdirSync(join(root, "manifests"));
  return {
    root,
    connector: new FileConnector(`file://${root}`),
    file: join(root, path),
    names: () => readdirSync(join(root, "manifests")),
  };
}

async function codeOf(call: Promise<unknown>): Promise<string> {
  const error = await call.then(() => undefined, (thrown: unknown) => thrown);
  return isDreamDBError(error) ? error.code : `no fault: ${error}`;
}

describe("an object that is written", () => {
  test("has no name before it is flushed, and can be read", async () => {
    const { connector, file, names } = start();
    await connector.putIfAbsent(path, bytes);
    expect(names()).toEqual([expect.stringMatching(temporaryName)]);
    expect(await connector.get(path)).toEqual(bytes);
    expect(await connector.putIfAbsent(path, bytes)).toBe("present");
    await connector.flush();
    expect(names()).toEqual([address]);
    expect(new Uint8Array(readFileSync(file))).toEqual(bytes);
    expect(statSync(file).nlink).toBe(1);
  });

  test("is never named when the store is closed before it is flushed", async () => {
    const { connector, names } = start();
    await connector.putIfAbsent(path, bytes);
    await connector.close();
    expect(names()).toEqual([]);
  });

  test("is there before a ref is that may lead to it, also when nobody has flushed", async () => {
    const [first, second] = [sampleAddress("1"), sampleAddress("2")];
    const { connector, names } = start();
    await connector.putIfAbsent(path, bytes);
    await connector.createRef("trunk", first);
    expect(names()).toEqual([address]);
    await connector.putIfAbsent(manifestPath(first), new TextEncoder().encode("1"));
    await connector.compareAndSetRef("trunk", first, second);
    expect(names().toSorted()).toEqual([address, first].toSorted());
  });

  test("is read in any moment of a flush", async () => {
    const { connector } = start();
    const addresses = Array.from({ length: 50 }, (_, index) => sampleAddress(`${index}`));
    for (const [index, one] of addresses.entries()) {
      await connector.putIfAbsent(manifestPath(one), new TextEncoder().encode(`${index}`));
    }
    let flushed = false;
    const flush = connector.flush().then(() => flushed = true);
    do {
      const found = await Promise.all(addresses.map((one) => connector.get(manifestPath(one))));
      expect(found.map((one) => new TextDecoder().decode(one)))
        .toEqual(addresses.map((_, index) => `${index}`));
    } while (!flushed);
    await flush;
  });

  test("keeps no name of a process that is killed before it has flushed", async () => {
    const { root, names } = start();
    const program = `
      const { FileConnector } = await import(${
      JSON.stringify(join(import.meta.dir, "../../src/store/file.ts"))
    });
      const connector = new FileConnector(${JSON.stringify(`file://${root}`)});
      await connector.putIfAbsent(${JSON.stringify(path)}, new TextEncoder().encode("object"));
      process.stdout.write("written");
      setInterval(() => {}, 1_000);
    `;
    const child = spawn(process.execPath, ["-e", program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
    await new Promise((resolve) => child.stdout.once("data", resolve));
    child.kill("SIGKILL");
    await ended;
    expect(names()).toEqual([expect.stringMatching(temporaryName)]);

    const next = new FileConnector(`file://${root}`);
    expect(await next.get(path)).toBeUndefined();
    expect(await next.putIfAbsent(path, bytes)).toBe("written");
    await next.flush();
    expect(await next.get(path)).toEqual(bytes);
  });
});

describe("what is in an object's place", () => {
  /** What it is; whether it is put there before the object is written or only before it is named. */
  const foreign: readonly (readonly [string, Uint8Array, "object" | "hash-mismatch"])[] = [
    ["the object", bytes, "object"],
    ["an empty file, as a loss of power leaves it", new Uint8Array(), "object"],
    ["zeros, as a loss of power leaves them", new Uint8Array(6), "object"],
    ["a part of the object", bytes.subarray(0, 3), "hash-mismatch"],
    ["other bytes", new TextEncoder().encode("damage"), "hash-mismatch"],
  ];
  for (const [name, found, outcome] of foreign) {
    for (const moment of ["before it is written", "before it is named"] as const) {
      test(`${name}, ${moment}: ${outcome === "object" ? "ends as the object" : outcome}`, async () => {
        const { connector, file, names } = start();
        const write = async () => {
          if (moment === "before it is written") writeFileSync(file, found);
          await connector.putIfAbsent(path, bytes);
          if (moment === "before it is named") writeFileSync(file, found);
          await connector.flush();
        };
        if (outcome === "object") {
          await write();
          expect(new Uint8Array(readFileSync(file))).toEqual(bytes);
        } else {
          expect(await codeOf(write())).toBe(outcome);
          expect(new Uint8Array(readFileSync(file))).toEqual(new Uint8Array(found));
        }
        await connector.close();
        expect(names()).toEqual([address]);
      });
    }
  }

  test("is left alone when what was written is gone before it is named", async () => {
    const { connector, root, file } = start();
    await connector.putIfAbsent(path, bytes);
    rmSync(join(root, "manifests"), { recursive: true });
    expect(await codeOf(connector.flush())).toBe("store-failure");
    expect(existsSync(file)).toBe(false);
  });
});

test("a flush that failed can be repeated", async () => {
  const { connector, file } = start();
  await connector.putIfAbsent(path, bytes);
  writeFileSync(file, "damage");
  expect(await codeOf(connector.flush())).toBe("hash-mismatch");
  rmSync(file);
  await connector.flush();
  expect(new Uint8Array(readFileSync(file))).toEqual(bytes);
});

test("a flush whose signal is aborted names nothing", async () => {
  const { connector, names } = start();
  await connector.putIfAbsent(path, bytes);
  const reason = new Error("stop");
  const outcome = await connector.flush({ signal: AbortSignal.abort(reason) })
    .catch((error: unknown) => error);
  expect(outcome).toBe(reason);
  expect(names()).toEqual([expect.stringMatching(temporaryName)]);
});
