/**
 * Makes the container image as an OCI archive, without a container engine:
 *
 *     npm run image -- OUTFILE amd64=EXECUTABLE [arm64=EXECUTABLE]
 *
 * Without arguments: build/dreamdb-image.tar for this machine's architecture, out of build/dreamdb.
 * The same executables and packages give the same digest. Load it with `podman load -i OUTFILE` or
 * `skopeo copy --all oci-archive:OUTFILE docker://…`.
 *
 * @module
 */

import { readFileSync, writeFileSync } from "node:fs";
import { commitName, packageVersion } from "./build.ts";
import { ociArchive, type PlatformImage } from "./image/oci.ts";
import { ARCHITECTURES, baseLayer } from "./image/runtime-files.ts";
import { tarOf } from "./image/tar.ts";

const cache = ".cache/image";

/** The image's name without its tag. */
export const IMAGE_NAME = "localhost/dreamdb";

/** Writes the image for each architecture's executable; returns its digest. */
export function makeImage(
  outfile: string,
  executables: ReadonlyMap<string, string>,
  commit: string,
): string {
  const version = packageVersion();
  const platforms = [...executables].map(([name, path]): PlatformImage => {
    const architecture = ARCHITECTURES.find((candidate) => candidate.name === name);
    if (architecture === undefined) throw new Error(`there is no image for ${name}`);
    const base = baseLayer(architecture, cache);
    return {
      architecture: name,
      layers: [
        { tar: tarOf(base.entries), what: base.packages.join(" ") },
        {
          tar: tarOf([{ name: "usr/local/bin/dreamdb", body: readFileSync(path), mode: 0o755 }]),
          what: `dreamdb ${version}`,
        },
      ],
      config: {
        User: "65532:65532",
        Env: [
          "PATH=/usr/local/bin",
          "HOME=/home/nonroot",
          "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt",
        ],
        Entrypoint: ["/usr/local/bin/dreamdb"],
        Cmd: ["--help"],
        WorkingDir: "/work",
        Labels: {
          "org.opencontainers.image.title": "dreamdb",
          "org.opencontainers.image.description":
            "Merges N ingest branches of a DreamDB store into trunk in one atomic step",
          "org.opencontainers.image.version": version,
          "org.opencontainers.image.revision": commit,
          "org.opencontainers.image.licenses": "MIT",
        },
      },
    };
  });
  const { bytes, digest } = ociArchive(`${IMAGE_NAME}:${version}`, platforms);
  writeFileSync(outfile, bytes);
  console.log(
    `${outfile}: ${(bytes.length / 1e6).toFixed(1)} MB, ${
      [...executables.keys()].join(" and ")
    }, ` +
      digest,
  );
  return digest;
}

if (import.meta.main) {
  const here = process.arch === "x64" ? "amd64" : process.arch;
  const [outfile = "build/dreamdb-image.tar", ...named] = process.argv.slice(2);
  const executables = new Map(
    (named.length > 0 ? named : [`${here}=build/dreamdb`]).map((pair): [string, string] => {
      const cut = pair.indexOf("=");
      return [pair.slice(0, cut), pair.slice(cut + 1)];
    }),
  );
  makeImage(outfile, executables, commitName());
}
