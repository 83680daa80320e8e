import { describe, expect, test } from "bun:test";
import { Decoder } from "cbor-x/decode";
import fc from "fast-check";

import { isDreamDBError } from "../../src/errors.ts";
import { equalBytes } from "../../src/encoding/bytes.ts";
import { CborCursor } from "../../src/encoding/cbor-cursor.ts";
import { decodeCanonical } from "../../src/encoding/cbor-decode.ts";
import { encodeCanonical } from "../../src/encoding/cbor-encode.ts";
import type { CborValue } from "../../src/encoding/cbor-value.ts";
import { CborWriter } from "../../src/encoding/cbor-writer.ts";

const edges = [0, 8, 16, 31, 32, 53, 63, 64].flatMap((bits) =>
  [-1n, 0n, 1n].flatMap((beside) => [2n ** BigInt(bits) + beside, -(2n ** BigInt(bits)) + beside])
).filter((value) => value < 2n ** 64n && value >= -(2n ** 64n));

const integer = fc.oneof(
  fc.constantFrom(...edges),
  fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n - 1n }),
  fc.bigInt({ min: 1_700_000_000_000_000_000n, max: 1_900_000_000_000_000_000n }),
  fc.bigInt({ min: -300n, max: 300n }),
);
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.string({ unit: "binary", maxLength: 12 }).map((tail) => `\ufeff${tail}${"-".repeat(70)}`),
  fc.string({ maxLength: 300 }),
);
const float = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.float({ noNaN: true, noDefaultInfinity: true }),
  fc.integer({ min: -2048, max: 2048 }),
);

function valueOf(leaf: fc.Arbitrary<CborValue>): fc.Arbitrary<CborValue> {
  return fc.letrec<{ value: CborValue }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      leaf,
      fc.array(tie("value"), { maxLength: 6 }),
      fc.uniqueArray(fc.tuple(text, tie("value")), { maxLength: 6, selector: ([key]) => key })
        .map((entries): CborValue => new Map(entries)),
    ),
  })).value;
}

const plainLeaf = fc.oneof<fc.Arbitrary<CborValue>[]>(
  integer,
  text,
  fc.uint8Array({ maxLength: 40 }),
  fc.boolean(),
  fc.constant(null),
);
const plainValue = valueOf(plainLeaf);
const anyValue = valueOf(fc.oneof<fc.Arbitrary<CborValue>[]>(plainLeaf, float));

describe("for every value", () => {
  test("decoding undoes encoding", () => {
    fc.assert(fc.property(anyValue, (value) => {
      expect(decodeCanonical(encodeCanonical(value), { floats: true })).toEqual(value);
    }));
  });

  test("without floats too, where another decoder is at work", () => {
    fc.assert(fc.property(plainValue, (value) => {
      expect(decodeCanonical(encodeCanonical(value))).toEqual(value);
    }));
  });

  test("both ways of encoding give the same bytes", () => {
    fc.assert(fc.property(plainValue, (value) => {
      const alone = encodeCanonical(value);
      const besideFloat = encodeCanonical([value, 0.5]);
      expect(equalBytes(besideFloat.subarray(1, -3), alone)).toBe(true);
    }));
  });

  test("the encoding does not depend on the order of map keys", () => {
    const map = fc.uniqueArray(fc.tuple(text, integer), { selector: ([key]) => key });
    fc.assert(fc.property(map, (entries) => {
      const forwards = encodeCanonical(new Map(entries));
      expect(equalBytes(encodeCanonical(new Map(entries.toReversed())), forwards)).toBe(true);
    }));
  });

  test("skip ends where the item ends", () => {
    fc.assert(fc.property(anyValue, fc.uint8Array({ maxLength: 9 }), (value, behind) => {
      const bytes = encodeCanonical(value);
      const cursor = new CborCursor(Uint8Array.of(0, ...bytes, ...behind), 1, { floats: true });
      cursor.skip();
      expect(cursor.offset).toBe(1 + bytes.length);
    }));
  });

  test("an independent decoder reads the same integers from the writer", () => {
    const other = new Decoder({ useRecords: false, mapsAsObjects: false });
    fc.assert(fc.property(integer, (value) => {
      const writer = new CborWriter();
      writer.int(value);
      const read: unknown = other.decode(writer.finish());
      expect(typeof read === "number" ? BigInt(read) : read).toBe(value);
    }));
  });
});

/** Either refused as malformed, or a value with exactly these bytes. */
function expectOneSpelling(bytes: Uint8Array): void {
  let value: CborValue;
  try {
    value = decodeCanonical(bytes, { floats: true });
  } catch (error) {
    if (isDreamDBError(error, "malformed-cbor")) return;
    throw error;
  }
  if (!equalBytes(encodeCanonical(value), bytes)) throw new Error("two encodings of one value");
}

describe("every value has one spelling:", () => {
  test("a changed byte is refused or makes another value", () => {
    fc.assert(
      fc.property(anyValue, fc.nat(), fc.integer({ min: 1, max: 255 }), (value, place, change) => {
        const bytes = encodeCanonical(value);
        const index = place % bytes.length;
        bytes[index] = (bytes[index] ?? 0) ^ change;
        expectOneSpelling(bytes);
      }),
      { numRuns: 1000 },
    );
  });

  test("an inserted or removed byte is refused or makes another value", () => {
    fc.assert(
      fc.property(anyValue, fc.nat(), fc.option(fc.nat(255)), (value, place, insert) => {
        const bytes = encodeCanonical(value);
        const index = place % bytes.length;
        const head = bytes.subarray(0, index);
        expectOneSpelling(
          insert === null
            ? Uint8Array.of(...head, ...bytes.subarray(index + 1))
            : Uint8Array.of(...head, insert, ...bytes.subarray(index)),
        );
      }),
      { numRuns: 500 },
    );
  });

  test("any bytes are refused or re-encode to themselves", () => {
    const heads = [0x18, 0x1b, 0x3b, 0x41, 0x61, 0x62, 0x80, 0x81, 0x82, 0xa1, 0xa2, 0xf6, 0xf9];
    const byte = fc.oneof(fc.constantFrom(...heads), fc.nat(255));
    fc.assert(
      fc.property(fc.array(byte, { maxLength: 16 }), (values) => {
        expectOneSpelling(Uint8Array.from(values));
      }),
      { numRuns: 2000 },
    );
  });

  test("every truncation is refused", () => {
    fc.assert(fc.property(anyValue, fc.nat(), (value, place) => {
      const bytes = encodeCanonical(value);
      const cut = bytes.subarray(0, place % bytes.length);
      expect(() => decodeCanonical(cut, { floats: true })).toThrow();
    }));
  });
});
