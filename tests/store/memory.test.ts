import { expect, test } from "bun:test";
import type { Connector } from "../../src/store/connector.ts";
import { MemoryConnector } from "../../src/store/memory.ts";
import { openConnector } from "../../src/store/open.ts";
import { storeConformance } from "./conformance.ts";

storeConformance("memory store", () => {
  const memory = new MemoryConnector();
  return {
    connect: () => memory,
    paths: () =>
      [...memory.objects.keys(), ...[...memory.refs.keys()].map((name) => `refs/${name}`)].sort(),
    putForeign(path, bytes) {
      if (path.startsWith("refs/")) memory.refs.set(path.slice("refs/".length), bytes);
      else memory.objects.set(path, bytes);
    },
    dispose: () => {},
  };
}, { nestedRefs: true, seesOtherBytes: true });

test("hands out copies, so that a caller cannot change what is stored", async () => {
  const memory: Connector = await openConnector("memory:");
  const bytes = new Uint8Array([1, 2, 3]);
  await memory.putIfAbsent("genesis/a", bytes);
  bytes[0] = 9;
  const read = await memory.get("genesis/a");
  expect(read).toEqual(new Uint8Array([1, 2, 3]));
  read?.fill(0);
  expect(await memory.get("genesis/a")).toEqual(new Uint8Array([1, 2, 3]));
});
