/**
 * The little that the executable needs around it, taken out of Debian's packages: the C library with
 * its loader and resolver, and the certificates of public authorities.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
} from "node:fs";
import { join, resolve } from "node:path";
import type { TarEntry } from "./tar.ts";

/** What differs between architectures. */
export interface Architecture {
  /** As Go and Debian name it. */
  readonly name: "amd64" | "arm64";
  readonly triplet: string;
  /** Where the kernel looks for the loader. */
  readonly loader: string;
}

/** Architectures there is an image for. */
export const ARCHITECTURES: readonly Architecture[] = [
  { name: "amd64", triplet: "x86_64-linux-gnu", loader: "lib64/ld-linux-x86-64.so.2" },
  { name: "arm64", triplet: "aarch64-linux-gnu", loader: "lib/ld-linux-aarch64.so.1" },
];

const LIBRARIES = [
  ...["libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1"],
  ...["libresolv.so.2", "libnss_dns.so.2", "libnss_files.so.2"],
];
const PACKAGES = ["libc6", "ca-certificates"];
const NONROOT = 65532;

/** The base layer of an architecture, and the packages it is made of. */
export interface BaseLayer {
  readonly entries: readonly TarEntry[];
  /** Such as `libc6_2.36-9+deb12u13_amd64`. */
  readonly packages: readonly string[];
}

/**
 * The base layer. Packages are downloaded once into `cache`, with apt but without touching what the
 * machine has installed; no rights are needed.
 * @throws Error when apt is missing or cannot reach a package archive
 */
export function baseLayer(architecture: Architecture, cache: string): BaseLayer {
  const folder = unpackedPackages(architecture, cache);
  const packages = readdirSync(folder).filter((name) => name.endsWith(".deb")).sort()
    .map((name) => name.replace(/\.deb$/, "").replaceAll("%3a", ":"));
  const root = join(folder, "root");
  const read = (path: string) => readFileSync(realpathSync(join(root, path)));
  const libraries = `lib/${architecture.triplet}`;
  const loaderName = architecture.loader.slice(architecture.loader.lastIndexOf("/") + 1);
  const text = (lines: readonly string[]) => new TextEncoder().encode(`${lines.join("\n")}\n`);
  const files: readonly TarEntry[] = [
    { name: architecture.loader, body: read(`${libraries}/${loaderName}`), mode: 0o755 },
    ...LIBRARIES.map((name) => ({
      name: `${libraries}/${name}`,
      body: read(`${libraries}/${name}`),
      mode: 0o644,
    })),
    { name: "etc/ssl/certs/ca-certificates.crt", body: certificates(root), mode: 0o644 },
    {
      name: "etc/passwd",
      body: text([
        "root:x:0:0:root:/root:/sbin/nologin",
        `nonroot:x:${NONROOT}:${NONROOT}:nonroot:/home/nonroot:/sbin/nologin`,
      ]),
      mode: 0o644,
    },
    { name: "etc/group", body: text(["root:x:0:", `nonroot:x:${NONROOT}:`]), mode: 0o644 },
    { name: "etc/nsswitch.conf", body: text(["hosts: files dns"]), mode: 0o644 },
  ];
  return {
    packages,
    entries: [
      ...foldersOf([...files.map(({ name }) => name), "usr/local/bin/"]),
      { name: "home/", mode: 0o755 },
      { name: "home/nonroot/", mode: 0o755, owner: NONROOT },
      { name: "tmp/", mode: 0o1777 },
      { name: "work/", mode: 0o755, owner: NONROOT },
      ...files,
    ],
  };
}

/** A folder with the unpacked packages of an architecture, as emulators want it. */
export function runtimeFolder(name: Architecture["name"], cache: string): string {
  const architecture = ARCHITECTURES.find((candidate) => candidate.name === name);
  if (architecture === undefined) throw new Error(`there is no ${name}`);
  return join(unpackedPackages(architecture, cache), "root");
}

/** All folders on the way to `names`, parents first. */
function foldersOf(names: readonly string[]): readonly TarEntry[] {
  const folders = new Set<string>();
  for (const name of names) {
    const parts = name.split("/").slice(0, -1);
    parts.forEach((_, index) => folders.add(`${parts.slice(0, index + 1).join("/")}/`));
  }
  return [...folders].sort().map((name) => ({ name, mode: 0o755 }));
}

function certificates(root: string): Uint8Array {
  const folder = join(root, "usr/share/ca-certificates/mozilla");
  return Buffer.concat(
    readdirSync(folder).sort().map((name) =>
      Buffer.from(readFileSync(join(folder, name), "utf8").trimEnd() + "\n")
    ),
  );
}

function unpackedPackages(architecture: Architecture, cache: string): string {
  const folder = resolve(cache, `runtime-${architecture.name}`);
  if (existsSync(folder)) return folder;
  const partial = `${folder}.partial-${process.pid}`;
  for (const name of ["lists/partial", "archives/partial", "root"]) {
    mkdirSync(join(partial, name), { recursive: true });
  }
  try {
    const apt = [
      ...["-q", "-o", `APT::Architecture=${architecture.name}`],
      ...["-o", `APT::Architectures=${architecture.name}`],
      ...["-o", `Dir::State=${partial}`, "-o", `Dir::State::Lists=${join(partial, "lists")}`],
      ...["-o", `Dir::Cache=${partial}`, "-o", "APT::Sandbox::User="],
      ...["-o", "Acquire::Languages=none"],
    ];
    run(partial, "apt-get", [...apt, "update"]);
    run(partial, "apt-get", [...apt, "download", ...PACKAGES]);
    for (const name of readdirSync(partial).filter((file) => file.endsWith(".deb"))) {
      run(partial, "dpkg-deb", ["--extract", name, "root"]);
    }
    for (const name of ["lists", "archives"]) {
      rmSync(join(partial, name), { recursive: true, force: true });
    }
    renameSync(partial, folder);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return folder;
}

function run(folder: string, program: string, args: readonly string[]): void {
  const { status, stderr, error } = spawnSync(program, args, { cwd: folder, encoding: "utf8" });
  if (status === 0) return;
  throw new Error(`${program} ${args.at(-1)}: ${error?.message ?? stderr.trim()}`);
}
