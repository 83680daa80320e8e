import { describe, expect, test } from "bun:test";

import { addressBytes, addressOf } from "../../src/encoding/address.ts";
import { decodeCanonical } from "../../src/encoding/cbor-decode.ts";
import { encodeCanonical } from "../../src/encoding/cbor-encode.ts";
import type { CborMap, CborValue } from "../../src/encoding/cbor-value.ts";
import { isDreamDBError } from "../../src/errors.ts";
import { decodeBtreePage, encodeBtreePage } from "../../src/model/btree-page.ts";
import type { BtreePageContext } from "../../src/model/btree-page.ts";
import { leafEntryLength } from "../../src/model/index-leaf.ts";
import type { PagedKind } from "../../src/model/index-leaf.ts";
import { decodeIndexPage, encodeIndexLeaf, indexChildOf } from "../../src/model/index-page.ts";

const bytes33 = addressBytes(addressOf(Uint8Array.of(1)));
/** A real anchor: nanoseconds in 2027. */
const T = 1_800_000_000_000_000_000n;

const pageMap = (type: string, entries: readonly CborValue[], min: bigint, max: bigint) =>
  new Map<string, CborValue>([
    ["type", type],
    ["t_max", max],
    ["t_min", min],
    ["entries", entries],
    ["modality", "m"],
  ]);

const spatialLeaf = pageMap(
  "leaf",
  [["0000", 3n, 1n, 176n, bytes33], ["0101", 0n, 1n, 176n, bytes33, 0n, bytes33]],
  T,
  T + 4n,
);
const spatialRoot = pageMap(
  "internal",
  [[T, T + 4n, bytes33, 2n, "0000", "0101"], [T, T + 9n, bytes33, 7n, "0101", "11"]],
  T,
  T + 9n,
);
const fragmentLeaf = pageMap(
  "leaf",
  [[0n, 1n, 4n, bytes33, false, 0n], [1n, 1n, 4n, bytes33], [1n, 2n, 9n, bytes33, true]],
  T,
  T + 3n,
);
const fragmentRoot = pageMap(
  "internal",
  [[T, T + 2n, bytes33, 2n], [T + 1n, T + 9n, bytes33, 2n]],
  T,
  T + 9n,
);
const eventLeaf = pageMap("leaf", [[bytes33, 0n], [bytes33, 5n]], T, T + 6n);
const videoLeaf = pageMap(
  "leaf",
  [[0n, 3n, Uint8Array.of(9), bytes33], [7n, 3n, Uint8Array.of(1), bytes33]],
  T,
  T + 10n,
);

/** A copy of a page with some fields replaced; undefined removes one. */
function altered(page: CborMap, fields: Record<string, CborValue | undefined>): CborMap {
  const map = new Map(page);
  for (const [key, value] of Object.entries(fields)) {
    if (value === undefined) map.delete(key);
    else map.set(key, value);
  }
  return map;
}

const withEntries = (page: CborMap, ...entries: readonly CborValue[]) => altered(page, { entries });

describe("an Index Page is refused", () => {
  const rows: readonly [string, PagedKind, CborMap][] = [
    ["with an unknown key", "fragment", altered(fragmentLeaf, { zz: 1n })],
    ["without modality", "fragment", altered(fragmentLeaf, { modality: undefined })],
    ["of another modality", "fragment", altered(fragmentLeaf, { modality: "n" })],
    ["of an unknown type", "fragment", altered(fragmentLeaf, { type: "leaff" })],
    ["without entries", "fragment", withEntries(fragmentLeaf)],
    ["with t_min too low", "fragment", altered(fragmentLeaf, { t_min: T - 1n })],
    ["with t_max too high", "fragment", altered(fragmentLeaf, { t_max: T + 4n })],
    ["with t_max of an internal page wrong", "fragment", altered(fragmentRoot, { t_max: T })],
    ["with a duration of 0", "fragment", withEntries(fragmentLeaf, [0n, 0n, 4n, bytes33])],
    ["with too few elements", "fragment", withEntries(fragmentLeaf, [0n, 1n, 4n])],
    [
      "with an end beyond 64 bits",
      "fragment",
      pageMap("leaf", [[9n, 2n ** 64n - 5n, 1n, bytes33]], 0n, 1n),
    ],
    [
      "with entries out of order",
      "fragment",
      withEntries(fragmentLeaf, [1n, 2n, 4n, bytes33], [0n, 1n, 4n, bytes33]),
    ],
    [
      "with 5 elements that say packed",
      "fragment",
      withEntries(fragmentLeaf, [0n, 3n, 4n, bytes33, false]),
    ],
    [
      "with 6 elements that say chunked",
      "fragment",
      withEntries(fragmentLeaf, [0n, 3n, 4n, bytes33, true, 0n]),
    ],
    [
      "with children out of order",
      "fragment",
      withEntries(fragmentRoot, [T + 1n, T + 9n, bytes33, 2n], [T, T + 2n, bytes33, 2n]),
    ],
    [
      "with a cell that is no cell",
      "spatial-bucket",
      withEntries(spatialLeaf, ["012", 0n, 4n, 176n, bytes33]),
    ],
    [
      "with cells out of order",
      "spatial-bucket",
      withEntries(spatialLeaf, ["1", 0n, 4n, 176n, bytes33], ["01", 0n, 4n, 176n, bytes33]),
    ],
    [
      "with a bucket that is no address",
      "spatial-bucket",
      withEntries(spatialLeaf, ["01", 0n, 4n, 176n, bytes33.subarray(1)]),
    ],
    [
      "with 8 elements",
      "spatial-bucket",
      withEntries(spatialLeaf, ["01", 0n, 4n, 176n, bytes33, 0n, bytes33, 0n]),
    ],
    [
      "with overlapping key ranges",
      "spatial-bucket",
      withEntries(
        spatialRoot,
        [T, T + 4n, bytes33, 2n, "0000", "11"],
        [T, T + 9n, bytes33, 7n, "0101", "11"],
      ),
    ],
    [
      "with a mix of old and new children",
      "spatial-bucket",
      withEntries(spatialRoot, [T, T + 4n, bytes33, 2n, "0", "11"], [T, T + 9n, bytes33, 7n]),
    ],
    ["with three elements in an event", "event-array", withEntries(eventLeaf, [bytes33, 0n, 1n])],
  ];
  test.each(rows)("%s", (_name, kind, page) => {
    expect(refusal(() => decodeIndexPage(encodeCanonical(page), { kind, modality: "m" }))).toMatch(
      /^malformed-(object|cbor)$/,
    );
  });
});

describe("an Index Page is read", () => {
  const rows: readonly [string, PagedKind, CborMap][] = [
    ["as a spatial leaf", "spatial-bucket", spatialLeaf],
    ["as a spatial internal page", "spatial-bucket", spatialRoot],
    [
      "with children of the old form, without cells",
      "spatial-bucket",
      withEntries(spatialRoot, [T, T + 4n, bytes33, 2n], [T, T + 9n, bytes33, 7n]),
    ],
    ["as a fragment leaf", "fragment", fragmentLeaf],
    ["as a fragment internal page", "fragment", fragmentRoot],
    ["as an event leaf", "event-array", eventLeaf],
    ["as a VideoItem leaf", "video-item", videoLeaf],
  ];
  test.each(rows)("%s", (_name, kind, map) => {
    const bytes = encodeCanonical(map);
    const page = decodeIndexPage(bytes, { kind, modality: "m" });
    const address = addressOf(bytes);
    const child = indexChildOf(kind, page, address);
    expect([child.start, child.end, child.page]).toEqual([page.start, page.end, address]);
    if (page.type === "leaf") {
      expect(encodeIndexLeaf(kind, "m", page.entries)).toEqual(bytes);
      const lengths = page.entries.map((entry) => leafEntryLength(kind, entry, page.start));
      const stored = (map.get("entries") as readonly CborValue[]).map((e) =>
        encodeCanonical(e).length
      );
      expect(lengths).toEqual(stored);
    }
  });

  test("with entries in absolute time, as they stand in an inline index", () => {
    const page = decodeIndexPage(encodeCanonical(spatialLeaf), {
      kind: "spatial-bucket",
      modality: "m",
    });
    if (page.type !== "leaf") throw new Error("a leaf was written");
    expect(page.entries.map((entry) => decodeCanonical(entry.bytes))).toEqual([
      ["0000", T + 3n, T + 4n, 176n, bytes33],
      ["0101", T, T + 1n, 176n, bytes33, 0n, bytes33],
    ]);
  });
});

const int64 = "dreamdb.btree-int64";
const btreeMap = (type: string, level: bigint, entries: readonly CborValue[]) =>
  new Map<string, CborValue>([
    ["type", type],
    ["level", level],
    ["entries", entries],
    ["algorithm", int64],
  ]);
const key = (value: CborValue) => encodeCanonical(value);
const sort = (last: number) => Uint8Array.of(0x80, 0, 0, 0, 0, 0, 0, last);
const btreeLeaf = btreeMap("leaf", 0n, [
  [key(-2n), T, T + 1n, bytes33, 64n, 31n],
  [key(7n), T, T + 4n, bytes33],
  [key(7n), T, T + 4n, bytes33, 0n, 33n],
  [key(300n), T, T + 4n, bytes33, 0n, 33n],
]);
const btreeRoot = btreeMap("internal", 1n, [
  [sort(0), sort(4), bytes33],
  [sort(4), sort(9), bytes33],
]);

describe("a B-tree page is refused", () => {
  const rows: readonly [string, CborMap, Partial<BtreePageContext>?][] = [
    ["with an unknown key", altered(btreeLeaf, { zz: 1n })],
    ["of another algorithm", btreeLeaf, { algorithm: "dreamdb.btree-string" }],
    ["with level 1 in a leaf", altered(btreeLeaf, { level: 1n })],
    ["with level 0 in an internal page", altered(btreeRoot, { level: 0n })],
    ["without entries", withEntries(btreeLeaf)],
    [
      "with values out of order",
      withEntries(btreeLeaf, [key(7n), T, T + 1n, bytes33], [
        key(-2n),
        T,
        T + 1n,
        bytes33,
      ]),
    ],
    [
      "with times out of order under one value",
      withEntries(btreeLeaf, [
        key(7n),
        T + 1n,
        T + 2n,
        bytes33,
      ], [key(7n), T, T + 2n, bytes33]),
    ],
    [
      "with packed before unpacked",
      withEntries(btreeLeaf, [
        key(7n),
        T,
        T + 4n,
        bytes33,
        0n,
        33n,
      ], [key(7n), T, T + 4n, bytes33]),
    ],
    ["with 5 elements", withEntries(btreeLeaf, [key(7n), T, T + 4n, bytes33, 0n])],
    ["with an empty time range", withEntries(btreeLeaf, [key(7n), T, T, bytes33])],
    [
      "with a key that is not canonical",
      withEntries(btreeLeaf, [
        Uint8Array.of(0x18, 7),
        T,
        T + 1n,
        bytes33,
      ]),
    ],
    ["with a text key", withEntries(btreeLeaf, [key("7"), T, T + 1n, bytes33])],
    ["with a key beyond i64", withEntries(btreeLeaf, [key(2n ** 63n), T, T + 1n, bytes33])],
    [
      "with children out of order",
      withEntries(btreeRoot, [sort(5), sort(9), bytes33], [
        sort(0),
        sort(4),
        bytes33,
      ]),
    ],
    [
      "with a child that ends before it begins",
      withEntries(btreeRoot, [
        sort(5),
        sort(4),
        bytes33,
      ]),
    ],
    ["with a short sort key", withEntries(btreeRoot, [sort(1).subarray(1), sort(4), bytes33])],
    ["that is too large", btreeLeaf, {
      limits: { pageBytes: 100, leafFanout: 9, internalFanout: 9 },
    }],
    ["with too many entries", btreeLeaf, {
      limits: { pageBytes: 9_999, leafFanout: 3, internalFanout: 9 },
    }],
    ["with too many children", btreeRoot, {
      limits: { pageBytes: 9_999, leafFanout: 9, internalFanout: 1 },
    }],
  ];
  // A row without its third element would make the runner wait for a callback.
  const complete = rows.map(([name, page, context]) => ({ name, page, context }));
  test.each(complete)("$name", ({ page, context }) => {
    const refused = refusal(() =>
      decodeBtreePage(encodeCanonical(page), { algorithm: int64, ...context })
    );
    expect(refused).toMatch(/^malformed-(object|cbor)$/);
  });
});

test.each([["leaf", btreeLeaf], ["internal page", btreeRoot]])(
  "a B-tree %s is read and written",
  (_name, page) => {
    const bytes = encodeCanonical(page);
    expect(encodeBtreePage(decodeBtreePage(bytes, { algorithm: int64 }), int64)).toEqual(bytes);
  },
);

/** The code of the fault that `run` throws. */
function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (isDreamDBError(error)) return error.code;
    throw error;
  }
  return "accepted";
}
