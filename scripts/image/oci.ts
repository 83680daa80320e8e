/**
 * Container images as OCI archives, written without a container engine: the same layers give the
 * same bytes and so the same digest.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { tarOf } from "./tar.ts";

/** An image for one architecture. */
export interface PlatformImage {
  /** As Go names it: `amd64`, `arm64`. */
  readonly architecture: string;
  /** Tar archives, lowest first, each with what it is. */
  readonly layers: readonly { readonly tar: Uint8Array; readonly what: string }[];
  readonly config: {
    readonly User: string;
    readonly Env: readonly string[];
    readonly Entrypoint: readonly string[];
    readonly Cmd: readonly string[];
    readonly WorkingDir: string;
    readonly Labels: Readonly<Record<string, string>>;
  };
}

/** An archive and the digest under which a registry knows the image. */
export interface OciArchive {
  readonly bytes: Uint8Array;
  readonly digest: string;
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

const TYPE = "application/vnd.oci.image";
/** Times must not depend on when the image is made. */
const CREATED = "1970-01-01T00:00:00Z";

/**
 * One archive with an image for each platform.
 * @param name with its tag, such as `dreamdb:0.1.0`
 */
export function ociArchive(name: string, platforms: readonly PlatformImage[]): OciArchive {
  const blobs = new Map<string, Uint8Array>();
  const add = (mediaType: string, bytes: Uint8Array): Descriptor => {
    const digest = sha256(bytes);
    blobs.set(digest, bytes);
    return { mediaType, digest: `sha256:${digest}`, size: bytes.length };
  };
  const json = (value: unknown) => Buffer.from(JSON.stringify(value));
  const manifests = platforms.map(({ architecture, layers, config }) => {
    const configuration = {
      created: CREATED,
      architecture,
      os: "linux",
      config,
      rootfs: { type: "layers", diff_ids: layers.map(({ tar }) => `sha256:${sha256(tar)}`) },
      history: layers.map(({ what }) => ({ created: CREATED, created_by: what })),
    };
    const manifest = {
      schemaVersion: 2,
      mediaType: `${TYPE}.manifest.v1+json`,
      config: add(`${TYPE}.config.v1+json`, json(configuration)),
      layers: layers.map(({ tar }) =>
        add(`${TYPE}.layer.v1.tar+gzip`, gzipSync(tar, { level: 6 }))
      ),
    };
    return { ...add(manifest.mediaType, json(manifest)), platform: { architecture, os: "linux" } };
  });
  const [only, ...others] = manifests;
  if (only === undefined) throw new Error("an image needs a platform");
  const index = { schemaVersion: 2, mediaType: `${TYPE}.index.v1+json`, manifests };
  const top = others.length === 0 ? only : add(index.mediaType, json(index));
  const annotations = {
    "io.containerd.image.name": name,
    "org.opencontainers.image.ref.name": name.slice(name.lastIndexOf(":") + 1),
  };
  const file = (path: string, body: Uint8Array) => ({ name: path, body, mode: 0o644 });
  const bytes = tarOf([
    file("oci-layout", json({ imageLayoutVersion: "1.0.0" })),
    file("index.json", json({ schemaVersion: 2, manifests: [{ ...top, annotations }] })),
    ...[...blobs.keys()].sort().map((digest) =>
      file(`blobs/sha256/${digest}`, blobs.get(digest) ?? new Uint8Array(0))
    ),
  ]);
  return { bytes, digest: top.digest };
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
