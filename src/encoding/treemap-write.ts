/**
 * Writes roaring treemaps as the reference does (FORMAT 7).
 *
 * @module
 */

import { ARRAY_LIMIT, BITMAP_BYTES, COOKIE } from "./treemap-walk.ts";

const GROUP_HEADER_BYTES = 12;
const CONTAINER_HEADER_BYTES = 8;

/**
 * The treemap of strictly ascending anchors, given as pairs of their low and high 32 bits.
 */
export function writeTreemap(halves: Uint32Array): Uint8Array {
  const groups = groupContainers(halves);
  let size = 8;
  for (const group of groups) size += groupBytes(group);
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0, BigInt(groups.length), true);
  let at = 8;
  for (const group of groups) {
    writeGroup(view, at, halves, group);
    at += groupBytes(group);
  }
  return bytes;
}

/** Index of the first anchor of each container that shares one high half, and of the end. */
type Group = readonly number[];

function groupContainers(halves: Uint32Array): readonly Group[] {
  const groups: number[][] = [];
  let group: number[] | undefined;
  let high = -1;
  let key = -1;
  const count = halves.length / 2;
  for (let index = 0; index < count; index++) {
    const nextHigh = halves[2 * index + 1] ?? 0;
    const nextKey = (halves[2 * index] ?? 0) >>> 16;
    if (nextHigh === high && nextKey === key) continue;
    if (group === undefined || nextHigh !== high) {
      group?.push(index);
      group = [];
      groups.push(group);
    }
    group.push(index);
    high = nextHigh;
    key = nextKey;
  }
  group?.push(count);
  return groups;
}

function groupBytes(group: Group): number {
  let size = GROUP_HEADER_BYTES + CONTAINER_HEADER_BYTES * (group.length - 1);
  for (let index = 0; index + 1 < group.length; index++) {
    size += valueBytes((group[index + 1] ?? 0) - (group[index] ?? 0));
  }
  return size;
}

function valueBytes(cardinality: number): number {
  return cardinality <= ARRAY_LIMIT ? 2 * cardinality : BITMAP_BYTES;
}

function writeGroup(view: DataView, start: number, halves: Uint32Array, group: Group): void {
  const containers = group.length - 1;
  const bitmap = start + 4;
  view.setUint32(start, halves[2 * (group[0] ?? 0) + 1] ?? 0, true);
  view.setUint32(bitmap, COOKIE, true);
  view.setUint32(bitmap + 4, containers, true);
  const descriptors = start + GROUP_HEADER_BYTES;
  const offsets = descriptors + 4 * containers;
  let at = offsets + 4 * containers;
  for (let index = 0; index < containers; index++) {
    const first = group[index] ?? 0;
    const end = group[index + 1] ?? 0;
    view.setUint16(descriptors + 4 * index, (halves[2 * first] ?? 0) >>> 16, true);
    view.setUint16(descriptors + 4 * index + 2, end - first - 1, true);
    view.setUint32(offsets + 4 * index, at - bitmap, true);
    writeValues(view, at, halves, first, end);
    at += valueBytes(end - first);
  }
}

function writeValues(
  view: DataView,
  at: number,
  halves: Uint32Array,
  first: number,
  end: number,
): void {
  const isArray = end - first <= ARRAY_LIMIT;
  for (let index = first; index < end; index++) {
    const low = (halves[2 * index] ?? 0) & 0xffff;
    if (isArray) view.setUint16(at + 2 * (index - first), low, true);
    else view.setUint8(at + (low >> 3), view.getUint8(at + (low >> 3)) | (1 << (low & 7)));
  }
}
