/**
 * A store in memory: for tests, and behind the backend `memory:`.
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import { addressBytes } from "../encoding/address.ts";
import { equalBytes } from "../encoding/bytes.ts";
import { checkRefName, checkWritableRefName, isRefName } from "../model/ref-name.ts";
import type { CallOptions, Connector, RefOutcome } from "./connector.ts";
import { differentBytes } from "./faults.ts";
import { checkPath } from "./paths.ts";
import { parseRefBody } from "./ref-body.ts";

/** A store that lives as long as this value. */
export class MemoryConnector implements Connector {
  readonly url = "memory:";
  /** Every object by path; open, so that a test can damage one. */
  readonly objects: Map<string, Uint8Array> = new Map();
  /** The raw body of every ref by name. */
  readonly refs: Map<string, Uint8Array> = new Map();

  async get(path: string, options?: CallOptions): Promise<Uint8Array | undefined> {
    options?.signal?.throwIfAborted();
    return this.objects.get(checkPath(path))?.slice();
  }

  async putIfAbsent(
    path: string,
    bytes: Uint8Array,
    options?: CallOptions,
  ): Promise<"written" | "present"> {
    options?.signal?.throwIfAborted();
    const present = this.objects.get(checkPath(path));
    if (present === undefined) {
      this.objects.set(path, bytes.slice());
      return "written";
    }
    if (!equalBytes(present, bytes)) throw differentBytes(path);
    return "present";
  }

  async flush(options?: CallOptions): Promise<void> {
    options?.signal?.throwIfAborted();
  }

  async readRef(name: string, options?: CallOptions): Promise<Address | undefined> {
    options?.signal?.throwIfAborted();
    checkRefName(name);
    return this.#current(name);
  }

  async createRef(
    name: string,
    to: Address,
    options?: CallOptions,
  ): Promise<"created" | "exists"> {
    options?.signal?.throwIfAborted();
    checkWritableRefName(name);
    if (this.refs.has(name)) return "exists";
    this.refs.set(name, addressBytes(to));
    return "created";
  }

  async compareAndSetRef(
    name: string,
    expected: Address,
    next: Address,
    options?: CallOptions,
  ): Promise<RefOutcome> {
    options?.signal?.throwIfAborted();
    checkWritableRefName(name);
    const found = this.#current(name);
    if (found !== expected) return { status: "conflict", found, sent: false };
    this.refs.set(name, addressBytes(next));
    return { status: "committed" };
  }

  async listRefs(prefix?: string, options?: CallOptions): Promise<readonly string[]> {
    options?.signal?.throwIfAborted();
    return [...this.refs.keys()].filter((name) => isRefName(name) && name.startsWith(prefix ?? ""))
      .sort();
  }

  async deleteRef(
    name: string,
    expected: Address,
    options?: CallOptions,
  ): Promise<"deleted" | "missing" | "conflict"> {
    options?.signal?.throwIfAborted();
    checkWritableRefName(name);
    const found = this.#current(name);
    if (found === undefined) return "missing";
    if (found !== expected) return "conflict";
    this.refs.delete(name);
    return "deleted";
  }

  async close(): Promise<void> {}

  // Not asynchronous: nothing may happen between a comparison and the change that follows it.
  #current(name: string): Address | undefined {
    const body = this.refs.get(name);
    return body === undefined ? undefined : parseRefBody(name, body);
  }
}
