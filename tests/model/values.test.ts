import { describe, expect, test } from "bun:test";
import fc from "fast-check";

import { addressOf, compareAddresses } from "../../src/encoding/address.ts";
import { compareBytes, fromHex, toHex } from "../../src/encoding/bytes.ts";
import { encodeCanonical } from "../../src/encoding/cbor-encode.ts";
import { isDreamDBError } from "../../src/errors.ts";
import { decodeAnchorSet, encodeAnchorSet } from "../../src/model/scalar-bucket.ts";
import { decodeScalarKey, sortKey } from "../../src/model/scalar-key.ts";
import type { OrderedAlgorithm, ScalarValue } from "../../src/model/scalar-key.ts";
import {
  bucketAnchors,
  decodeSpatialBucket,
  encodeSpatialBucket,
  recordAnchor,
  recordBytes,
} from "../../src/model/spatial-bucket.ts";
import {
  checkTombstonePage,
  decodeTombstonePage,
  encodeTombstonePage,
} from "../../src/model/tombstone-page.ts";
import {
  decodeTombstoneHead,
  encodeTombstoneHead,
  joinTombstoneHeads,
  joinTombstoneLists,
} from "../../src/model/tombstones.ts";

const T = 1_800_000_000_000_000_000n;
const someAddress = (n: number) => addressOf(Uint8Array.of(n));
const refused = { message: expect.stringMatching(/expected/) };

describe("keys of values", () => {
  const rows: readonly [ScalarValue, string][] = [
    ["", "60"],
    ["é", "62c3a9"],
    [true, "f5"],
    [-1n, "20"],
    [24n, "1818"],
    [-257n, "390100"],
    [2n ** 63n - 1n, "1b7fffffffffffffff"],
    [1.5, "f93e00"],
    [0.1, "fb3fb999999999999a"],
    [65536, "fa47800000"],
    [-0, "f98000"],
  ];
  test.each(rows)("%p is %s", (value, hex) => {
    expect(toHex(encodeCanonical(value))).toBe(hex);
    expect(decodeScalarKey(fromHex(hex))).toBe(value);
  });

  test.each(["f97e00", "f97c00", "1b8000000000000000", "3b8000000000000000", "80", "f6", "4161"])(
    "%s is refused",
    (hex) => {
      expect(() => decodeScalarKey(fromHex(hex))).toThrow(expect.objectContaining(refused));
    },
  );

  const sortRows: readonly [OrderedAlgorithm, ScalarValue, string][] = [
    ["dreamdb.btree-int64", -2n, "7ffffffffffffffe"],
    ["dreamdb.btree-int64", 7n, "8000000000000007"],
    ["dreamdb.btree-int64", 23n, "8000000000000017"],
    ["dreamdb.btree-int64", 24n, "8000000000000018"],
    ["dreamdb.btree-int64", 300n, "800000000000012c"],
    ["dreamdb.btree-int64", -300n, "7ffffffffffffed4"],
    ["dreamdb.btree-int64", 1n << 40n, "8000010000000000"],
    ["dreamdb.btree-int64", T, "98fae27693b40000"],
    ["dreamdb.btree-int64", -(2n ** 63n), "0000000000000000"],
    ["dreamdb.btree-int64", 2n ** 63n - 1n, "ffffffffffffffff"],
    ["dreamdb.btree-float64", -1.5, "4007ffffffffffff"],
    ["dreamdb.btree-float64", 1.5, "bff8000000000000"],
    ["dreamdb.btree-float64", -0, "8000000000000000"],
    ["dreamdb.btree-float64", 0, "8000000000000000"],
    ["dreamdb.btree-string", "a", "61"],
    ["dreamdb.btree-string", "x".repeat(300), "78".repeat(300)],
  ];
  test.each(sortRows)("under %s, %p sorts as %s", (algorithm, value, hex) => {
    expect(toHex(sortKey(algorithm, encodeCanonical(value)))).toBe(hex);
  });

  test.each([
    "1817",
    "3817",
    "190017",
    "1a00000017",
    "1b0000000000000017",
    "1b8000000000000000",
    "3b8000000000000000",
    "18",
    "0000",
    "1c",
    "6161",
    "f93e00",
    "",
  ])("%p is no integer to sort by", (hex) => {
    expect(() => sortKey("dreamdb.btree-int64", fromHex(hex))).toThrow();
  });

  const i64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
  const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
  test("sort keys order integers by value", () => {
    fc.assert(fc.property(i64, i64, (a, b) => {
      expect(sign(sorted("dreamdb.btree-int64", a, b))).toBe(a < b ? -1 : a > b ? 1 : 0);
    }));
  });
  test("sort keys order floats by value", () => {
    fc.assert(fc.property(finite, finite, (a, b) => {
      expect(sign(sorted("dreamdb.btree-float64", a, b))).toBe(a < b ? -1 : a > b ? 1 : 0);
    }));
  });
});

describe("anchor sets", () => {
  test("of two anchors, in both forms", () => {
    const treemap = fromHex(
      "01010000000000000000000000" + "3a3000000100000000000100" + "10000000e803eb03",
    );
    expect([...decodeAnchorSet(treemap)]).toEqual([1000n, 1003n]);
    expect(encodeAnchorSet(BigUint64Array.of(1000n, 1003n))).toEqual(treemap);
    expect([...decodeAnchorSet(fromHex("821903e81903eb"))]).toEqual([1000n, 1003n]);
  });

  test("of real anchors", () => {
    const anchors = BigUint64Array.from({ length: 5000 }, (_, i) => T + BigInt(i) * 40_000_000n);
    expect(decodeAnchorSet(encodeAnchorSet(anchors))).toEqual(anchors);
  });

  const hostile: readonly [string, string][] = [
    ["no bytes", ""],
    ["an unknown version", "02"],
    ["2^32 groups", "010000000001000000"],
    ["2^63 groups", "010000000000000080"],
    ["65,536 containers that are not there", "010100000000000000000000003a30000000000100"],
    ["65,537 containers", "010100000000000000000000003a30000001000100"],
    [
      "a cardinality that lies",
      "010100000000000000000000003a3000000100000000000200" + "10000000e803eb03",
    ],
    [
      "an offset that points back",
      "010100000000000000000000003a3000000100000000000100" + "00000000e803eb03",
    ],
    [
      "values out of order",
      "010100000000000000000000003a3000000100000000000100" + "10000000eb03e803",
    ],
    [
      "a run past 65,535",
      "010100000000000000000000003b30000001" + "0000ffff" + "0100" + "ffff0200",
    ],
    ["a trailing byte", "010100000000000000000000003a3000000100000000000000" + "10000000e80300"],
    ["an array of 2^32 - 1", "9affffffff"],
    ["an array without end", "9f01ff"],
    ["an array out of order", "821903eb1903e8"],
    ["an array with an anchor twice", "820101"],
    ["an array and more", "810101"],
    ["an array of texts", "816161"],
    ["an array with a long head", "98021903e81903eb"],
  ];
  test.each(hostile)("with %s is refused", (_name, hex) => {
    try {
      decodeAnchorSet(fromHex(hex));
    } catch (error) {
      expect(isDreamDBError(error)).toBe(true);
      return;
    }
    throw new Error("accepted");
  });

  test("with more anchors than the caller allows is refused", () => {
    const bytes = encodeAnchorSet(BigUint64Array.from({ length: 100 }, (_, i) => T + BigInt(i)));
    expect(() => decodeAnchorSet(bytes, "p", 99)).toThrow();
  });
});

describe("SpatialBuckets", () => {
  const recordSize = 16;
  const records = new Uint8Array(3 * recordSize);
  const view = new DataView(records.buffer);
  [T + 3n, T + 1n, T + 2n].forEach((anchor, index) =>
    view.setBigUint64(index * recordSize, anchor)
  );
  records[recordSize * 2 - 1] = 9;
  const bucket = {
    spatialIndex: someAddress(1),
    modality: "embedding.f32.dim=2.bucketed",
    compressor: undefined,
    recordSize,
    count: 3,
    records,
  };

  test("give their records in the order written", () => {
    const read = decodeSpatialBucket(encodeSpatialBucket(bucket));
    expect([...bucketAnchors(read)]).toEqual([T + 3n, T + 1n, T + 2n]);
    expect(recordAnchor(read, 1)).toBe(T + 1n);
    expect(recordBytes(read, 1)[recordSize - 1]).toBe(9);
  });

  test("have a longer header with a compressor", () => {
    const compressed = { ...bucket, compressor: someAddress(2) };
    const bytes = encodeSpatialBucket(compressed);
    expect(bytes.length).toBe(200 + records.length);
    expect(decodeSpatialBucket(bytes).compressor).toBe(compressed.compressor);
  });

  test("cut a modality of more than 32 characters", () => {
    const modality = "embedding.f32.dim=512.metric=l2.bucketed";
    const read = decodeSpatialBucket(encodeSpatialBucket({ ...bucket, modality }));
    expect(read.modality).toBe(modality.slice(0, 32));
  });

  test("are read from the middle of a buffer", () => {
    const bytes = encodeSpatialBucket(bucket);
    const shifted = new Uint8Array(bytes.length + 3);
    shifted.set(bytes, 3);
    expect(recordAnchor(decodeSpatialBucket(shifted.subarray(3)), 0)).toBe(T + 3n);
  });

  test.each([
    ["a reserved byte that is not zero", 0x60, 1],
    ["reference mode", 0x55, 1],
    ["a record count that is too high", 0x0f, 4],
    ["a header of another size", 0x13, 161],
    ["a byte after the end of the modality", 0x54, 0x61],
    ["a modality that is not ASCII", 0x35, 0x80],
    ["another magic", 0, 0x57],
    ["another version", 7, 2],
    ["a SpatialIndex that is no address", 0x14, 0x1d],
  ])("with %s are refused", (_name, at, byte) => {
    const bytes = encodeSpatialBucket(bucket);
    bytes[at] = byte;
    expect(() => decodeSpatialBucket(bytes)).toThrow(expect.objectContaining(refused));
  });
});

describe("tombstones", () => {
  test("of many heads are joined into one index, sorted and without repetition", () => {
    const heads = [5, 3, 9, 3, 1].map(someAddress);
    const index = joinTombstoneHeads(heads, someAddress(0), 1_795_986_493_202n);
    expect(index.parents).toEqual([...new Set(heads)].sort(compareAddresses));
    expect(decodeTombstoneHead(encodeTombstoneHead(index))).toEqual(index);
  });

  test("of a Legacy store are joined into one list", () => {
    const list = joinTombstoneLists([2, 1].map(someAddress), "vortex", 5n);
    const bytes = encodeTombstoneHead(list);
    expect(new TextDecoder("latin1").decode(bytes)).toContain("vortex.tombstone-list.v1");
    expect(decodeTombstoneHead(bytes)).toEqual(list);
  });

  test("pages must be what the page above says", () => {
    const tombstones = [{ anchor: T, deletedAt: 5n, reason: undefined }];
    const page = decodeTombstonePage(encodeTombstonePage({ level: 0, tombstones }));
    const right = { page: someAddress(1), level: 0, count: 1, min: T, max: T };
    expect(() => checkTombstonePage(right, page)).not.toThrow();
    for (const wrong of [{ level: 1 }, { count: 2 }, { min: T - 1n }, { max: T + 1n }]) {
      expect(() => checkTombstonePage({ ...right, ...wrong }, page)).toThrow();
    }
  });

  test.each([256, 257])("a reason of %d bytes", (length) => {
    const tombstones = [{ anchor: T, deletedAt: 5n, reason: "x".repeat(length) }];
    const read = () => decodeTombstonePage(encodeTombstonePage({ level: 0, tombstones }));
    if (length === 256) expect(read()).toEqual({ level: 0, tombstones });
    else expect(read).toThrow();
  });
});

function sorted(algorithm: OrderedAlgorithm, a: ScalarValue, b: ScalarValue): number {
  return compareBytes(
    sortKey(algorithm, encodeCanonical(a)),
    sortKey(algorithm, encodeCanonical(b)),
  );
}

function sign(difference: number): number {
  return difference < 0 ? -1 : difference > 0 ? 1 : 0;
}
