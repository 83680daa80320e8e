/**
 * The children of internal pages, read beside another version of the page.
 *
 * Two versions of a tree share most of its pages, so their internal pages say the same of most
 * children, in runs. A run is compared as bytes and what was decoded before is taken again.
 *
 * @module
 */

import { commonPrefix, lastAtMost } from "../encoding/bytes.ts";
import type { CborCursor } from "../encoding/cbor-cursor.ts";
import { comparePageChildren } from "./page-entry.ts";
import type { PageChild } from "./page-entry.ts";

/** The children of a page that was decoded and checked, with where each stands in its bytes. */
export interface ChildRecords<Child> {
  readonly bytes: Uint8Array;
  /** Where each child begins; the last element is where they end. */
  readonly offsets: Uint32Array;
  readonly children: readonly Child[];
}

/** How the children of one kind of page are read. */
export interface ChildReader<Child> {
  /** Reads the child at the cursor. @throws DreamDBError malformed-cbor, malformed-object */
  read(index: number): Child;
  /** Checks that `child` may follow `before`. @throws DreamDBError malformed-object */
  check(before: Child, child: Child, index: number): void;
}

/**
 * Reads `count` children.
 *
 * @param like pages of another version of the tree, in order: a child with the bytes of one of
 * theirs is the same object in the result. What they are does not change what is read.
 * @throws DreamDBError malformed-cbor, malformed-object
 */
export function readChildRecords<Child extends PageChild>(
  cursor: CborCursor,
  count: number,
  like: readonly ChildRecords<Child>[],
  reader: ChildReader<Child>,
): ChildRecords<Child> {
  const { bytes } = cursor;
  const offsets = new Uint32Array(count + 1);
  const children: Child[] = [];
  const known = new KnownChildren(like);
  let before: Child | undefined;
  while (children.length < count) {
    const run = known.alike(bytes, cursor.offset, count - children.length);
    const first = run?.page.children[run.from];
    if (run === undefined || first === undefined) {
      offsets[children.length] = cursor.offset;
      const child = reader.read(children.length);
      if (before !== undefined) reader.check(before, child, children.length);
      children.push(child);
      before = child;
      known.pass(child);
      continue;
    }
    if (before !== undefined) reader.check(before, first, children.length);
    const { page, from, to } = run;
    const shift = cursor.offset - (page.offsets[from] ?? 0);
    for (let index = from; index < to; index++) {
      const child = page.children[index];
      if (child === undefined) break;
      offsets[children.length] = (page.offsets[index] ?? 0) + shift;
      children.push(child);
      before = child;
    }
    cursor.offset = (page.offsets[to] ?? 0) + shift;
  }
  offsets[count] = cursor.offset;
  return { bytes, offsets, children };
}

/** A position in children that are known. */
class KnownChildren<Child extends PageChild> {
  readonly #pages: readonly ChildRecords<Child>[];
  #page = 0;
  #index = 0;

  constructor(pages: readonly ChildRecords<Child>[]) {
    this.#pages = pages;
  }

  /** The children from the position on that stand in `bytes` at `at`, moving behind them. */
  alike(
    bytes: Uint8Array,
    at: number,
    most: number,
  ):
    | { readonly page: ChildRecords<Child>; readonly from: number; readonly to: number }
    | undefined {
    const page = this.#pages[this.#page];
    if (page === undefined) return undefined;
    const from = this.#index;
    const begin = page.offsets[from] ?? 0;
    const matched = commonPrefix(page.bytes, begin, bytes, at);
    const to = Math.min(
      lastAtMost(page.offsets, begin + matched),
      page.children.length,
      from + most,
    );
    if (to <= from) return undefined;
    this.#moveTo(to);
    return { page, from, to };
  }

  /** Moves behind the children that do not come after `child`. */
  pass(child: Child): void {
    for (let page = this.#pages[this.#page]; page !== undefined; page = this.#pages[this.#page]) {
      const last = page.children.at(-1);
      const all = last !== undefined && comparePageChildren(last, child) <= 0;
      let index = all ? page.children.length : this.#index;
      for (; !all; index++) {
        const next = page.children[index];
        if (next === undefined || comparePageChildren(next, child) > 0) break;
      }
      this.#moveTo(index);
      if (!all) return;
    }
  }

  #moveTo(index: number): void {
    const page = this.#pages[this.#page];
    this.#index = index;
    if (page !== undefined && index < page.children.length) return;
    this.#page++;
    this.#index = 0;
  }
}
