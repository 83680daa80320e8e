import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { createHash } from "node:crypto";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { ociArchive, type PlatformImage } from "../../scripts/image/oci.ts";
import { tarOf } from "../../scripts/image/tar.ts";
import { scratchFolder } from "../support/fixtures.ts";

setDefaultTimeout(60_000);

const text = (content: string) => new TextEncoder().encode(content);

/** Unpacks an archive with the system's tar; returns the folder. */
function unpack(archive: Uint8Array): string {
  const folder = scratchFolder();
  const { status, stderr } = spawnSync("tar", ["-xf", "-", "-C", folder], { input: archive });
  expect({ status, stderr: String(stderr) }).toEqual({ status: 0, stderr: "" });
  return folder;
}

describe("a tar archive", () => {
  test("is what the system's tar lists, with modes and owners", () => {
    const archive = tarOf([
      { name: "tmp/", mode: 0o1777 },
      { name: "work/", mode: 0o755, owner: 65532 },
      { name: "usr/bin/tool", body: text("#!"), mode: 0o755 },
      { name: "empty", body: text(""), mode: 0o644 },
      { name: "large", body: new Uint8Array(100_000), mode: 0o600 },
    ]);
    const { stdout } = spawnSync("tar", ["-tvf", "-", "--numeric-owner", "--utc"], {
      input: archive,
      encoding: "utf8",
    });
    expect(stdout.trim().split("\n").map((line) => line.replace(/\s+/g, " "))).toEqual([
      "drwxrwxrwt 0/0 0 1970-01-01 00:00 tmp/",
      "drwxr-xr-x 65532/65532 0 1970-01-01 00:00 work/",
      "-rwxr-xr-x 0/0 2 1970-01-01 00:00 usr/bin/tool",
      "-rw-r--r-- 0/0 0 1970-01-01 00:00 empty",
      "-rw------- 0/0 100000 1970-01-01 00:00 large",
    ]);
  });

  test("does not cut names that are too long", () => {
    expect(() => tarOf([{ name: "x".repeat(101), body: text(""), mode: 0o644 }])).toThrow("100");
  });
});

describe("an OCI archive", () => {
  const platform = (architecture: string): PlatformImage => ({
    architecture,
    layers: [
      { tar: tarOf([{ name: "etc/", mode: 0o755 }]), what: "base" },
      { tar: tarOf([{ name: "app", body: text(architecture), mode: 0o755 }]), what: "app" },
    ],
    config: {
      User: "65532:65532",
      Env: ["PATH=/"],
      Entrypoint: ["/app"],
      Cmd: [],
      WorkingDir: "/",
      Labels: {},
    },
  });

  test("has the same bytes every time", () => {
    const [first, second] = [1, 2].map(() =>
      ociArchive("x:1", [platform("amd64"), platform("arm64")])
    );
    expect(second).toEqual(first as typeof second & object);
  });

  test("holds every object under its own digest and size, down to the layers", () => {
    const archive = ociArchive("x:1", [platform("amd64"), platform("arm64")]);
    const folder = unpack(archive.bytes);
    interface Descriptor {
      readonly digest: string;
      readonly size: number;
      readonly platform?: { readonly architecture: string };
    }
    const blob = ({ digest, size }: Descriptor): Uint8Array => {
      const bytes = readFileSync(join(folder, "blobs", digest.replace(":", "/")));
      expect(`sha256:${createHash("sha256").update(bytes).digest("hex")}`).toBe(digest);
      expect(bytes.length).toBe(size);
      return bytes;
    };
    const json = (bytes: Uint8Array) => JSON.parse(new TextDecoder().decode(bytes));
    const [top] = JSON.parse(readFileSync(join(folder, "index.json"), "utf8")).manifests;
    expect(top.digest).toBe(archive.digest);
    const manifests: readonly Descriptor[] = json(blob(top)).manifests;
    expect(manifests.map(({ platform }) => platform?.architecture)).toEqual(["amd64", "arm64"]);
    for (const descriptor of manifests) {
      const manifest = json(blob(descriptor));
      const config = json(blob(manifest.config));
      expect(config.architecture).toBe(descriptor.platform?.architecture);
      const unpacked = manifest.layers.map((layer: Descriptor) => gunzipSync(blob(layer)));
      expect(config.rootfs.diff_ids).toEqual(
        unpacked.map((bytes: Uint8Array) =>
          `sha256:${createHash("sha256").update(bytes).digest("hex")}`
        ),
      );
    }
  });
});
