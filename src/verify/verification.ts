/**
 * The state of one verification: which objects were read, and what was wrong with them.
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import { addressOf } from "../encoding/address.ts";
import { equalBytes } from "../encoding/bytes.ts";
import { DreamDBError } from "../errors.ts";
import type { Connector } from "../store/connector.ts";
import { Semaphore } from "../store/limit.ts";
import type { Problem } from "./problem.ts";

/** How many problems are listed; their count is always exact. */
const LISTED_PROBLEMS = 10_000;

/** Where an object belongs. */
export interface Place {
  readonly path: string;
  readonly address: Address;
  /** For messages and counts, such as "Track". */
  readonly kind: string;
  readonly field?: string | undefined;
}

/** What is to be looked at. */
export interface Scope {
  /** Whether payload is read. */
  readonly data: boolean;
  /** Only the payload whose address falls into part `part` (from 1) of `parts`. */
  readonly sample: { readonly part: number; readonly parts: number } | undefined;
  /** Objects read at once. */
  readonly concurrency: number;
  readonly signal: AbortSignal | undefined;
}

/** Reads objects, each at most once, and collects problems. */
export class Verification {
  readonly connector: Connector;
  readonly scope: Scope;
  readonly problems: Problem[] = [];
  problemCount = 0;
  /** Objects read, by kind. */
  readonly objects: Map<string, number> = new Map();
  bytes = 0;
  /** Payload objects that the scope left out. */
  payloadSkipped = 0;
  readonly #onRead: (objects: number) => void;
  readonly #reading: Semaphore;
  readonly #done = new Map<string, Promise<unknown>>();
  readonly #skipped = new Set<string>();
  #read = 0;

  constructor(connector: Connector, scope: Scope, onRead: (objects: number) => void = () => {}) {
    this.connector = connector;
    this.scope = scope;
    this.#onRead = onRead;
    this.#reading = new Semaphore(scope.concurrency);
  }

  /** Notes a problem of the object at `place`. */
  report(code: Problem["code"], place: Omit<Place, "address">, message: string): void {
    this.problemCount++;
    if (this.problems.length >= LISTED_PROBLEMS) return;
    const { path, kind, field } = place;
    this.problems.push({ code, path, kind, message, ...(field === undefined ? {} : { field }) });
  }

  /** Runs `work` for `key` unless that was done before; both get the same result. */
  once<T>(key: string, work: () => Promise<T>): Promise<T> {
    const known = this.#done.get(key) as Promise<T> | undefined;
    if (known !== undefined) return known;
    const working = work();
    this.#done.set(key, working);
    return working;
  }

  /** The object's bytes when they are there and hash to its address; else the problem is noted. */
  async bytesAt(place: Place): Promise<Uint8Array | undefined> {
    const { signal } = this.scope;
    const { path, address, kind } = place;
    const bytes = await this.#reading.run(() => this.connector.get(path, { signal }), signal);
    if (bytes === undefined) {
      this.report("missing", place, `no object at ${path}`);
      return undefined;
    }
    this.objects.set(kind, (this.objects.get(kind) ?? 0) + 1);
    this.bytes += bytes.length;
    this.#onRead(++this.#read);
    const found = addressOf(bytes);
    if (found === address) return bytes;
    this.report("wrong-hash", place, `the bytes have the address ${found}`);
    return undefined;
  }

  /**
   * Reads and decodes an object, once. With `encode`, what is decoded must be written again to the
   * same bytes.
   */
  structural<T>(
    place: Place,
    decode: (bytes: Uint8Array, path: string) => T,
    encode?: (value: T, bytes: Uint8Array) => Uint8Array,
  ): Promise<T | undefined> {
    return this.once(`structural ${place.path}`, async () => {
      const bytes = await this.bytesAt(place);
      if (bytes === undefined) return undefined;
      return this.guard(place, () => {
        const value = decode(bytes, place.path);
        if (encode !== undefined && !equalBytes(encode(value, bytes), bytes)) {
          this.report("not-canonical", place, "written again, the object has other bytes");
        }
        return value;
      });
    });
  }

  /** Runs `work`; a complaint about an object's form becomes a problem of `place`. */
  guard<T>(place: Omit<Place, "address">, work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      this.reportMalformed(place, error);
      return undefined;
    }
  }

  /** Notes what a decoder complained about; throws what is no such complaint. */
  reportMalformed(place: Omit<Place, "address">, error: unknown): void {
    if (!(error instanceof DreamDBError)) throw error;
    switch (error.code) {
      case "malformed-cbor":
      case "malformed-object":
      case "malformed-address": {
        const { found, expected } = error.fault;
        this.report("malformed", place, `${found}; expected ${expected}`);
        return;
      }
      default:
        throw error;
    }
  }

  /** Whether the payload at `place` is to be read; counts it when not. */
  wants(place: Pick<Place, "path" | "address">): boolean {
    const { data, sample } = this.scope;
    if (data && (sample === undefined || partOf(place.address, sample.parts) === sample.part)) {
      return true;
    }
    if (!this.#skipped.has(place.path)) {
      this.#skipped.add(place.path);
      this.payloadSkipped++;
    }
    return false;
  }
}

/** The part, from 1 to `parts`, that an address belongs to: always the same one. */
function partOf(address: Address, parts: number): number {
  // The last letters of the text carry the last bits of the hash, evenly spread.
  let value = 0;
  for (const letter of address.slice(-9, -1)) value = (value * 31 + letter.charCodeAt(0)) % 1e9;
  return value % parts + 1;
}
