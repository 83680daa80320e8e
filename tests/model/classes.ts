import {
  btreePageAlgorithm,
  decodeBtreePage,
  encodeBtreePage,
} from "../../src/model/btree-page.ts";
import { decodeEntityKeyIndex, encodeEntityKeyIndex } from "../../src/model/entity-key-index.ts";
import { decodeGenesis, encodeGenesis } from "../../src/model/genesis.ts";
import { decodeGeometryItem, encodeGeometryItem } from "../../src/model/geometry-item.ts";
import { decodeGraphIndex, encodeGraphIndex } from "../../src/model/graph-index.ts";
import { decodeHotShard, encodeHotShard, isOpaqueHotShard } from "../../src/model/hot-shard.ts";
import { pagedKind } from "../../src/model/index-leaf.ts";
import { decodeIndexPage, encodeIndexPage } from "../../src/model/index-page.ts";
import { decodeItemManifest, encodeItemManifest } from "../../src/model/item-manifest.ts";
import { decodeManifest, encodeManifest } from "../../src/model/manifest.ts";
import { decodeScalarIndex, encodeScalarIndex } from "../../src/model/scalar-index.ts";
import { decodeSpatialBucket, encodeSpatialBucket } from "../../src/model/spatial-bucket.ts";
import { decodeSpatialIndex, encodeSpatialIndex } from "../../src/model/spatial-index.ts";
import { decodeTombstonePage, encodeTombstonePage } from "../../src/model/tombstone-page.ts";
import { decodeTombstoneHead, encodeTombstoneHead } from "../../src/model/tombstones.ts";
import { trackKindOf } from "../../src/model/track-kind.ts";
import { decodeTrack, encodeTrack } from "../../src/model/track.ts";
import {
  decodeVectorCompressor,
  encodeVectorCompressor,
} from "../../src/model/vector-compressor.ts";
import { decodeVectorSidecar, encodeVectorSidecar } from "../../src/model/vector-sidecar.ts";
import { decodeVideoItem, encodeVideoItem } from "../../src/model/video-item.ts";
import { decodeVideoKeyPage, encodeVideoKeyPage } from "../../src/model/video-key-page.ts";

/** Decodes an object and encodes it again; `modality` is the folder it lies in. */
type Codec = (bytes: Uint8Array, path: string, modality: string) => Uint8Array;

/** One class of object: where it lies (FORMAT 1.2) and what reads it. */
interface ObjectClass {
  readonly name: string;
  readonly path: RegExp;
  readonly codec: Codec;
}

const address = "d[a-z2-7]{52}";
const under = (tail: string) => new RegExp(`^${address}/(?<modality>[^/]+)/${tail}$`);
const top = (folder: string) => new RegExp(`^${folder}/${address}$`);

/** Every class that a model file reads; the first that matches a path counts. */
export const objectClasses: readonly ObjectClass[] = [
  {
    name: "Manifest",
    path: top("manifests"),
    codec: (b, p) => encodeManifest(decodeManifest(b, p)),
  },
  {
    name: "Track",
    path: under(`track/${address}`),
    codec: (b, p) => encodeTrack(decodeTrack(b, p)),
  },
  { name: "Genesis", path: top("genesis"), codec: (b, p) => encodeGenesis(decodeGenesis(b, p)) },
  {
    name: "SpatialIndex",
    path: top("spatial-index"),
    codec: (b, p) => encodeSpatialIndex(decodeSpatialIndex(b, p)),
  },
  {
    name: "ScalarIndex",
    path: top("scalar-index"),
    codec: (b, p) => encodeScalarIndex(decodeScalarIndex(b, p)),
  },
  {
    name: "VectorCompressor",
    path: top("vector-compressor"),
    codec: (b, p) => encodeVectorCompressor(decodeVectorCompressor(b, p)),
  },
  {
    name: "GraphIndex",
    path: top("graph-index"),
    codec: (b, p) => encodeGraphIndex(decodeGraphIndex(b, p)),
  },
  { name: "tombstones", path: top("tombstones"), codec: tombstones },
  {
    name: "entity key index",
    path: top("entity-key-index"),
    codec: (b, p) => encodeEntityKeyIndex(decodeEntityKeyIndex(b, p)),
  },
  {
    name: "geometry item",
    path: top("geometry-item"),
    codec: (b, p) => encodeGeometryItem(decodeGeometryItem(b, p)),
  },
  {
    name: "ItemManifest",
    path: under(`items/${address}`),
    codec: (b, p) => encodeItemManifest(decodeItemManifest(b, p)),
  },
  {
    name: "VideoItem",
    path: under(`video-item/${address}`),
    codec: (b, p) => encodeVideoItem(decodeVideoItem(b, p)),
  },
  {
    name: "VideoItem key page",
    path: under(`video-item-key-index/${address}`),
    codec: (b, p) => encodeVideoKeyPage(decodeVideoKeyPage(b, p)),
  },
  { name: "HotShard", path: under(`hot-shard/${address}`), codec: hotShard },
  { name: "index page", path: under(`index/${address}`), codec: indexPage },
  {
    name: "vector sidecar",
    path: under(`vectors/${address}`),
    codec: (b, p) => encodeVectorSidecar(decodeVectorSidecar(b, p)),
  },
  {
    name: "SpatialBucket",
    path: new RegExp(`^${address}/(?<modality>embedding[^/]+)/[01]+/${address}$`),
    codec: (b, p) => encodeSpatialBucket(decodeSpatialBucket(b, p)),
  },
];

/** The class of the object at `path`, and the modality folder it lies in. */
export function classify(
  path: string,
): { readonly objectClass: ObjectClass; readonly modality: string } | undefined {
  for (const objectClass of objectClasses) {
    const match = objectClass.path.exec(path);
    if (match !== null) return { objectClass, modality: match.groups?.["modality"] ?? "" };
  }
  return undefined;
}

function tombstones(bytes: Uint8Array, path: string): Uint8Array {
  const text = new TextDecoder("latin1").decode(bytes);
  return text.includes("tombstone-page.v1")
    ? encodeTombstonePage(decodeTombstonePage(bytes, path))
    : encodeTombstoneHead(decodeTombstoneHead(bytes, path));
}

function hotShard(bytes: Uint8Array, path: string): Uint8Array {
  return isOpaqueHotShard(bytes) ? bytes : encodeHotShard(decodeHotShard(bytes, path));
}

function indexPage(bytes: Uint8Array, path: string, modality: string): Uint8Array {
  const kind = pagedKind(trackKindOf(modality));
  if (kind !== undefined) {
    const context = { kind, modality, path };
    return encodeIndexPage(decodeIndexPage(bytes, context), context);
  }
  const algorithm = btreePageAlgorithm(bytes, path);
  return encodeBtreePage(decodeBtreePage(bytes, { algorithm, path }), algorithm);
}
