/**
 * What every store must do, as one suite over a factory of empty stores.
 */

import { afterEach, describe, expect, test } from "bun:test";
import type { Address } from "../../src/encoding/address.ts";
import { addressOf } from "../../src/encoding/address.ts";
import { isDreamDBError } from "../../src/errors.ts";
import type { Connector } from "../../src/store/connector.ts";
import { manifestPath, trackPath } from "../../src/store/paths.ts";

/** One empty store, and as many independent connectors to it as a test wants. */
export interface StoreUnderTest {
  connect(): Connector | Promise<Connector>;
  /** Every path in the store, temporary ones included, sorted; without lock files. */
  paths(): readonly string[] | Promise<readonly string[]>;
  /** Puts a foreign file or object below `refs/`. */
  putForeign(path: string, bytes: Uint8Array): void | Promise<void>;
  dispose(): void | Promise<void>;
}

export interface ConformanceOptions {
  /** Whether a ref `a` can exist beside a ref `a/b`. */
  readonly nestedRefs: boolean;
  /** Whether the store notices other bytes at the path of an object. */
  readonly seesOtherBytes: boolean;
  /** Whether an object has no name before `flush`, so that two connectors may both write it. */
  readonly namesInFlush?: boolean;
  /** Racing writers a round, and rounds. */
  readonly race?: { readonly writers: number; readonly rounds: number };
}

/** Far more than a race takes, for machines that are busy. */
const RACE_LIMIT_MS = 120_000;

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** An address that no other text has. */
export function sampleAddress(text: string): Address {
  return addressOf(bytesOf(text));
}

function pattern(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => (index * 31 + (index >> 8)) & 0xff);
}

/** Declares the tests for one kind of store. */
export function storeConformance(
  title: string,
  create: () => StoreUnderTest | Promise<StoreUnderTest>,
  options: ConformanceOptions,
): void {
  describe(title, () => {
    const opened: (() => void | Promise<void>)[] = [];
    async function store(): Promise<StoreUnderTest> {
      const made = await create();
      opened.push(() => made.dispose());
      return made;
    }
    async function connectTo(made: StoreUnderTest): Promise<Connector> {
      const connector = await made.connect();
      opened.push(() => connector.close());
      return connector;
    }
    afterEach(async () => {
      for (const close of opened.splice(0).reverse()) await close();
    });

    const sizes: readonly (readonly [string, number])[] = [
      ["an empty object", 0],
      ["one byte", 1],
      ["33 bytes", 33],
      ["5 MiB", 5 * 1024 * 1024],
    ];
    for (const [name, size] of sizes) {
      test(`writes and reads back ${name}`, async () => {
        const made = await store();
        const connector = await connectTo(made);
        const bytes = pattern(size);
        const path = manifestPath(addressOf(bytes));
        expect(await connector.get(path)).toBeUndefined();
        expect(await connector.putIfAbsent(path, bytes)).toBe("written");
        await connector.flush();
        const read = await connector.get(path);
        expect(read?.length).toBe(size);
        expect(Buffer.compare(read ?? pattern(size + 1), bytes)).toBe(0);
        expect(await made.paths()).toEqual([path]);
      });
    }

    test("takes a modality tag with every character that tags have", async () => {
      const made = await store();
      const connector = await connectTo(made);
      const bytes = bytesOf("track");
      const modality = "embedding.f32.dim=4.metric=l2.bucketed.version=2-x_y@z";
      const path = trackPath(sampleAddress("timeline"), modality, addressOf(bytes));
      await connector.putIfAbsent(path, bytes);
      expect(await connector.get(path)).toEqual(bytes);
      await connector.flush();
      expect(await made.paths()).toEqual([path]);
    });

    test("reports an object that is there already and leaves nothing behind", async () => {
      const made = await store();
      const [first, second] = [await connectTo(made), await connectTo(made)];
      const bytes = bytesOf("object");
      const path = manifestPath(addressOf(bytes));
      expect(await first.putIfAbsent(path, bytes)).toBe("written");
      expect(await first.putIfAbsent(path, bytes)).toBe("present");
      await first.flush();
      expect(await first.putIfAbsent(path, bytes)).toBe("present");
      expect(await second.putIfAbsent(path, bytes)).toBe("present");
      expect(await made.paths()).toEqual([path]);
    });

    test("writes one object once when many write it at the same time", async () => {
      const made = await store();
      const connectors = await Promise.all(Array.from({ length: 8 }, () => connectTo(made)));
      const bytes = pattern(70_000);
      const path = manifestPath(addressOf(bytes));
      const outcomes = await Promise.all(
        connectors.map((connector) => connector.putIfAbsent(path, bytes)),
      );
      const written = outcomes.filter((outcome) => outcome === "written").length;
      if (options.namesInFlush) expect(written).toBeGreaterThan(0);
      else expect(written).toBe(1);
      await Promise.all(connectors.map((connector) => connector.flush()));
      expect(await connectors[0]?.get(path)).toEqual(bytes);
      expect(await made.paths()).toEqual([path]);
    });

    test("writes one object once when it is asked to many times at once", async () => {
      const made = await store();
      const connector = await connectTo(made);
      const bytes = pattern(70_000);
      const path = manifestPath(addressOf(bytes));
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, () => connector.putIfAbsent(path, bytes)),
      );
      expect(outcomes.filter((outcome) => outcome === "written")).toHaveLength(1);
      expect(await connector.get(path)).toEqual(bytes);
      await connector.flush();
      expect(await made.paths()).toEqual([path]);
    });

    test("never replaces an object by other bytes", async () => {
      const made = await store();
      const connector = await connectTo(made);
      const path = manifestPath(sampleAddress("object"));
      await made.putForeign(path, bytesOf("damaged"));
      const outcome = await connector.putIfAbsent(path, bytesOf("object")).catch((error) => error);
      if (options.seesOtherBytes) expect(isDreamDBError(outcome, "hash-mismatch")).toBe(true);
      else expect(outcome).toBe("present");
      expect(await connector.get(path)).toEqual(bytesOf("damaged"));
      expect(await made.paths()).toEqual([path]);
    });

    for (
      const path of ["manifests/../x", "/manifests/x", "manifests/X", "manifests/ü", "a//b", "a/"]
    ) {
      test(`refuses the path ${path}`, async () => {
        const connector = await connectTo(await store());
        const read = await connector.get(path).catch((error) => error);
        const written = await connector.putIfAbsent(path, bytesOf("x")).catch((error) => error);
        expect(isDreamDBError(read, "malformed-object")).toBe(true);
        expect(isDreamDBError(written, "malformed-object")).toBe(true);
      });
    }

    test("creates a ref once", async () => {
      const made = await store();
      const connector = await connectTo(made);
      const [first, second] = [sampleAddress("1"), sampleAddress("2")];
      expect(await connector.readRef("trunk")).toBeUndefined();
      expect(await connector.createRef("trunk", first)).toBe("created");
      expect(await connector.createRef("trunk", second)).toBe("exists");
      expect(await connector.readRef("trunk")).toBe(first);
      expect(await made.paths()).toEqual(["refs/trunk"]);
    });

    test("moves a ref that holds what is expected", async () => {
      const made = await store();
      const connector = await connectTo(made);
      const [first, second] = [sampleAddress("1"), sampleAddress("2")];
      await connector.createRef("a/b@c", first);
      expect(await connector.compareAndSetRef("a/b@c", first, second)).toEqual({
        status: "committed",
      });
      expect(await connector.readRef("a/b@c")).toBe(second);
      expect(await made.paths()).toEqual(["refs/a/b@c"]);
    });

    test("does not move a ref that holds something else", async () => {
      const made = await store();
      const connector = await connectTo(made);
      const [first, second, third] = [1, 2, 3].map((n) => sampleAddress(`${n}`)) as [
        Address,
        Address,
        Address,
      ];
      await connector.createRef("trunk", first);
      expect(await connector.compareAndSetRef("trunk", second, third)).toMatchObject({
        status: "conflict",
        found: first,
      });
      expect(await connector.readRef("trunk")).toBe(first);
      expect(await made.paths()).toEqual(["refs/trunk"]);
    });

    test("does not create a ref when asked to move one that is gone", async () => {
      const made = await store();
      const connector = await connectTo(made);
      const outcome = await connector.compareAndSetRef(
        "trunk",
        sampleAddress("1"),
        sampleAddress("2"),
      );
      expect(outcome).toMatchObject({ status: "conflict", found: undefined });
      expect(await connector.readRef("trunk")).toBeUndefined();
      expect(await made.paths()).toEqual([]);
    });

    test("lets exactly one of many racing writers win each round", async () => {
      const { writers, rounds } = options.race ?? { writers: 32, rounds: 5 };
      const made = await store();
      const connectors = await Promise.all(Array.from({ length: writers }, () => connectTo(made)));
      let current = sampleAddress("start");
      await connectors[0]?.createRef("trunk", current);
      for (let round = 0; round < rounds; round++) {
        const outcomes = await Promise.all(
          connectors.map(async (connector, index) => {
            const next = sampleAddress(`${round}-${index}`);
            const outcome = await connector.compareAndSetRef("trunk", current, next);
            return { next, outcome };
          }),
        );
        const winners = outcomes.filter(({ outcome }) => outcome.status === "committed");
        expect(winners).toHaveLength(1);
        const winner = winners[0]?.next ?? current;
        for (const { outcome } of outcomes) {
          if (outcome.status !== "committed") {
            expect(outcome).toMatchObject({ status: "conflict", found: winner });
          }
        }
        expect(await connectors[1]?.readRef("trunk")).toBe(winner);
        current = winner;
      }
      expect(await made.paths()).toEqual(["refs/trunk"]);
    }, RACE_LIMIT_MS);

    test("loses no step of a counter that many writers advance", async () => {
      const made = await store();
      const first = await connectTo(made);
      const start = sampleAddress("start");
      const previous = new Map<Address, Address>();
      const isBehind = (step: Address, tip: Address | undefined): boolean => {
        for (let at = tip; at !== undefined; at = previous.get(at)) if (at === step) return true;
        return false;
      };
      await first.createRef("trunk", start);
      const own = await Promise.all(Array.from({ length: 8 }, async (_, writer) => {
        const connector = await connectTo(made);
        const steps: Address[] = [];
        while (steps.length < 4) {
          const current = await connector.readRef("trunk") ?? start;
          const next = sampleAddress(`${current} ${writer}`);
          previous.set(next, current);
          const outcome = await connector.compareAndSetRef("trunk", current, next);
          // Somebody may have moved on from our step before its outcome was read.
          if (
            outcome.status === "committed" ||
            (outcome.status === "conflict" && outcome.sent && isBehind(next, outcome.found))
          ) steps.push(next);
        }
        return steps;
      }));
      const tip = await first.readRef("trunk");
      expect(own.flat().every((step) => isBehind(step, tip))).toBe(true);
      expect(new Set(own.flat()).size).toBe(32);
    }, RACE_LIMIT_MS);

    test("lists refs by prefix, sorted, without foreign files", async () => {
      const made = await store();
      const connector = await connectTo(made);
      expect(await connector.listRefs()).toEqual([]);
      const names = ["trunk", "ingest-w-10", "ingest-w-2", "team/a", "team/b/c", "trunk@v1"];
      for (const name of names) await connector.createRef(name, sampleAddress(name));
      const body = Buffer.alloc(33, 1);
      await made.putForeign("refs/trunk.tmp-d2aaaa-17-3", body);
      await made.putForeign("refs/README.md", body);
      await made.putForeign("refs/Upper", body);
      await made.putForeign("refs/team/b/.hidden", body);
      const sorted = ["ingest-w-10", "ingest-w-2", "team/a", "team/b/c", "trunk", "trunk@v1"];
      expect(await connector.listRefs()).toEqual(sorted);
      expect(await connector.listRefs("")).toEqual(sorted);
      expect(await connector.listRefs("ingest-w-")).toEqual(["ingest-w-10", "ingest-w-2"]);
      expect(await connector.listRefs("team/")).toEqual(["team/a", "team/b/c"]);
      expect(await connector.listRefs("team/b")).toEqual(["team/b/c"]);
      expect(await connector.listRefs("te")).toEqual(["team/a", "team/b/c"]);
      expect(await connector.listRefs("x")).toEqual([]);
    });

    test("deletes a ref only while it holds what is expected", async () => {
      const made = await store();
      const connector = await connectTo(made);
      const [first, second] = [sampleAddress("1"), sampleAddress("2")];
      expect(await connector.deleteRef("b", first)).toBe("missing");
      await connector.createRef("b", first);
      expect(await connector.deleteRef("b", second)).toBe("conflict");
      expect(await connector.readRef("b")).toBe(first);
      expect(await connector.deleteRef("b", first)).toBe("deleted");
      expect(await connector.readRef("b")).toBeUndefined();
      expect(await made.paths()).toEqual([]);
      expect(await connector.createRef("b", second)).toBe("created");
    });

    const malformed: readonly (readonly [string, Uint8Array])[] = [
      ["nothing", new Uint8Array()],
      ["32 bytes", new Uint8Array(32).fill(0x1e)],
      ["34 bytes", new Uint8Array(34).fill(0x1e)],
      ["33 bytes with another tag", new Uint8Array(33).fill(0x12)],
      ["the text form", bytesOf(sampleAddress("1"))],
    ];
    for (const [name, body] of malformed) {
      test(`reports a ref that holds ${name}`, async () => {
        const made = await store();
        const connector = await connectTo(made);
        await made.putForeign("refs/trunk", body);
        const read = await connector.readRef("trunk").catch((error) => error);
        expect(isDreamDBError(read, "malformed-ref")).toBe(true);
        const moved = await connector
          .compareAndSetRef("trunk", sampleAddress("1"), sampleAddress("2"))
          .catch((error) => error);
        expect(isDreamDBError(moved, "malformed-ref")).toBe(true);
      });
    }

    for (const name of ["", "..", "a/../b", "Trunk", "a.lock", "a//b", "/a", "$BRANCH"]) {
      test(`refuses the ref name ${JSON.stringify(name)} without a request`, async () => {
        const made = await store();
        const connector = await connectTo(made);
        const address = sampleAddress("1");
        const calls = [
          () => connector.readRef(name),
          () => connector.createRef(name, address),
          () => connector.compareAndSetRef(name, address, address),
          () => connector.deleteRef(name, address),
        ];
        for (const call of calls) {
          const outcome = await call().catch((error) => error);
          expect(isDreamDBError(outcome, "invalid-ref-name")).toBe(true);
        }
        expect(await made.paths()).toEqual([]);
      });
    }

    test("reads but never writes below the reserved name tags", async () => {
      const made = await store();
      const connector = await connectTo(made);
      const address = sampleAddress("1");
      expect(await connector.readRef("tags/v1")).toBeUndefined();
      for (
        const call of [
          () => connector.createRef("tags/v1", address),
          () => connector.compareAndSetRef("tags/v1", address, address),
          () => connector.deleteRef("tags", address),
        ]
      ) {
        expect(isDreamDBError(await call().catch((error) => error), "invalid-ref-name")).toBe(true);
      }
    });

    test("keeps names that nest apart or says that it cannot", async () => {
      const made = await store();
      const connector = await connectTo(made);
      const [first, second] = [sampleAddress("1"), sampleAddress("2")];
      const pairs: readonly (readonly [string, string])[] = [["a", "a/b"], ["c/d", "c"]];
      for (const [existing, name] of pairs) {
        await connector.createRef(existing, first);
        expect(await connector.readRef(name)).toBeUndefined();
        const outcome = await connector.createRef(name, second).catch((error) => error);
        if (options.nestedRefs) expect(outcome).toBe("created");
        else expect(isDreamDBError(outcome, "usage")).toBe(true);
        expect(await connector.readRef(existing)).toBe(first);
      }
    });

    test("does nothing once the signal is aborted", async () => {
      const made = await store();
      const connector = await connectTo(made);
      const address = sampleAddress("1");
      const reason = new Error("stop");
      const call = { signal: AbortSignal.abort(reason) };
      const calls = [
        () => connector.get(manifestPath(address), call),
        () => connector.putIfAbsent(manifestPath(address), bytesOf("1"), call),
        () => connector.readRef("trunk", call),
        () => connector.createRef("trunk", address, call),
        () => connector.compareAndSetRef("trunk", address, address, call),
        () => connector.listRefs("", call),
        () => connector.deleteRef("trunk", address, call),
      ];
      for (const started of calls) {
        expect(await started().then(() => "went on", (error: unknown) => error)).toBe(reason);
      }
      expect(await made.paths()).toEqual([]);
    });
  });
}
