/**
 * The one way a model file says that canonical bytes are not the object they should be, and the
 * small guards that take CBOR values apart.
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import { addressFromBytes } from "../encoding/address.ts";
import type { CborMap, CborValue } from "../encoding/cbor-value.ts";
import { DreamDBError } from "../errors.ts";

/** What is being decoded; carried into every message. */
export interface Subject {
  /** The object's kind, such as "manifest" or "track". */
  readonly kind: string;
  /** Where it was read from, when known. */
  readonly path?: string | undefined;
}

/** A `malformed-object` error for `subject`. */
export function malformedObject(subject: Subject, found: string, expected: string): DreamDBError {
  const place = subject.path === undefined ? "" : ` at ${subject.path}`;
  return new DreamDBError({
    code: "malformed-object",
    kind: subject.kind,
    ...(subject.path === undefined ? {} : { path: subject.path }),
    found: `${subject.kind}${place}: ${found}`,
    expected,
    next: "Restore the object from a copy of the store; nothing has been changed.",
  });
}

/** A short name of what a CBOR value is, for messages. */
export function describeValue(value: CborValue | undefined): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (typeof value === "bigint") return `the integer ${value}`;
  if (typeof value === "string") return `the text ${JSON.stringify(value.slice(0, 40))}`;
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (value instanceof Map) return `a map of ${value.size}`;
  return `${typeof value} ${String(value)}`;
}

/** `value` as a map. @throws DreamDBError malformed-object */
export function asMap(subject: Subject, name: string, value: CborValue | undefined): CborMap {
  if (value instanceof Map) return value;
  throw malformedObject(subject, `${name} is ${describeValue(value)}`, "a map");
}

/** `value` as an array. @throws DreamDBError malformed-object */
export function asArray(
  subject: Subject,
  name: string,
  value: CborValue | undefined,
): readonly CborValue[] {
  if (Array.isArray(value)) return value;
  throw malformedObject(subject, `${name} is ${describeValue(value)}`, "an array");
}

/** `value` as text. @throws DreamDBError malformed-object */
export function asText(subject: Subject, name: string, value: CborValue | undefined): string {
  if (typeof value === "string") return value;
  throw malformedObject(subject, `${name} is ${describeValue(value)}`, "text");
}

/** `value` as a byte string. @throws DreamDBError malformed-object */
export function asBytes(subject: Subject, name: string, value: CborValue | undefined): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw malformedObject(subject, `${name} is ${describeValue(value)}`, "a byte string");
}

/** `value` as an unsigned 64-bit integer. @throws DreamDBError malformed-object */
export function asUint(subject: Subject, name: string, value: CborValue | undefined): bigint {
  if (typeof value === "bigint" && value >= 0n) return value;
  throw malformedObject(subject, `${name} is ${describeValue(value)}`, "an unsigned integer");
}

/** `value` as an unsigned integer below 2^53. @throws DreamDBError malformed-object */
export function asCount(subject: Subject, name: string, value: CborValue | undefined): number {
  const count = asUint(subject, name, value);
  if (count <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(count);
  throw malformedObject(subject, `${name} is ${count}`, "a count below 2^53");
}

/** `value` as an address (33 bytes). @throws DreamDBError malformed-object, malformed-address */
export function asAddress(subject: Subject, name: string, value: CborValue | undefined): Address {
  const bytes = asBytes(subject, name, value);
  requireAddress(subject, name, bytes);
  return addressFromBytes(bytes);
}

/** Checks that bytes are those of an address (FORMAT 1.1). @throws DreamDBError malformed-object */
export function requireAddress(subject: Subject, name: string, bytes: Uint8Array): void {
  if (bytes.length === 33 && bytes[0] === 0x1e) return;
  throw malformedObject(
    subject,
    `${name} is ${bytes.length} bytes beginning with ${bytes[0] ?? "nothing"}`,
    "an address: 33 bytes, the first of them 0x1e",
  );
}

/** Refuses a map whose keys are not exactly `required` and any of `optional`. */
export function checkKeys(
  subject: Subject,
  name: string,
  map: CborMap,
  required: readonly string[],
  optional: readonly string[] = [],
): void {
  for (const key of required) {
    if (!map.has(key)) {
      throw malformedObject(subject, `${name} lacks ${JSON.stringify(key)}`, `the key ${key}`);
    }
  }
  for (const key of map.keys()) {
    if (!required.includes(key) && !optional.includes(key)) {
      throw malformedObject(
        subject,
        `${name} has the unknown key ${JSON.stringify(key)}`,
        `only ${[...required, ...optional].join(", ")}`,
      );
    }
  }
}
