/**
 * Where each object lies, relative to the root of a store (FORMAT 1.2).
 *
 * A modality tag, a cell or a timeline comes out of an object that somebody else wrote, so every
 * path is checked before it is used: no path leaves the store's root.
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import { addressOf } from "../encoding/address.ts";
import { DreamDBError } from "../errors.ts";
import { checkRefName } from "../model/ref-name.ts";

/** Name of the folder that holds the lock files (FORMAT 1.5). */
export const LOCK_FOLDER = ".dreamdb-cas-locks";

/** The folder of every Fragment, whatever its anchor (FORMAT 1.2). */
const FRAGMENT_FOLDER = "0000000000000000";

/** Segments of printable ASCII without space, upper case, slash and backslash, none of them empty. */
const PATH = /^[!-.0-@[\]^-~]+(?:\/[!-.0-@[\]^-~]+)*$/;

/**
 * Checks a path as the reference does (lower-case ASCII), and that it stays below the root.
 * @throws DreamDBError malformed-object
 */
export function checkPath(path: string): string {
  if (PATH.test(path) && !path.includes("..") && !`/${path}/`.includes("/./")) return path;
  throw new DreamDBError({
    code: "malformed-object",
    kind: "path",
    path,
    found: `an object path ${JSON.stringify(path)}`,
    expected: 'lower-case ASCII segments without ".." and without empty ones',
    next:
      "An object of the store names a modality or a cell that cannot be stored; find its writer.",
  });
}

/** One path segment out of foreign data; a `/` in it would change the meaning of the path. */
function segment(text: string): string {
  if (!text.includes("/")) return text;
  throw new DreamDBError({
    code: "malformed-object",
    kind: "path",
    path: text,
    found: `a path segment ${JSON.stringify(text)}`,
    expected: 'text without "/"',
    next:
      "An object of the store names a modality or a cell that cannot be stored; find its writer.",
  });
}

function within(timeline: Address, modality: string, ...rest: readonly string[]): string {
  return checkPath([timeline, segment(modality), ...rest].join("/"));
}

export function genesisPath(address: Address): string {
  return `genesis/${address}`;
}

export function manifestPath(address: Address): string {
  return `manifests/${address}`;
}

export function spatialIndexPath(address: Address): string {
  return `spatial-index/${address}`;
}

export function scalarIndexPath(address: Address): string {
  return `scalar-index/${address}`;
}

export function vectorCompressorPath(address: Address): string {
  return `vector-compressor/${address}`;
}

export function graphIndexPath(address: Address): string {
  return `graph-index/${address}`;
}

/** Tombstone indexes and their pages. */
export function tombstonePath(address: Address): string {
  return `tombstones/${address}`;
}

export function entityKeyIndexPath(address: Address): string {
  return `entity-key-index/${address}`;
}

export function geometryItemPath(address: Address): string {
  return `geometry-item/${address}`;
}

export function geometryDataPath(address: Address): string {
  return `geometry-data/${address}`;
}

export function trackPath(timeline: Address, modality: string, address: Address): string {
  return within(timeline, modality, "track", address);
}

/** Pages of paged indexes and of scalar B-trees (PAGED 1). */
export function indexPagePath(timeline: Address, modality: string, address: Address): string {
  return within(timeline, modality, "index", address);
}

/** Key-index pages of a VideoItem Track (PAGED 1). */
export function videoItemKeyIndexPath(
  timeline: Address,
  modality: string,
  address: Address,
): string {
  return within(timeline, modality, "video-item-key-index", address);
}

/** ScalarBuckets and packs of them. */
export function bucketPath(timeline: Address, modality: string, address: Address): string {
  return within(timeline, modality, "bucket", address);
}

/** SpatialBuckets; `cell` is a string of `0` and `1`. */
export function cellPath(
  timeline: Address,
  modality: string,
  cell: string,
  address: Address,
): string {
  if (!/^[01]+$/.test(cell)) {
    throw new DreamDBError({
      code: "malformed-object",
      kind: "SpatialBucket entry",
      found: `a cell ${JSON.stringify(cell)}`,
      expected: 'a string of "0" and "1"',
      next: "The Track that names this cell is damaged or of an unknown form; verify the store.",
    });
  }
  return within(timeline, modality, cell, address);
}

/** The exact-vector sidecar of a SpatialBucket. */
export function vectorsPath(timeline: Address, modality: string, address: Address): string {
  return within(timeline, modality, "vectors", address);
}

/** Fragments, packs of them and the chunks of an ItemManifest. */
export function fragmentPath(timeline: Address, modality: string, address: Address): string {
  return within(timeline, modality, FRAGMENT_FOLDER, address);
}

export function itemManifestPath(timeline: Address, modality: string, address: Address): string {
  return within(timeline, modality, "items", address);
}

export function initSegmentPath(timeline: Address, modality: string, address: Address): string {
  return within(timeline, modality, "init", address);
}

export function videoItemPath(timeline: Address, modality: string, address: Address): string {
  return within(timeline, modality, "video-item", address);
}

export function hotShardPath(timeline: Address, modality: string, address: Address): string {
  return within(timeline, modality, "hot-shard", address);
}

/** Typed array items: under the anchor (events, in ns) or the time bucket (batches), as 16 hex digits. */
export function arrayItemPath(
  timeline: Address,
  modality: string,
  anchorOrBucket: bigint,
  address: Address,
): string {
  return within(timeline, modality, anchorOrBucket.toString(16).padStart(16, "0"), address);
}

/** The payload of a Constant lies directly below its modality. */
export function constantPath(timeline: Address, modality: string, address: Address): string {
  return within(timeline, modality, address);
}

export function textIndexPath(timeline: Address, modality: string, address: Address): string {
  return within(timeline, modality, "text-index", address);
}

export function graphPagePath(timeline: Address, modality: string, address: Address): string {
  return within(timeline, modality, "graph-page", address);
}

/** The Bao outboard of the object at `address` (FORMAT 1.7). */
export function outboardPath(address: Address): string {
  return `bao-outboard/${address}`;
}

/** @throws DreamDBError invalid-ref-name */
export function refPath(name: string): string {
  checkRefName(name);
  return `refs/${name}`;
}

/**
 * The lock file of a ref: named by the address of the text `refs/NAME` (FORMAT 1.5).
 * @throws DreamDBError invalid-ref-name
 */
export function lockPath(name: string): string {
  return `${LOCK_FOLDER}/${addressOf(new TextEncoder().encode(refPath(name)))}.lock`;
}
