/**
 * Writes canonical CBOR piece by piece: shortest heads, exact 64-bit integers.
 *
 * The writer does not count items or sort keys; a caller that writes a container writes as many
 * items as its head says, map keys in canonical order (FORMAT 2).
 *
 * @module
 */

import { DreamDBError } from "../errors.ts";
import { floatWidth, halfBits } from "./cbor-float.ts";
import { encodeUtf8 } from "./utf8.ts";

const MAX_UINT = 0xffff_ffff_ffff_ffffn;
const TWO_32 = 0x1_0000_0000;

/** Texts up to this many characters are copied one by one when they are ASCII. */
const SHORT_TEXT = 64;

/** A growing piece of canonical CBOR. */
export class CborWriter {
  private buffer: Uint8Array;
  private wholeView: DataView | undefined;
  private end = 0;

  /** `capacity`: bytes to begin with. */
  constructor(capacity = 256) {
    this.buffer = new Uint8Array(Math.max(capacity, 16));
  }

  /** Made when first asked for: only floats need it, and it costs more than a short item. */
  private get view(): DataView {
    return this.wholeView ??= new DataView(this.buffer.buffer);
  }

  /** Bytes written so far. */
  get length(): number {
    return this.end;
  }

  /** Begins an array of `count` items. */
  arrayHead(count: number): void {
    this.head(0x80, count);
  }

  /** Begins a map of `count` entries. */
  mapHead(count: number): void {
    this.head(0xa0, count);
  }

  /**
   * An integer of 0 … 2^64−1.
   * @throws DreamDBError internal, outside that range or a number that is not a safe integer
   */
  uint(value: bigint | number): void {
    if (value < 0) throw cannotWrite(`the integer ${value}`, "0 to 2^64-1");
    this.head(0x00, value);
  }

  /**
   * An integer of −2^64 … 2^64−1.
   * @throws DreamDBError internal, outside that range
   */
  int(value: bigint): void {
    if (value >= 0n) this.head(0x00, value);
    else this.head(0x20, -1n - value);
  }

  /**
   * A text.
   * @throws DreamDBError internal, for a lone surrogate, which UTF-8 cannot hold
   */
  text(value: string): void {
    if (value.length <= SHORT_TEXT && this.shortText(value)) return;
    if (!value.isWellFormed()) {
      throw cannotWrite("a text with a lone surrogate", "text that UTF-8 can hold");
    }
    const encoded = encodeUtf8(value);
    this.head(0x60, encoded.length);
    this.raw(encoded);
  }

  /** A byte string. */
  bytes(value: Uint8Array): void {
    this.head(0x40, value.length);
    this.raw(value);
  }

  /** True or false. */
  boolean(value: boolean): void {
    this.byte(value ? 0xf5 : 0xf4);
  }

  /** Null. */
  null(): void {
    this.byte(0xf6);
  }

  /**
   * A float in its shortest width.
   * @throws DreamDBError internal, for NaN and infinities
   */
  float(value: number): void {
    if (!Number.isFinite(value)) throw cannotWrite(`the float ${value}`, "a finite float");
    this.reserve(9);
    const half = halfBits(value);
    if (half !== undefined) {
      this.buffer[this.end] = 0xf9;
      this.view.setUint16(this.end + 1, half);
      this.end += 3;
    } else if (floatWidth(value) === 4) {
      this.buffer[this.end] = 0xfa;
      this.view.setFloat32(this.end + 1, value);
      this.end += 5;
    } else {
      this.buffer[this.end] = 0xfb;
      this.view.setFloat64(this.end + 1, value);
      this.end += 9;
    }
  }

  /** One or more items that are encoded already. */
  raw(encoded: Uint8Array): void {
    this.reserve(encoded.length);
    this.buffer.set(encoded, this.end);
    this.end += encoded.length;
  }

  /** Encoded items out of a larger array: what `raw` does with `source.subarray(from, to)`. */
  rawRange(source: Uint8Array, from: number, to: number): void {
    const length = to - from;
    this.reserve(length);
    const { buffer } = this;
    let at = this.end;
    for (let index = from; index < to; index++) buffer[at++] = source[index] ?? 0;
    this.end = at;
  }

  /** Begins anew, keeping the memory. */
  clear(): void {
    this.end = 0;
  }

  /** The bytes written, as an array of their own; the writer goes on after them. */
  finish(): Uint8Array {
    return this.buffer.slice(0, this.end);
  }

  private byte(value: number): void {
    this.reserve(1);
    this.buffer[this.end++] = value;
  }

  private shortText(value: string): boolean {
    const length = value.length;
    this.reserve(length + 2);
    const start = this.end;
    this.head(0x60, length);
    for (let index = 0; index < length; index++) {
      const code = value.charCodeAt(index);
      if (code > 0x7f) {
        this.end = start;
        return false;
      }
      this.buffer[this.end++] = code;
    }
    return true;
  }

  /** Writes the shortest head of a major type, given in place (0x00, 0x20 … 0xa0). */
  private head(major: number, argument: bigint | number): void {
    this.reserve(9);
    const value = Number(argument);
    if (!Number.isSafeInteger(value) || value < 0) return this.longHead(major, argument);
    const at = this.end;
    if (value < 24) {
      this.buffer[at] = major | value;
      this.end = at + 1;
    } else if (value < 0x100) {
      this.buffer[at] = major | 24;
      this.buffer[at + 1] = value;
      this.end = at + 2;
    } else if (value < 0x1_0000) {
      this.buffer[at] = major | 25;
      this.buffer[at + 1] = value >>> 8;
      this.buffer[at + 2] = value;
      this.end = at + 3;
    } else if (value < TWO_32) {
      this.buffer[at] = major | 26;
      this.word(at + 1, value);
      this.end = at + 5;
    } else {
      this.buffer[at] = major | 27;
      this.word(at + 1, Math.floor(value / TWO_32));
      this.word(at + 5, value >>> 0);
      this.end = at + 9;
    }
  }

  private longHead(major: number, argument: bigint | number): void {
    if (typeof argument === "number") {
      throw cannotWrite(`the number ${argument}`, "0 to 2^53-1, or a bigint");
    }
    if (argument > MAX_UINT) throw cannotWrite(`the integer ${argument}`, "64 bits");
    this.buffer[this.end] = major | 27;
    this.word(this.end + 1, Number(argument >> 32n));
    this.word(this.end + 5, Number(argument & 0xffff_ffffn));
    this.end += 9;
  }

  private word(at: number, value: number): void {
    const { buffer } = this;
    buffer[at] = value >>> 24;
    buffer[at + 1] = value >>> 16;
    buffer[at + 2] = value >>> 8;
    buffer[at + 3] = value;
  }

  private reserve(length: number): void {
    const needed = this.end + length;
    if (needed <= this.buffer.length) return;
    const grown = new Uint8Array(Math.max(needed, this.buffer.length * 2));
    grown.set(this.buffer.subarray(0, this.end));
    this.buffer = grown;
    this.wholeView = undefined;
  }
}

/** The error for a value that canonical CBOR has no form for: only a bug of the caller makes one. */
export function cannotWrite(found: string, expected: string): DreamDBError {
  return new DreamDBError({
    code: "internal",
    found: `${found} to write as CBOR`,
    expected,
    next: "This is a bug; report it with this message",
  });
}
