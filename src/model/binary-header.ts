/**
 * What the headers of the two binary objects (SpatialBucket, vector sidecar) have in common.
 *
 * @module
 */

import { malformedObject } from "./malformed.ts";
import type { Subject } from "./malformed.ts";

/** Bytes of the magic at offset 0. */
const MAGIC_LENGTH = 4;
const VERSION = 1;
/** Bytes of the modality field; a longer tag is cut, a shorter one padded with zeros (FORMAT 6). */
export const MODALITY_LENGTH = 32;

/** What both headers say of the records behind them. */
export interface Records {
  /** Bytes of one record. */
  readonly recordSize: number;
  readonly count: number;
}

/**
 * Reads what both headers begin with: magic, version, size and number of the records.
 * @param headerSize bytes of the shortest header of this kind
 * @throws DreamDBError malformed-object
 */
export function readRecords(
  subject: Subject,
  bytes: Uint8Array,
  expectedMagic: string,
  headerSize: number,
): Records {
  if (bytes.length < headerSize) {
    throw malformedObject(subject, `${bytes.length} bytes`, `at least ${headerSize}, the header`);
  }
  const magic = readAscii(subject, bytes, 0, MAGIC_LENGTH, "the magic");
  if (magic !== expectedMagic) {
    throw malformedObject(subject, `the magic '${magic}'`, `'${expectedMagic}'`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const version = view.getUint32(4);
  if (version !== VERSION) throw malformedObject(subject, `version ${version}`, `${VERSION}`);
  return { recordSize: view.getUint32(8), count: view.getUint32(12) };
}

/** Writes what `readRecords` reads. */
export function writeRecords(bytes: Uint8Array, magic: string, records: Records): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  writeAscii(bytes, 0, magic, MAGIC_LENGTH);
  view.setUint32(4, VERSION);
  view.setUint32(8, records.recordSize);
  view.setUint32(12, records.count);
}

/**
 * Checks that the object ends where its last record does.
 * @param name what the records are, in the plural
 * @throws DreamDBError malformed-object
 */
export function requireLength(
  subject: Subject,
  bytes: Uint8Array,
  headerSize: number,
  { recordSize, count }: Records,
  name: string,
): void {
  const length = headerSize + count * recordSize;
  if (bytes.length === length) return;
  throw malformedObject(
    subject,
    `${bytes.length} bytes`,
    `${length}: ${count} ${name} of ${recordSize} bytes after a header of ${headerSize}`,
  );
}

/**
 * Reads a zero-padded ASCII field of `length` bytes at `offset`.
 * @throws DreamDBError malformed-object on other bytes, or on something after the first zero
 */
export function readAscii(
  subject: Subject,
  bytes: Uint8Array,
  offset: number,
  length: number,
  name: string,
): string {
  let text = "";
  for (let index = offset; index < offset + length; index++) {
    const byte = bytes[index] ?? 0;
    if (byte === 0) {
      requireZeros(subject, bytes, index, offset + length);
      return text;
    }
    if (byte > 0x7f) {
      throw malformedObject(subject, `${name} has the byte 0x${byte.toString(16)}`, "ASCII");
    }
    text += String.fromCharCode(byte);
  }
  return text;
}

/** Writes ASCII text, cut to `length` bytes, into bytes that are zero. */
export function writeAscii(bytes: Uint8Array, offset: number, text: string, length: number): void {
  for (let index = 0; index < Math.min(text.length, length); index++) {
    bytes[offset + index] = text.charCodeAt(index);
  }
}

/** Checks that the bytes from `start` to before `end` are zero. */
export function requireZeros(
  subject: Subject,
  bytes: Uint8Array,
  start: number,
  end: number,
): void {
  for (let index = start; index < end; index++) {
    if (bytes[index] !== 0) {
      throw malformedObject(
        subject,
        `the byte 0x${(bytes[index] ?? 0).toString(16)} at offset ${index}`,
        "zero, because the byte is padding or reserved",
      );
    }
  }
}
