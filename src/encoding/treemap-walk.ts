/**
 * The structure of a roaring treemap: finds its containers and checks all that can be checked
 * without expanding them.
 *
 * @module
 */

import { DreamDBError } from "../errors.ts";

/** Cookie of a 32-bit bitmap without run containers; the number of containers follows. */
export const COOKIE = 12346;
/** Cookie of one with run containers; the upper half holds the number of containers less one. */
const COOKIE_WITH_RUNS = 12347;
/** The largest cardinality of an array container; denser ones are bitmaps. */
export const ARRAY_LIMIT = 4096;
/** Bytes of a bitmap container: one bit for each of 65,536 values. */
export const BITMAP_BYTES = 8192;
/** With runs, bitmaps of fewer containers than this have no offset table. */
const LEAST_CONTAINERS_WITH_OFFSETS = 4;
/** High half, run cookie, run flags, descriptor and one run: no group is smaller. */
const LEAST_GROUP_BYTES = 4 + 4 + 1 + 4 + 6;

/** Up to 65,536 anchors that share all but their lowest 16 bits. */
export interface Container {
  readonly form: "array" | "bitmap" | "run";
  /** Upper 32 bits of the anchors. */
  readonly high: number;
  /** Lower 32 bits of the anchors with the lowest 16 zero. */
  readonly base: number;
  readonly cardinality: number;
  /** Where the values begin, in bytes from the start of the treemap. */
  readonly at: number;
}

/**
 * Calls `visit` for every container in ascending order. Checked before each call: order of groups
 * and containers, the offset table, that the values lie inside, and of runs their order, end and
 * sum; not checked: the values of arrays and bitmaps.
 *
 * @throws DreamDBError malformed-object of kind "roaring-treemap"
 */
export function walkTreemap(bytes: Uint8Array, visit: (container: Container) => void): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  need(view, 0, 8);
  const groups = view.getBigUint64(0, true);
  if (groups > BigInt(Math.floor((bytes.length - 8) / LEAST_GROUP_BYTES))) {
    throw malformedTreemap(0, `${groups} groups in ${bytes.length} bytes`, "groups that fit");
  }
  let at = 8;
  let previous = -1;
  for (let group = 0; group < Number(groups); group++) {
    need(view, at, 4);
    const high = view.getUint32(at, true);
    if (high <= previous) {
      throw malformedTreemap(at, `group ${high} after group ${previous}`, "ascending groups");
    }
    previous = high;
    at = walkGroup(view, at + 4, high, visit);
  }
  if (at !== bytes.length) {
    throw malformedTreemap(at, `${bytes.length - at} bytes after the last group`, "no more bytes");
  }
}

/** Walks the 32-bit bitmap at `start` and returns where it ends. */
function walkGroup(
  view: DataView,
  start: number,
  high: number,
  visit: (container: Container) => void,
): number {
  const header = readHeader(view, start);
  let at = header.end;
  let previous = -1;
  for (let index = 0; index < header.containers; index++) {
    const descriptor = header.descriptors + 4 * index;
    const key = view.getUint16(descriptor, true);
    if (key <= previous) {
      throw malformedTreemap(
        descriptor,
        `container ${key} after container ${previous}`,
        "ascending containers",
      );
    }
    previous = key;
    if (header.offsets !== undefined) {
      const offset = view.getUint32(header.offsets + 4 * index, true);
      if (start + offset !== at) {
        throw malformedTreemap(
          header.offsets + 4 * index,
          `container offset ${offset}`,
          `${at - start}, where the container begins`,
        );
      }
    }
    const cardinality = view.getUint16(descriptor + 2, true) + 1;
    const isRun = header.runFlags !== undefined &&
      (view.getUint8(header.runFlags + (index >> 3)) & (1 << (index & 7))) !== 0;
    const form = isRun ? "run" : cardinality <= ARRAY_LIMIT ? "array" : "bitmap";
    const size = form === "run"
      ? checkRuns(view, at, cardinality)
      : form === "array"
      ? 2 * cardinality
      : BITMAP_BYTES;
    need(view, at, size);
    // Multiplied, not shifted: the upper keys would become negative.
    visit({ form, high, base: key * 0x1_0000, cardinality, at });
    at += size;
  }
  return at;
}

interface Header {
  readonly containers: number;
  /** Where the flags that tell run containers begin, when there are any. */
  readonly runFlags: number | undefined;
  readonly descriptors: number;
  readonly offsets: number | undefined;
  readonly end: number;
}

function readHeader(view: DataView, start: number): Header {
  need(view, start, 4);
  const cookie = view.getUint32(start, true);
  let containers: number;
  let runFlags: number | undefined;
  let descriptors: number;
  if (cookie === COOKIE) {
    need(view, start, 8);
    containers = view.getUint32(start + 4, true);
    descriptors = start + 8;
  } else if ((cookie & 0xffff) === COOKIE_WITH_RUNS) {
    containers = (cookie >>> 16) + 1;
    runFlags = start + 4;
    descriptors = runFlags + Math.ceil(containers / 8);
  } else {
    throw malformedTreemap(start, `cookie ${cookie}`, `${COOKIE} or ${COOKIE_WITH_RUNS}`);
  }
  if (containers < 1 || containers > 0x1_0000) {
    throw malformedTreemap(start, `${containers} containers`, "1 to 65,536");
  }
  const hasOffsets = runFlags === undefined || containers >= LEAST_CONTAINERS_WITH_OFFSETS;
  const offsets = hasOffsets ? descriptors + 4 * containers : undefined;
  const end = descriptors + (hasOffsets ? 8 : 4) * containers;
  need(view, start, end - start);
  return { containers, runFlags, descriptors, offsets, end };
}

/** Checks the runs at `at` against the cardinality they must add up to; returns their bytes. */
function checkRuns(view: DataView, at: number, cardinality: number): number {
  need(view, at, 2);
  const runs = view.getUint16(at, true);
  const size = 2 + 4 * runs;
  need(view, at, size);
  let previousEnd = -1;
  let sum = 0;
  for (let offset = at + 2; offset < at + size; offset += 4) {
    const first = view.getUint16(offset, true);
    const last = first + view.getUint16(offset + 2, true);
    if (first <= previousEnd || last > 0xffff) {
      throw malformedTreemap(
        offset,
        `a run from ${first} to ${last} after one to ${previousEnd}`,
        "ascending runs up to 65,535",
      );
    }
    previousEnd = last;
    sum += last - first + 1;
  }
  if (sum !== cardinality) {
    throw malformedTreemap(at, `runs of ${sum} values`, `the ${cardinality} of the descriptor`);
  }
  return size;
}

function need(view: DataView, at: number, length: number): void {
  if (at + length > view.byteLength) {
    throw malformedTreemap(
      at,
      `${view.byteLength - at} bytes left`,
      `at least ${length} bytes more`,
    );
  }
}

/** The error for bytes that are not a treemap; `at` in bytes from the start of the treemap. */
export function malformedTreemap(at: number, found: string, expected: string): DreamDBError {
  return new DreamDBError({
    code: "malformed-object",
    kind: "roaring-treemap",
    found: `${found} at byte ${at} of an anchor set`,
    expected,
    next: "The object is damaged or was not written by DreamDB; restore it from a good copy",
  });
}
