/**
 * Heads of canonical CBOR items: a major type and an argument in its shortest form (RFC 8949
 * section 3), and the checks that what a head promises is there.
 *
 * @module
 */

import { uint32At } from "./bytes.ts";
import { malformedCbor } from "./cbor-fault.ts";
import { firstInvalidUtf8 } from "./utf8.ts";

/** CBOR major types, the upper three bits of an item's first byte. */
export const MAJOR = {
  unsigned: 0,
  negative: 1,
  bytes: 2,
  text: 3,
  array: 4,
  map: 5,
  tag: 6,
  simple: 7,
} as const;

const MAJOR_NAMES = [
  "an unsigned integer",
  "a negative integer",
  "a byte string",
  "a text string",
  "an array",
  "a map",
  "a tag",
  "a simple value or float",
] as const;

const TWO_32 = 0x1_0000_0000;

/** The least argument that needs one, two, four and eight bytes. */
const LEAST_ARGUMENTS = [24, 0x100, 0x1_0000, TWO_32] as const;

/** An entry of an index or the like; see `view`. */
const FEW_BYTES = 512;

/** What `CborCursor` reads with; every method throws DreamDBError malformed-cbor. */
export abstract class CborHeadReader {
  readonly bytes: Uint8Array;
  /** Of the next item, in bytes from the start of `bytes`. */
  offset: number;
  /** Set when a text passed by began with a byte order mark, U+FEFF. */
  sawByteOrderMark = false;
  /** Where the argument of the last eight-byte head stands, exact where the number is not. */
  private longAt = 0;
  private wholeView: DataView | undefined;

  constructor(bytes: Uint8Array, offset: number) {
    this.bytes = bytes;
    this.offset = offset;
  }

  /** Made when first asked for: for an entry of a few bytes it costs more than reading it. */
  protected get view(): DataView {
    const { buffer, byteOffset, byteLength } = this.bytes;
    return this.wholeView ??= new DataView(buffer, byteOffset, byteLength);
  }

  /** The first byte of the next item. */
  protected first(): number {
    const first = this.bytes[this.offset];
    if (first === undefined) {
      throw malformedCbor(this.offset, "the end of the bytes", "another item");
    }
    return first;
  }

  /** Checks that `length` bytes are there from `start` on. */
  protected need(start: number, length: number): void {
    if (start + length > this.bytes.length) {
      throw malformedCbor(
        this.offset,
        `an item of at least ${start + length - this.offset} bytes with ${
          this.bytes.length - this.offset
        } left`,
        "the whole item",
      );
    }
  }

  /** The error for an item of another kind than `expected`. */
  protected unexpected(expected: string): Error {
    const first = this.first();
    return malformedCbor(
      this.offset,
      `${MAJOR_NAMES[first >> 5]} (first byte 0x${first.toString(16).padStart(2, "0")})`,
      expected,
    );
  }

  /**
   * Reads a head of `major` and moves past it. The result is exact up to 2^53−1; beyond, `exact`
   * has the value.
   */
  protected argument(major: number): number {
    const at = this.offset;
    const first = this.first();
    if (first >> 5 !== major) throw this.unexpected(MAJOR_NAMES[major] ?? "another item");
    const info = first & 31;
    if (info < 24) {
      this.offset = at + 1;
      return info;
    }
    if (info > 27) throw this.unexpected("a definite length");
    const width = 1 << (info - 24);
    this.need(at + 1, width);
    const value = this.bigEndian(at + 1, width);
    if (value < (LEAST_ARGUMENTS[info - 24] ?? 0)) {
      throw malformedCbor(at, `${value} in ${8 * width} bits`, "the shortest head");
    }
    this.offset = at + 1 + width;
    return value;
  }

  private bigEndian(at: number, width: number): number {
    const { bytes } = this;
    if (width === 1) return bytes[at] ?? 0;
    if (width === 2) return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
    if (width === 4) return uint32At(bytes, at);
    this.longAt = at;
    return uint32At(bytes, at) * TWO_32 + uint32At(bytes, at + 4);
  }

  /** The argument of the last eight-byte head. */
  protected exact(): bigint {
    const { bytes, longAt } = this;
    if (bytes.length > FEW_BYTES) return this.view.getBigUint64(longAt);
    return (BigInt(uint32At(bytes, longAt)) << 32n) | BigInt(uint32At(bytes, longAt + 4));
  }

  /** Reads the head of a string and checks that the string is there. */
  protected stringLength(major: number): number {
    const at = this.offset;
    const length = this.argument(major);
    if (length > this.bytes.length - this.offset) {
      throw malformedCbor(
        at,
        `${MAJOR_NAMES[major]} of ${length} bytes with ${this.bytes.length - this.offset} left`,
        "a string inside the object",
      );
    }
    return length;
  }

  /** Reads the head of a text, checks the UTF-8 behind it and returns where it ends. */
  protected textEnd(): number {
    const length = this.stringLength(MAJOR.text);
    const end = this.offset + length;
    const invalid = firstInvalidUtf8(this.bytes, this.offset, end);
    if (invalid >= 0) throw malformedCbor(invalid, "a byte that is not UTF-8", "valid UTF-8");
    if (this.bytes[this.offset] === 0xef && this.bytes[this.offset + 1] === 0xbb) {
      this.sawByteOrderMark ||= this.bytes[this.offset + 2] === 0xbf;
    }
    return end;
  }

  /** Reads the head of a container and checks that its items can be there. */
  protected itemCount(major: number, leastBytesEach: number): number {
    const at = this.offset;
    const count = this.argument(major);
    if (count * leastBytesEach > this.bytes.length - this.offset) {
      throw malformedCbor(
        at,
        `${MAJOR_NAMES[major]} of ${count} with ${this.bytes.length - this.offset} bytes left`,
        `at least ${leastBytesEach} bytes for each`,
      );
    }
    return count;
  }
}
