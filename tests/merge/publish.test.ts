import { describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Address } from "../../src/encoding/address.ts";
import { DreamDBError } from "../../src/errors.ts";
import type { Connector, RefOutcome } from "../../src/store/connector.ts";
import { MemoryConnector } from "../../src/store/memory.ts";
import { mergeMany } from "../../src/merge/merge-many.ts";
import { DEFAULTS } from "../../src/merge/request.ts";
import { rowAt, rowsFrom } from "../support/rows.ts";
import type { StoreBuilder } from "../support/store-builder.ts";
import { findDefects } from "../support/store-reader.ts";
import { addressesOf, expectTrunk, FIELDS, forked, range, snapshot } from "./merging.ts";

setDefaultTimeout(120_000);

const SMALL = { emb: FIELDS.emb, num: FIELDS.num } as const;
const MERGED = [...range(0, 4), ...range(10, 13), ...range(20, 23)];

async function twoBranches(): Promise<StoreBuilder> {
  const store = await forked(2, SMALL);
  await store.append("w0", rowsFrom(store.fields, 10, 13, 1));
  await store.append("w1", rowsFrom(store.fields, 20, 23, 1));
  return store;
}

/** The same connector with some calls replaced. */
function changed(inner: Connector, changes: Partial<Connector>): Connector {
  return {
    url: inner.url,
    get: (path, options) => inner.get(path, options),
    putIfAbsent: (path, bytes, options) => inner.putIfAbsent(path, bytes, options),
    flush: (options) => inner.flush(options),
    readRef: (name, options) => inner.readRef(name, options),
    createRef: (name, to, options) => inner.createRef(name, to, options),
    compareAndSetRef: (name, expected, next, options) =>
      inner.compareAndSetRef(name, expected, next, options),
    listRefs: (prefix, options) => inner.listRefs(prefix, options),
    deleteRef: (name, expected, options) => inner.deleteRef(name, expected, options),
    close: () => inner.close(),
    ...changes,
  };
}

/** A connector that lets `interfere` act before each of the first `times` writes of the ref. */
function racing(
  store: StoreBuilder,
  times: number,
  interfere: (round: number) => Promise<unknown>,
) {
  let round = 0;
  return changed(store.connector, {
    async compareAndSetRef(name, expected, next, options) {
      if (name === "trunk" && round < times) await interfere(round++);
      return await store.connector.compareAndSetRef(name, expected, next, options);
    },
  });
}

describe("the ref moves under us", () => {
  test.each([1, 2, 4])("%i times, to a descendant: nothing is lost", async (times) => {
    const store = await twoBranches();
    const connector = racing(
      store,
      times,
      (round) => store.append("trunk", [rowAt(store.fields, 100 + round, 1)]),
    );
    const report = await store.merge(["w0", "w1"], {}, { connector });
    expect(report.status).toBe("merged");
    expect(report.attempts).toBe(times + 1);
    expect(report.parents[0]).toBe(report.trunk.before);
    await expectTrunk(store, [...MERGED, ...range(100, 100 + times)]);
  });

  test("more often than there are tries: a conflict, and nothing was published", async () => {
    const store = await twoBranches();
    const connector = racing(
      store,
      9,
      (round) => store.append("trunk", [rowAt(store.fields, 100 + round, 1)]),
    );
    await expect(store.merge(["w0", "w1"], { attempts: 3 }, { connector }))
      .rejects.toMatchObject({ code: "publish-conflict", fault: { attempts: 3 } });
    await expectTrunk(store, [...range(0, 4), 100, 101, 102]);
  });

  test("somebody merged one of the branches meanwhile", async () => {
    const store = await twoBranches();
    const connector = racing(store, 1, () => store.merge(["w0"]));
    const report = await store.merge(["w0", "w1"], {}, { connector });
    expect(report.branches.map(({ state }) => state)).toEqual(["same-tip", "merged"]);
    await expectTrunk(store, MERGED);
  });

  test("somebody merged all of them meanwhile", async () => {
    const store = await twoBranches();
    const connector = racing(store, 1, () => store.merge(["w1", "w0"]));
    const report = await store.merge(["w0", "w1"], {}, { connector });
    expect(report.status).toBe("already-merged");
    await expectTrunk(store, MERGED);
  });

  test("to a sibling of what it held", async () => {
    const store = await twoBranches();
    const before = await store.tip("trunk");
    await store.append("trunk", [rowAt(store.fields, 100, 1)]);
    await store.branch("side", "trunk");
    await store.move("trunk", before);
    await store.append("trunk", [rowAt(store.fields, 200, 1)]);
    const connector = racing(store, 1, async () => store.move("trunk", await store.tip("side")));
    await store.merge(["w0", "w1"], {}, { connector });
    await expectTrunk(store, [...MERGED, 100]);
  });

  test("backwards", async () => {
    const store = await twoBranches();
    const before = await store.tip("trunk");
    await store.append("trunk", [rowAt(store.fields, 100, 1)]);
    const connector = racing(store, 1, () => store.move("trunk", before));
    await store.merge(["w0", "w1"], {}, { connector });
    await expectTrunk(store, MERGED);
  });

  test("away and back: the write finds what it expects", async () => {
    const store = await twoBranches();
    const before = await store.tip("trunk");
    const connector = racing(store, 1, async () => {
      await store.append("trunk", [rowAt(store.fields, 100, 1)]);
      await store.move("trunk", before);
    });
    const report = await store.merge(["w0", "w1"], {}, { connector });
    expect(report.attempts).toBe(1);
    await expectTrunk(store, MERGED);
  });

  test("while it is planned again: planned once more, which is no try", async () => {
    const store = await twoBranches();
    let [reads, moves] = [0, 0];
    const move = () => store.append("trunk", [rowAt(store.fields, 100 + moves++, 1)]);
    const connector = changed(store.connector, {
      async readRef(name, options) {
        const tip = await store.connector.readRef(name, options);
        // The first read is that of the first try.
        if (name === "trunk" && [2, 3].includes(++reads)) await move();
        return tip;
      },
      async compareAndSetRef(name, expected, next, options) {
        if (name === "trunk" && moves === 0) await move();
        return await store.connector.compareAndSetRef(name, expected, next, options);
      },
    });
    const report = await store.merge(["w0", "w1"], {}, { connector });
    expect(report).toMatchObject({ status: "merged", attempts: 2 });
    expect(moves).toBe(3);
    await expectTrunk(store, [...MERGED, ...range(100, 103)]);
  });

  test("it is deleted: told, and not made again", async () => {
    const store = await twoBranches();
    const connector = racing(
      store,
      1,
      async () => store.connector.deleteRef("trunk", await store.tip("trunk")),
    );
    await expect(store.merge(["w0", "w1"], {}, { connector }))
      .rejects.toMatchObject({
        code: "publish-conflict",
        fault: { found: expect.stringContaining("trunk disappeared") },
      });
    expect(await store.connector.readRef("trunk")).toBeUndefined();
  });

  test("never, and yet every write of it is refused: the permission is to be looked at", async () => {
    const store = await twoBranches();
    const connector = changed(store.connector, {
      compareAndSetRef: (_name, expected) =>
        Promise.resolve({ status: "conflict", found: expected, sent: true }),
    });
    await expect(store.merge(["w0", "w1"], { attempts: 2 }, { connector })).rejects.toMatchObject({
      code: "publish-conflict",
      fault: {
        attempts: 2,
        found: expect.stringContaining("although it still holds"),
        next: expect.stringContaining("may read and overwrite refs/trunk"),
      },
    });
    await expectTrunk(store, range(0, 4));
  });

  test("what trunk gained makes the merge one that is refused", async () => {
    const store = await twoBranches();
    const connector = racing(store, 1, () => store.append("trunk", [rowAt(store.fields, 11, 1)]));
    const report = await store.merge(["w0", "w1"], {}, { connector });
    expect(report.status).toBe("refused");
    await expectTrunk(store, [...range(0, 4), 11]);
  });

  test("pauses grow between the tries", async () => {
    const store = await twoBranches();
    const pauses: number[] = [];
    const connector = racing(
      store,
      4,
      (round) => store.append("trunk", [rowAt(store.fields, 100 + round, 1)]),
    );
    await store.merge(["w0", "w1"], {}, {
      connector,
      random: () => 1,
      pause: (milliseconds) => Promise.resolve(void pauses.push(milliseconds)),
    });
    expect(pauses).toEqual([50, 100, 200, 400]);
  });
});

describe("a branch moves while it is merged", () => {
  test("the merge holds what it was when the merge began, and says so", async () => {
    const store = await twoBranches();
    const tip = await store.tip("w0");
    const connector = racing(store, 1, () => store.append("w0", [rowAt(store.fields, 50, 1)]));
    const report = await store.merge(["w0", "w1"], {}, { connector });
    expect(report.warnings).toMatchObject([{
      code: "branch-moved",
      sides: ["w0"],
      addresses: [tip, await store.tip("w0")],
    }]);
    await expectTrunk(store, MERGED);
    expect((await store.merge(["w0"])).status).toBe("merged");
    await expectTrunk(store, [...MERGED, 50]);
  });
});

test("a ref that moved without being synced is a warning", async () => {
  const store = await twoBranches();
  const connector = changed(store.connector, {
    async compareAndSetRef(name, expected, next, options) {
      await store.connector.compareAndSetRef(name, expected, next, options);
      return { status: "committed", note: "not-synced" };
    },
  });
  const report = await store.merge(["w0", "w1"], {}, { connector });
  expect(report).toMatchObject({
    status: "merged",
    resolvedByReading: false,
    warnings: [{ code: "not-synced" }],
  });
  await expectTrunk(store, MERGED);
});

describe("the answer to the ref write is lost", () => {
  const answering = (store: StoreBuilder, answer: (next: Address) => Promise<RefOutcome>) =>
    changed(store.connector, {
      compareAndSetRef: (name, expected, next, options) =>
        name === "trunk"
          ? answer(next)
          : store.connector.compareAndSetRef(name, expected, next, options),
    });

  test("and the store found it applied", async () => {
    const store = await twoBranches();
    const connector = answering(store, async (next) => {
      await store.move("trunk", next);
      return { status: "committed", note: "confirmed-after-unknown" };
    });
    const report = await store.merge(["w0", "w1"], {}, { connector });
    expect(report).toMatchObject({ status: "merged", resolvedByReading: true });
  });

  test("and somebody has published on top of it since", async () => {
    const store = await twoBranches();
    const connector = answering(store, async (next) => {
      await store.move("trunk", next);
      const found = await store.append("trunk", [rowAt(store.fields, 100, 1)]);
      return { status: "conflict", found, sent: true };
    });
    const report = await store.merge(["w0", "w1"], {}, { connector });
    expect(report).toMatchObject({ status: "merged", resolvedByReading: true, attempts: 1 });
    await expectTrunk(store, [...MERGED, 100]);
  });

  test("and it was not applied while somebody else's was", async () => {
    const store = await twoBranches();
    let first = true;
    const connector = changed(store.connector, {
      async compareAndSetRef(name, expected, next, options) {
        if (!first) return await store.connector.compareAndSetRef(name, expected, next, options);
        first = false;
        const found = await store.append("trunk", [rowAt(store.fields, 100, 1)]);
        return { status: "conflict", found, sent: true };
      },
    });
    const report = await store.merge(["w0", "w1"], {}, { connector });
    expect(report).toMatchObject({ status: "merged", attempts: 2 });
    await expectTrunk(store, [...MERGED, 100]);
  });

  test.each([true, false])(
    "and nobody can tell; applied: %p; running again is safe",
    async (applied) => {
      const store = await twoBranches();
      const connector = answering(store, async (next) => {
        if (applied) await store.move("trunk", next);
        return { status: "unknown", cause: new Error("the connection was reset") };
      });
      await expect(store.merge(["w0", "w1"], {}, { connector }))
        .rejects.toMatchObject({ code: "publish-unknown" });
      const again = await store.merge(["w0", "w1"]);
      expect(again.status).toBe(applied ? "already-merged" : "merged");
      await expectTrunk(store, MERGED);
    },
  );
});

describe("the run ends at any call to the store", () => {
  /** A store's bytes in a connector of their own. */
  const copyOf = (connector: MemoryConnector): MemoryConnector => {
    const copy = new MemoryConnector();
    for (const [path, bytes] of connector.objects) copy.objects.set(path, bytes);
    for (const [name, body] of connector.refs) copy.refs.set(name, body);
    return copy;
  };

  /** A connector of which every call from number `last` on fails. */
  const dying = (inner: Connector, last: number): { connector: Connector; calls: () => number } => {
    let calls = 0;
    const alive = <Result>(call: () => Promise<Result>): Promise<Result> => {
      if (calls++ < last) return call();
      return Promise.reject(
        new DreamDBError({
          code: "store-failure",
          action: "go on",
          path: "",
          found: "the process was ended",
          expected: "a process that runs",
          next: "Run the same command again.",
        }),
      );
    };
    return {
      calls: () => calls,
      connector: changed(inner, {
        get: (path, options) => alive(() => inner.get(path, options)),
        putIfAbsent: (path, bytes, options) => alive(() => inner.putIfAbsent(path, bytes, options)),
        flush: (options) => alive(() => inner.flush(options)),
        readRef: (name, options) => alive(() => inner.readRef(name, options)),
        compareAndSetRef: (name, expected, next, options) =>
          alive(() => inner.compareAndSetRef(name, expected, next, options)),
      }),
    };
  };

  test("the ref is old or new, what it names is complete, and a second run comes to the same", async () => {
    const store = await twoBranches();
    const original = store.connector;
    const before = await store.tip("trunk");
    const request = { ref: "trunk", picks: new Map(), ...DEFAULTS, branches: ["w0", "w1"] };
    const now = () => 1_900_000_000_000_000_000n;
    const whole = copyOf(original);
    const count = dying(whole, Infinity);
    const { manifest } = await mergeMany(request, store.environment({ ...count, now }));
    if (manifest === null) throw new Error("nothing was merged");
    expect(await findDefects(whole, manifest)).toEqual([]);

    let olds = 0;
    for (let last = 0; last < count.calls(); last++) {
      const connector = copyOf(original);
      const run = mergeMany(
        request,
        store.environment({ connector: dying(connector, last).connector, now }),
      );
      const outcome = await run.then(() => "done", (error: DreamDBError) => error.code);
      const tip = await connector.readRef("trunk");
      // Looking once more at the branches after the ref moved may fail without harm.
      expect([last, outcome]).toEqual([last, tip === manifest ? "done" : "store-failure"]);
      expect([before, manifest]).toContain(tip ?? manifest);
      if (tip === before) olds++;
      if (tip !== undefined && last % 7 === 0) {
        expect(await findDefects(connector, tip)).toEqual([]);
      }
      const again = await mergeMany(request, store.environment({ connector, now }));
      expect(again.status).toBe(tip === manifest ? "already-merged" : "merged");
      expect(await connector.readRef("trunk")).toBe(manifest);
    }
    expect(olds).toBeGreaterThan(20);
    expect(olds).toBeLessThan(count.calls());
  });

  test("an aborted run leaves the ref alone", async () => {
    const store = await twoBranches();
    const controller = new AbortController();
    const connector = changed(store.connector, {
      putIfAbsent(path, bytes, options) {
        controller.abort(new Error("stopped"));
        return store.connector.putIfAbsent(path, bytes, options);
      },
    });
    const before = await store.tip("trunk");
    await expect(store.merge(["w0", "w1"], {}, { connector, signal: controller.signal }))
      .rejects.toThrow("stopped");
    expect(await store.tip("trunk")).toBe(before);
  });

  test("a run that is aborted while the ref is waited for leaves the ref alone", async () => {
    const store = await twoBranches();
    const controller = new AbortController();
    const connector = changed(store.connector, {
      compareAndSetRef(name, expected, next, options) {
        controller.abort(new Error("stopped"));
        return store.connector.compareAndSetRef(name, expected, next, options);
      },
    });
    await expect(store.merge(["w0", "w1"], {}, { connector, signal: controller.signal }))
      .rejects.toThrow("stopped");
    await expectTrunk(store, range(0, 4));
  });

  test("a run that is aborted once the ref has moved ends well", async () => {
    const store = await twoBranches();
    const controller = new AbortController();
    const connector = changed(store.connector, {
      async compareAndSetRef(name, expected, next, options) {
        const outcome = await store.connector.compareAndSetRef(name, expected, next, options);
        controller.abort(new Error("stopped"));
        return outcome;
      },
    });
    const report = await store.merge(
      ["w0", "w1"],
      {},
      { connector, signal: controller.signal },
    );
    expect(report.status).toBe("merged");
    await expectTrunk(store, MERGED);
  });
});

test("two runs at the same moment end with one merge of everything", async () => {
  const store = await forked(4, SMALL);
  for (const index of range(0, 4)) {
    await store.append(`w${index}`, rowsFrom(store.fields, 10 * index + 10, 10 * index + 13, 1));
  }
  const reports = await Promise.all([store.merge(["w0", "w1"]), store.merge(["w2", "w3"])]);
  expect(reports.map(({ status }) => status)).toEqual(["merged", "merged"]);
  await expectTrunk(store, [
    ...range(0, 4),
    ...range(0, 4).flatMap((index) => range(10 * index + 10, 10 * index + 13)),
  ]);
  const before = snapshot(store);
  expect((await store.merge(["w0", "w1", "w2", "w3"])).status).toBe("already-merged");
  expect(snapshot(store)).toBe(before);
  expect(Object.keys(await addressesOf(store))).toHaveLength(2);
});
