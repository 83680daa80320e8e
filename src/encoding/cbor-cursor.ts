/**
 * A strict reader of canonical CBOR that walks bytes without building values.
 *
 * Large indexes are compared and copied as byte ranges: `skip` validates one item and moves past
 * it without allocating, so `bytes.subarray(before, cursor.offset)` is the item.
 *
 * Canonical means RFC 8949 section 4.2.3 as DreamDB writes it (FORMAT 2): shortest heads, definite
 * lengths, text keys without repetition in length-first order, valid UTF-8, no tags, no floats.
 *
 * @module
 */

import { malformedCbor } from "./cbor-fault.ts";
import { floatWidth, halfValue } from "./cbor-float.ts";
import { CborHeadReader, MAJOR } from "./cbor-head.ts";
import { MAX_DEPTH } from "./cbor-value.ts";
import { compareKeys, decodeUtf8 } from "./utf8.ts";

const FALSE = 0xf4;
const TRUE = 0xf5;
const NULL = 0xf6;
const FLOAT_16 = 0xf9;
const FLOAT_32 = 0xfa;
const FLOAT_64 = 0xfb;

/** Bytes of texts up to this length become characters one by one, which is faster than a decoder. */
const SHORT_TEXT = 24;

/** A position in canonical CBOR; every method throws DreamDBError malformed-cbor. */
export class CborCursor extends CborHeadReader {
  /** Set when an item passed by `skip` or `readFloat` was a float. */
  sawFloat = false;
  private readonly allowFloats: boolean;

  /** `floats` says whether `skip` lets shortest floats pass; NaN and infinities never do. */
  constructor(bytes: Uint8Array, offset = 0, options: { readonly floats?: boolean } = {}) {
    super(bytes, offset);
    this.allowFloats = options.floats ?? false;
  }

  /** Whether all bytes have been read. */
  get done(): boolean {
    return this.offset >= this.bytes.length;
  }

  /** The major type of the next item (see `MAJOR`). */
  peekMajor(): number {
    return this.first() >> 5;
  }

  /** Items of the array that begins here; the array needs at least that many bytes. */
  readArrayLength(): number {
    return this.itemCount(MAJOR.array, 1);
  }

  /** Entries of the map that begins here; the caller reads its keys with `readKey`. */
  readMapLength(): number {
    return this.itemCount(MAJOR.map, 2);
  }

  /** The next key of a map, which must sort after `previous` (undefined for the first). */
  readKey(previous: string | undefined): string {
    const at = this.offset;
    const key = this.readText();
    if (previous !== undefined && compareKeys(previous, key) >= 0) {
      throw malformedCbor(
        at,
        `key ${JSON.stringify(key)} after ${JSON.stringify(previous)}`,
        "each map key once, shorter keys first, then bytewise",
      );
    }
    return key;
  }

  /** An integer of 0 … 2^64−1. */
  readUint(): bigint {
    const value = this.argument(MAJOR.unsigned);
    return Number.isSafeInteger(value) ? BigInt(value) : this.exact();
  }

  /** An integer of −2^64 … 2^64−1. */
  readInt(): bigint {
    if (this.peekMajor() !== MAJOR.negative) return this.readUint();
    const value = this.argument(MAJOR.negative);
    return -1n - (Number.isSafeInteger(value) ? BigInt(value) : this.exact());
  }

  /** An integer of 0 … 2^53−1, as a number: counts, lengths and offsets. */
  readSafeUint(): number {
    const at = this.offset;
    const value = this.argument(MAJOR.unsigned);
    if (!Number.isSafeInteger(value)) {
      throw malformedCbor(at, `integer ${this.exact()}`, "at most 2^53-1 here");
    }
    return value;
  }

  /** A text. */
  readText(): string {
    const end = this.textEnd();
    const start = this.offset;
    this.offset = end;
    if (end - start <= SHORT_TEXT) {
      let text = "";
      let index = start;
      for (; index < end; index++) {
        const code = this.bytes[index] ?? 0;
        if (code > 0x7f) break;
        text += String.fromCharCode(code);
      }
      if (index === end) return text;
    }
    return decodeUtf8(this.bytes.subarray(start, end));
  }

  /** The UTF-8 of a text, as a view of `bytes`. */
  readTextBytes(): Uint8Array {
    const end = this.textEnd();
    const start = this.offset;
    this.offset = end;
    return this.bytes.subarray(start, end);
  }

  /** A byte string, as a view of `bytes`. */
  readBytes(): Uint8Array {
    const length = this.stringLength(MAJOR.bytes);
    const start = this.offset;
    this.offset = start + length;
    return this.bytes.subarray(start, this.offset);
  }

  /** True or false. */
  readBoolean(): boolean {
    const first = this.first();
    if (first !== FALSE && first !== TRUE) throw this.unexpected("true or false");
    this.offset++;
    return first === TRUE;
  }

  /** Moves past a null if one is next, and says whether it was. */
  takeNull(): boolean {
    if (this.first() !== NULL) return false;
    this.offset++;
    return true;
  }

  /** Whether the next item is a float of any width. */
  nextIsFloat(): boolean {
    const first = this.first();
    return first >= FLOAT_16 && first <= FLOAT_64;
  }

  /** A finite float in its shortest width. */
  readFloat(): number {
    const at = this.offset;
    const first = this.first();
    const width = first === FLOAT_16 ? 2 : first === FLOAT_32 ? 4 : first === FLOAT_64 ? 8 : 0;
    if (width === 0) throw this.unexpected("a float");
    this.need(at + 1, width);
    const value = width === 2
      ? halfValue(this.view.getUint16(at + 1))
      : width === 4
      ? this.view.getFloat32(at + 1)
      : this.view.getFloat64(at + 1);
    if (!Number.isFinite(value)) throw malformedCbor(at, `float ${value}`, "a finite float");
    const shortest = floatWidth(value);
    if (shortest !== width) {
      throw malformedCbor(
        at,
        `float ${value} in ${width} bytes`,
        `its shortest form, ${shortest} bytes`,
      );
    }
    this.sawFloat = true;
    this.offset = at + 1 + width;
    return value;
  }

  /** Validates the item that begins here, with everything in it, and moves past it. */
  skip(): void {
    this.skipItem(0);
  }

  private skipItem(depth: number): void {
    const first = this.first();
    switch (first >> 5) {
      case MAJOR.unsigned:
      case MAJOR.negative:
        this.argument(first >> 5);
        return;
      case MAJOR.bytes: {
        const length = this.stringLength(MAJOR.bytes);
        this.offset += length;
        return;
      }
      case MAJOR.text:
        this.offset = this.textEnd();
        return;
      case MAJOR.array:
        this.checkDepth(depth);
        for (let left = this.readArrayLength(); left > 0; left--) this.skipItem(depth + 1);
        return;
      case MAJOR.map:
        this.checkDepth(depth);
        this.skipMap(depth);
        return;
      default:
        if (first === FALSE || first === TRUE || first === NULL) this.offset++;
        else if (this.allowFloats && this.nextIsFloat()) this.readFloat();
        else throw this.unexpected("an item without tags, floats and undefined values");
    }
  }

  private skipMap(depth: number): void {
    const count = this.readMapLength();
    let previousStart = 0;
    let previousEnd = -1;
    for (let index = 0; index < count; index++) {
      const at = this.offset;
      const end = this.textEnd();
      const start = this.offset;
      if (previousEnd >= 0 && !this.sortsBefore(previousStart, previousEnd, start, end)) {
        throw malformedCbor(
          at,
          "a map key that is not after the one before it",
          "each map key once, shorter keys first, then bytewise",
        );
      }
      previousStart = start;
      previousEnd = end;
      this.offset = end;
      this.skipItem(depth + 1);
    }
  }

  /** Whether the text in `[aStart, aEnd)` comes strictly before that in `[bStart, bEnd)`. */
  private sortsBefore(aStart: number, aEnd: number, bStart: number, bEnd: number): boolean {
    const length = aEnd - aStart;
    if (length !== bEnd - bStart) return length < bEnd - bStart;
    for (let index = 0; index < length; index++) {
      const difference = (this.bytes[aStart + index] ?? 0) - (this.bytes[bStart + index] ?? 0);
      if (difference !== 0) return difference < 0;
    }
    return false;
  }

  private checkDepth(depth: number): void {
    if (depth >= MAX_DEPTH) {
      throw malformedCbor(
        this.offset,
        `containers nested more than ${MAX_DEPTH} deep`,
        `at most ${MAX_DEPTH}`,
      );
    }
  }
}
