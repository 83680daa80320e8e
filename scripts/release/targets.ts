/**
 * The platforms that releases are built for.
 *
 * @module
 */

/** One platform. */
export interface Target {
  /** As in the names of files: `linux-x64`. */
  readonly name: string;
  /** Bun's name of it. */
  readonly bunTarget: string;
  /** The package with Bun's executable for it. */
  readonly runtimePackage: string;
  /** As npm names them, for packages with native code. */
  readonly os: string;
  readonly cpu: string;
}

/** All platforms. The baseline one is for processors without AVX2. */
export const TARGETS: readonly Target[] = [
  target("linux-x64", "linux-x64", "linux", "x64"),
  target("linux-x64-baseline", "linux-x64-baseline", "linux", "x64"),
  target("linux-arm64", "linux-aarch64", "linux", "arm64"),
  target("darwin-arm64", "darwin-aarch64", "darwin", "arm64"),
  target("darwin-x64", "darwin-x64", "darwin", "x64"),
  target("windows-x64", "windows-x64", "win32", "x64"),
];

function target(name: string, runtime: string, os: string, cpu: string): Target {
  return { name, bunTarget: `bun-${name}`, runtimePackage: `@oven/bun-${runtime}`, os, cpu };
}

/** The executable's file name. */
export function executableName({ name, os }: Target): string {
  return os === "win32" ? `dreamdb-${name}.exe` : `dreamdb-${name}`;
}
