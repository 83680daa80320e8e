import { describe, expect, test } from "bun:test";
import { parseAddress } from "../../src/encoding/address.ts";
import { isDreamDBError } from "../../src/errors.ts";
import {
  arrayItemPath,
  bucketPath,
  cellPath,
  checkPath,
  constantPath,
  entityKeyIndexPath,
  fragmentPath,
  genesisPath,
  geometryDataPath,
  geometryItemPath,
  graphIndexPath,
  graphPagePath,
  hotShardPath,
  indexPagePath,
  initSegmentPath,
  itemManifestPath,
  lockPath,
  manifestPath,
  outboardPath,
  refPath,
  scalarIndexPath,
  spatialIndexPath,
  textIndexPath,
  tombstonePath,
  trackPath,
  vectorCompressorPath,
  vectorsPath,
  videoItemKeyIndexPath,
  videoItemPath,
} from "../../src/store/paths.ts";

const timeline = parseAddress("dyzqatwcncyeeg2vizrgkzj2uhgdsxvvsp5sxaw2y2qudmv6cgs4g");
const address = parseAddress("dzipqcxzdpjq42ag7y5vzd5oeghedrkq7f7fbtgvti3qyc656nd3q");
const embedding = "embedding.f32.dim=2.bucketed";

const rows: readonly (readonly [string, string])[] = [
  [genesisPath(address), `genesis/${address}`],
  [manifestPath(address), `manifests/${address}`],
  [spatialIndexPath(address), `spatial-index/${address}`],
  [scalarIndexPath(address), `scalar-index/${address}`],
  [vectorCompressorPath(address), `vector-compressor/${address}`],
  [graphIndexPath(address), `graph-index/${address}`],
  [tombstonePath(address), `tombstones/${address}`],
  [entityKeyIndexPath(address), `entity-key-index/${address}`],
  [geometryItemPath(address), `geometry-item/${address}`],
  [geometryDataPath(address), `geometry-data/${address}`],
  [outboardPath(address), `bao-outboard/${address}`],
  [trackPath(timeline, embedding, address), `${timeline}/${embedding}/track/${address}`],
  [indexPagePath(timeline, embedding, address), `${timeline}/${embedding}/index/${address}`],
  [
    videoItemKeyIndexPath(timeline, "v", address),
    `${timeline}/v/video-item-key-index/${address}`,
  ],
  [
    bucketPath(timeline, "scalar.cat.field=label", address),
    `${timeline}/scalar.cat.field=label/bucket/${address}`,
  ],
  [cellPath(timeline, embedding, "0101", address), `${timeline}/${embedding}/0101/${address}`],
  [vectorsPath(timeline, embedding, address), `${timeline}/${embedding}/vectors/${address}`],
  [
    fragmentPath(timeline, "image.jpeg", address),
    `${timeline}/image.jpeg/0000000000000000/${address}`,
  ],
  [itemManifestPath(timeline, "image.jpeg", address), `${timeline}/image.jpeg/items/${address}`],
  [initSegmentPath(timeline, "video.h264", address), `${timeline}/video.h264/init/${address}`],
  [videoItemPath(timeline, "v", address), `${timeline}/v/video-item/${address}`],
  [hotShardPath(timeline, "v", address), `${timeline}/v/hot-shard/${address}`],
  [constantPath(timeline, "title.text", address), `${timeline}/title.text/${address}`],
  [textIndexPath(timeline, "v", address), `${timeline}/v/text-index/${address}`],
  [graphPagePath(timeline, "v", address), `${timeline}/v/graph-page/${address}`],
  [arrayItemPath(timeline, "a", 0n, address), `${timeline}/a/0000000000000000/${address}`],
  [
    arrayItemPath(timeline, "a", 1_800_000_000_000_000_001n, address),
    `${timeline}/a/18fae27693b40001/${address}`,
  ],
  [
    arrayItemPath(timeline, "a", 2n ** 64n - 1n, address),
    `${timeline}/a/ffffffffffffffff/${address}`,
  ],
  [refPath("team/w@1"), "refs/team/w@1"],
  [
    lockPath("trunk"),
    ".dreamdb-cas-locks/dzilve5jnjrssxjazw6sxflpcz6a7qvamsp7kblpmfp2g7hoqvu7s.lock",
  ],
];

describe("object paths", () => {
  for (const [path, expected] of rows) {
    test(expected, () => {
      expect(path).toBe(expected);
      expect(checkPath(path)).toBe(path);
    });
  }

  for (const modality of ["", "a/b", "..", "a..b", "A", "é", "a b", "a\\b", "a\nb", "."]) {
    test(`refuses the modality ${JSON.stringify(modality)}`, () => {
      expect(codeOf(() => trackPath(timeline, modality, address))).toBe(true);
    });
  }

  for (const cell of ["", "2", "01x", "../01", "track"]) {
    test(`refuses the cell ${JSON.stringify(cell)}`, () => {
      expect(codeOf(() => cellPath(timeline, embedding, cell, address))).toBe(true);
    });
  }
});

function codeOf(call: () => string): boolean {
  try {
    call();
    return false;
  } catch (error) {
    return isDreamDBError(error, "malformed-object");
  }
}
