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
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { isDreamDBError } from "../../src/errors.ts";
import { fileFailure } from "../../src/store/file-errors.ts";
import { FileConnector } from "../../src/store/file.ts";
import type { FileLock } from "../../src/store/flock.ts";
import { bunFileLock } from "../../src/store/flock-bun.ts";
import { commandFileLock } from "../../src/store/flock-command.ts";
import { openConnector } from "../../src/store/open.ts";
import { lockPath, manifestPath } from "../../src/store/paths.ts";
import { sampleAddress, storeConformance } from "./conformance.ts";

const LOCKS = ".dreamdb-cas-locks";
const roots: string[] = [];

function newRoot(): string {
  const root = mkdtempSync(join(tmpdir(), "dreamdb-file-"));
  roots.push(root);
  return root;
}

afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
});

function filesBelow(root: string): string[] {
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((path) => !statSync(join(root, path)).isDirectory())
    .filter((path) => !(path.startsWith(`${LOCKS}/`) && path.endsWith(".lock")))
    .sort();
}

storeConformance("file store", () => {
  const root = mkdtempSync(join(tmpdir(), "dreamdb-file-"));
  return {
    connect: () => new FileConnector(`file://${root}`),
    paths: () => filesBelow(root),
    putForeign(path, bytes) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), bytes);
    },
    dispose: () => rmSync(root, { recursive: true, force: true }),
  };
}, { nestedRefs: false, seesOtherBytes: true, namesInFlush: true });

async function locks(): Promise<readonly FileLock[]> {
  const found = [bunFileLock(), await commandFileLock()];
  return found.filter((lock) => lock !== undefined);
}

/** A Python process that holds the lock of a ref as the reference does, until told to let go. */
async function holdLock(
  path: string,
): Promise<{ readonly letGo: () => Promise<void>; readonly kill: () => Promise<void> }> {
  const program = `
import fcntl, os, sys
os.makedirs(os.path.dirname(sys.argv[1]), exist_ok=True)
lock = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
fcntl.flock(lock, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.readline()
`;
  const holder = spawn("python3", ["-c", program, path], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise<void>((resolve) => holder.on("close", () => resolve()));
  await new Promise<void>((resolve, reject) => {
    holder.on("error", reject);
    holder.stdout.once("data", () => resolve());
  });
  return {
    letGo: async () => {
      holder.stdin.end("\n");
      await ended;
    },
    kill: async () => {
      holder.kill("SIGKILL");
      await ended;
    },
  };
}

/** Whether another process can take the lock at this moment. */
async function lockIsFree(path: string): Promise<boolean> {
  const program = `
import fcntl, os, sys
lock = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT, 0o666)
try: fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError: sys.exit(3)
`;
  const child = spawn("python3", ["-c", program, path], { stdio: "inherit" });
  return await new Promise<number | null>((resolve) => child.on("close", resolve)) === 0;
}

describe("the lock of other writers", () => {
  test("is found in both ways on this machine", async () => {
    expect((await locks()).map((lock) => lock.kind)).toEqual(["bun:ffi", "flock(1)"]);
  });

  test("lies where the reference looks for it", () => {
    expect(lockPath("trunk")).toBe(
      `${LOCKS}/dzilve5jnjrssxjazw6sxflpcz6a7qvamsp7kblpmfp2g7hoqvu7s.lock`,
    );
  });

  for (const kind of ["bun:ffi", "flock(1)"] as const) {
    const lockOf = async (): Promise<FileLock> => {
      const lock = (await locks()).find((candidate) => candidate.kind === kind);
      if (lock === undefined) throw new Error(`no ${kind} on this machine`);
      return lock;
    };

    test(`${kind}: waits for a Python holder, says so, and then moves the ref`, async () => {
      const root = newRoot();
      const messages: string[] = [];
      const told = Promise.withResolvers<void>();
      const connector = new FileConnector(`file://${root}`, {
        fileLock: await lockOf(),
        lockNotice: 20,
        onWait(message) {
          messages.push(message);
          told.resolve();
        },
      });
      const [first, second] = [sampleAddress("1"), sampleAddress("2")];
      await connector.createRef("trunk", first);
      const holder = await holdLock(join(root, lockPath("trunk")));
      const moved = connector.compareAndSetRef("trunk", first, second);
      await told.promise;
      expect(await connector.readRef("trunk")).toBe(first);
      expect(messages).toEqual([expect.stringContaining(lockPath("trunk"))]);
      await holder.letGo();
      expect(await moved).toEqual({ status: "committed" });
    });

    test(`${kind}: gives up after the time limit and leaves the ref alone`, async () => {
      const root = newRoot();
      const connector = new FileConnector(`file://${root}`, {
        fileLock: await lockOf(),
        lockTimeout: 50,
      });
      const [first, second] = [sampleAddress("1"), sampleAddress("2")];
      await connector.createRef("trunk", first);
      const holder = await holdLock(join(root, lockPath("trunk")));
      const outcome = await connector.compareAndSetRef("trunk", first, second).catch((e) => e);
      expect(isDreamDBError(outcome, "lock-timeout")).toBe(true);
      await holder.letGo();
      expect(await connector.readRef("trunk")).toBe(first);
      expect(await lockIsFree(join(root, lockPath("trunk")))).toBe(true);
    });

    test(`${kind}: stops waiting when the signal is aborted`, async () => {
      const root = newRoot();
      const stop = new AbortController();
      const connector = new FileConnector(`file://${root}`, {
        fileLock: await lockOf(),
        lockNotice: 20,
        onWait: () => stop.abort(new Error("stop")),
      });
      const [first, second] = [sampleAddress("1"), sampleAddress("2")];
      await connector.createRef("trunk", first);
      const holder = await holdLock(join(root, lockPath("trunk")));
      const outcome = await connector
        .compareAndSetRef("trunk", first, second, { signal: stop.signal })
        .catch((error) => error);
      expect(outcome).toBe(stop.signal.reason);
      await holder.letGo();
      expect(await connector.readRef("trunk")).toBe(first);
    });

    test(`${kind}: keeps a Python writer out while it is held`, async () => {
      const root = newRoot();
      const path = join(root, "lock");
      const { open } = await import("node:fs/promises");
      const handle = await open(path, "w");
      await (await lockOf()).acquire(handle.fd, new AbortController().signal);
      expect(await lockIsFree(path)).toBe(false);
      await handle.close();
      expect(await lockIsFree(path)).toBe(true);
    });

    test(`${kind}: the lock of a killed holder is free`, async () => {
      const root = newRoot();
      const connector = new FileConnector(`file://${root}`, { fileLock: await lockOf() });
      const [first, second] = [sampleAddress("1"), sampleAddress("2")];
      await connector.createRef("trunk", first);
      const holder = await holdLock(join(root, lockPath("trunk")));
      const moved = connector.compareAndSetRef("trunk", first, second);
      await holder.kill();
      expect(await moved).toEqual({ status: "committed" });
    });
  }

  test("is kept while a ref is held, in which time the holder can move it", async () => {
    const root = newRoot();
    const connector = new FileConnector(`file://${root}`);
    const [first, second] = [sampleAddress("1"), sampleAddress("2")];
    await connector.createRef("trunk", first);
    const outcome = await connector.holdRef("trunk", async () => {
      expect(await lockIsFree(join(root, lockPath("trunk")))).toBe(false);
      return await connector.compareAndSetRef("trunk", first, second);
    });
    expect(outcome).toEqual({ status: "committed" });
    expect(await lockIsFree(join(root, lockPath("trunk")))).toBe(true);
    expect(await connector.compareAndSetRef("trunk", second, first)).toEqual({
      status: "committed",
    });
  });

  test("is given back when the work of a holder fails", async () => {
    const root = newRoot();
    const connector = new FileConnector(`file://${root}`);
    const failure = new Error("the work failed");
    const outcome = await connector.holdRef("trunk", () => Promise.reject(failure))
      .catch((error: unknown) => error);
    expect(outcome).toBe(failure);
    expect(await lockIsFree(join(root, lockPath("trunk")))).toBe(true);
  });

  test("reports a file system without locks as a failure, not as a wait", async () => {
    const connector = new FileConnector(`file://${newRoot()}`, {
      fileLock: {
        kind: "bun:ffi",
        acquire: () => Promise.reject(Object.assign(new Error("no locks"), { code: "ENOLCK" })),
      },
    });
    const [first, second] = [sampleAddress("1"), sampleAddress("2")];
    await connector.createRef("trunk", first);
    const outcome = await connector.compareAndSetRef("trunk", first, second).catch((e) => e);
    expect(isDreamDBError(outcome, "store-failure")).toBe(true);
  });
});

describe("two processes", () => {
  const program = `
    const { FileConnector } = await import(${
    JSON.stringify(join(import.meta.dir, "../../src/store/file.ts"))
  });
    const { addressOf } = await import(${
    JSON.stringify(join(import.meta.dir, "../../src/encoding/address.ts"))
  });
    const connector = new FileConnector(process.argv[1]);
    const address = (step) => addressOf(new TextEncoder().encode("step " + step));
    const steps = new Map(Array.from({ length: 100 }, (_, step) => [address(step), step]));
    for (let done = 0; done < 10;) {
      const current = await connector.readRef("trunk");
      const outcome = await connector.compareAndSetRef("trunk", current, address(steps.get(current) + 1));
      if (outcome.status === "committed") done++;
    }
  `;

  test("lose no step of a counter", async () => {
    const root = newRoot();
    const url = `file://${root}`;
    const connector = new FileConnector(url);
    await connector.createRef("trunk", sampleAddress("step 0"));
    const statuses = await Promise.all(["1", "2", "3"].map(() => {
      const child = spawn(process.execPath, ["-e", program, url], { stdio: "inherit" });
      return new Promise<number | null>((resolve) => child.on("close", resolve));
    }));
    expect(statuses).toEqual([0, 0, 0]);
    expect(await connector.readRef("trunk")).toBe(sampleAddress("step 30"));
    expect(filesBelow(root)).toEqual(["refs/trunk"]);
  });
});

describe("backend URLs", () => {
  const accepted: readonly (readonly [string, string])[] = [
    ["file:///data/store", "file:///data/store"],
    ["file:///data/store/", "file:///data/store"],
    ["file:///data/store//", "file:///data/store"],
    ["file:///with space/%20", "file:///with space/%20"],
    ["file:///", "file:///"],
  ];
  for (const [url, canonical] of accepted) {
    test(`${url} is ${canonical}`, async () => {
      expect((await openConnector(url)).url).toBe(canonical);
    });
  }

  for (
    const url of [
      "file://host/data",
      "file://localhost/data",
      "file:/data",
      "file:data",
      "file://",
      "file://./data",
      "/data",
      "",
      "ftp://host/data",
    ]
  ) {
    test(`${JSON.stringify(url)} is refused`, async () => {
      const outcome = await openConnector(url).catch((error) => error);
      expect(isDreamDBError(outcome, "usage")).toBe(true);
    });
  }

  test("is not percent-decoded, as in the reference", async () => {
    const root = join(newRoot(), "a%20b c");
    mkdirSync(root);
    const connector = new FileConnector(`file://${root}/`);
    await connector.createRef("trunk", sampleAddress("1"));
    expect(filesBelow(root)).toEqual(["refs/trunk"]);
  });
});

describe("a file store that cannot be used", () => {
  const address = sampleAddress("1");

  test("without its folder is missing, and no folder is made", async () => {
    const root = join(newRoot(), "missing");
    const connector = new FileConnector(`file://${root}`);
    for (
      const call of [
        () => connector.readRef("trunk"),
        () => connector.get(manifestPath(address)),
        () => connector.putIfAbsent(manifestPath(address), new Uint8Array(1)),
        () => connector.createRef("trunk", address),
        () => connector.compareAndSetRef("trunk", address, address),
        () => connector.listRefs(),
      ]
    ) {
      expect(isDreamDBError(await call().catch((error) => error), "store-missing")).toBe(true);
    }
    expect(existsSync(root)).toBe(false);
  });

  test("that is a file is missing", async () => {
    const root = join(newRoot(), "file");
    writeFileSync(root, "");
    const outcome = await new FileConnector(`file://${root}`).readRef("trunk").catch((e) => e);
    expect(isDreamDBError(outcome, "store-missing")).toBe(true);
  });

  // Root may do everything, so what the operating system refuses is given as a table.
  for (
    const [code, fault] of [
      ["EACCES", "permission-denied"],
      ["EPERM", "permission-denied"],
      ["EROFS", "permission-denied"],
      ["ENOSPC", "store-failure"],
      ["EIO", "store-failure"],
      ["EMFILE", "store-failure"],
      ["EXDEV", "store-failure"],
    ] as const
  ) {
    test(`${code} is ${fault}`, () => {
      const cause = Object.assign(new Error("system"), { code });
      const failure = fileFailure(cause, "write an object", "/data/x");
      expect(isDreamDBError(failure, fault)).toBe(true);
      expect(failure).toMatchObject({ cause, fault: { action: "write an object" } });
      expect(String(failure)).toContain("/data/x");
    });
  }

  test("with a file in the way of a folder is a failure that names the path", async () => {
    const root = newRoot();
    writeFileSync(join(root, "manifests"), "");
    const connector = new FileConnector(`file://${root}`);
    const outcome = await connector.putIfAbsent(manifestPath(address), new Uint8Array(1))
      .catch((error) => error);
    expect(isDreamDBError(outcome, "store-failure")).toBe(true);
    expect(String(outcome)).toContain(join(root, "manifests"));
    expect(filesBelow(root)).toEqual(["manifests"]);
  });
});

describe("a file store on disk", () => {
  test("follows symbolic links to its folders", async () => {
    const root = newRoot();
    const elsewhere = newRoot();
    mkdirSync(join(elsewhere, "refs"));
    mkdirSync(join(elsewhere, "locks"));
    symlinkSync(join(elsewhere, "refs"), join(root, "refs"));
    symlinkSync(join(elsewhere, "locks"), join(root, LOCKS));
    const connector = new FileConnector(`file://${root}`);
    const [first, second] = [sampleAddress("1"), sampleAddress("2")];
    await connector.createRef("trunk", first);
    expect(await connector.compareAndSetRef("trunk", first, second)).toEqual({
      status: "committed",
    });
    expect(await connector.listRefs()).toEqual(["trunk"]);
    expect(readFileSync(join(elsewhere, "refs/trunk")).length).toBe(33);
  });

  test("writes many objects at once through few open files", async () => {
    const root = newRoot();
    const connector = new FileConnector(`file://${root}`, { concurrency: 4 });
    const addresses = Array.from({ length: 300 }, (_, index) => sampleAddress(`${index}`));
    await Promise.all(
      addresses.map((address, index) =>
        connector.putIfAbsent(`manifests/${address}`, new TextEncoder().encode(`${index}`))
      ),
    );
    await connector.flush();
    expect(readdirSync(join(root, "manifests"))).toHaveLength(addresses.length);
  }, 60_000);

  test("gives files the mode that the umask allows, as the reference does", async () => {
    const root = newRoot();
    const previous = process.umask(0o027);
    try {
      const connector = new FileConnector(`file://${root}`);
      const [first, second] = [sampleAddress("1"), sampleAddress("2")];
      await connector.createRef("trunk", first);
      await connector.compareAndSetRef("trunk", first, second);
      await connector.putIfAbsent(manifestPath(first), new Uint8Array(1));
      await connector.flush();
    } finally {
      process.umask(previous);
    }
    for (const path of ["refs/trunk", manifestPath(sampleAddress("1")), lockPath("trunk")]) {
      expect(statSync(join(root, path)).mode & 0o777).toBe(0o640);
    }
  });
});
