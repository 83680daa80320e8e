import { describe, expect, test } from "bun:test";
import { addressOf } from "../../src/encoding/address.ts";
import { baoOutboard } from "../../src/encoding/bao.ts";
import { isDreamDBError } from "../../src/errors.ts";
import type { Connector } from "../../src/store/connector.ts";
import { MemoryConnector } from "../../src/store/memory.ts";
import { getObject, putObject, putPayload } from "../../src/store/objects.ts";
import { manifestPath, outboardPath } from "../../src/store/paths.ts";
import { requestKind, withStatistics } from "../../src/store/statistics.ts";

const bytes = new TextEncoder().encode("an object");
const address = addressOf(bytes);
const path = manifestPath(address);

/** A store that answers the given bodies one after the other, then the last for ever. */
function answering(bodies: readonly (Uint8Array | undefined)[]): Connector & { reads: number } {
  const memory = new MemoryConnector();
  let reads = 0;
  return Object.assign(memory, {
    reads: 0,
    async get() {
      const body = bodies[Math.min(reads, bodies.length - 1)];
      reads++;
      this.reads = reads;
      return body;
    },
  });
}

describe("reading an object", () => {
  test("returns bytes that hash to the address", async () => {
    const store = answering([bytes]);
    expect(await getObject(store, path, address)).toBe(bytes);
    expect(store.reads).toBe(1);
  });

  test("reads wrong bytes once more", async () => {
    const store = answering([bytes.subarray(1), bytes]);
    expect(await getObject(store, path, address)).toBe(bytes);
    expect(store.reads).toBe(2);
  });

  const damaged: readonly (readonly [string, Uint8Array])[] = [
    ["a flipped first bit", bytes.map((byte, index) => index === 0 ? byte ^ 1 : byte)],
    [
      "a flipped last bit",
      bytes.map((byte, index) => index === bytes.length - 1 ? byte ^ 128 : byte),
    ],
    ["a missing end", bytes.subarray(0, -1)],
    ["no bytes", new Uint8Array()],
    ["another object", new TextEncoder().encode("another")],
  ];
  for (const [name, body] of damaged) {
    test(`refuses ${name} after two reads`, async () => {
      const store = answering([body]);
      const outcome = await getObject(store, path, address).catch((error) => error);
      expect(isDreamDBError(outcome, "hash-mismatch")).toBe(true);
      expect(outcome.fault.path).toBe(path);
      expect(outcome.message).toContain(address);
      expect(store.reads).toBe(2);
    });
  }

  test("says what is missing", async () => {
    const outcome = await getObject(answering([undefined]), path, address).catch((error) => error);
    expect(isDreamDBError(outcome, "object-missing")).toBe(true);
    expect(outcome.fault.path).toBe(path);
  });
});

describe("writing an object", () => {
  test("takes only a path that ends in its address", async () => {
    const store = new MemoryConnector();
    const wrong = manifestPath(addressOf(new Uint8Array()));
    const outcome = await putObject(store, wrong, bytes).catch((error) => error);
    expect(isDreamDBError(outcome, "internal")).toBe(true);
    expect(store.objects.size).toBe(0);
    expect(await putObject(store, path, bytes)).toBe("written");
    expect(await putObject(store, path, bytes)).toBe("present");
  });

  test("puts the outboard of a payload beside it", async () => {
    const store = new MemoryConnector();
    const payload = new Uint8Array(5_000).fill(7);
    const address = addressOf(payload);
    await putPayload(store, `${address}/m/bucket/${address}`, payload);
    expect(store.objects.get(outboardPath(address))).toEqual(baoOutboard(payload));
  });
});

describe("counting", () => {
  const timeline = address;
  const kinds: readonly (readonly [string, string])[] = [
    [`refs/trunk`, "ref"],
    [`manifests/${address}`, "manifest"],
    [`${timeline}/image.jpeg/track/${address}`, "track"],
    [`${timeline}/image.jpeg/index/${address}`, "page"],
    [`${timeline}/scalar.cat.field=x/bucket/${address}`, "bucket"],
    [`${timeline}/embedding.f32.dim=2.bucketed/0000000000000000/${address}`, "bucket"],
    [`${timeline}/image.jpeg/0000000000000000/${address}`, "other"],
    [`${timeline}/title.text/${address}`, "other"],
    [`genesis/${address}`, "other"],
    [`bao-outboard/${address}`, "other"],
  ];
  for (const [path, kind] of kinds) {
    test(`${path} is ${kind}`, () => {
      const expected: string = kind;
      expect(requestKind(path) as string).toBe(expected);
    });
  }

  test("adds up requests, bytes and objects", async () => {
    const { connector, statistics } = withStatistics(new MemoryConnector());
    await connector.putIfAbsent(path, bytes);
    await connector.putIfAbsent(path, bytes);
    await connector.get(path);
    await connector.get(`genesis/${address}`);
    const page = `${timeline}/image.jpeg/index/${address}`;
    await connector.putIfAbsent(page, bytes);
    await connector.putIfAbsent(page, bytes);
    await connector.get(page);
    await connector.createRef("trunk", address);
    await connector.readRef("trunk");
    expect(statistics).toEqual({
      requests: { ref: 2, manifest: 3, track: 0, page: 3, bucket: 0, other: 1 },
      bytesRead: 2 * bytes.length,
      bytesWritten: 2 * bytes.length,
      objectsWritten: 2,
      objectsPresent: 2,
      pagesRead: 1,
      pagesWritten: 1,
    });
  });
});
