import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { collect, type ProgramResult } from "../support/reference.ts";

/** Why containers cannot be run on this machine, or undefined when they can. */
export const podmanMissing: string | undefined = findMissing();

function findMissing(): string | undefined {
  if (process.getuid?.() !== 0) return "containers are run as several users, which only root can";
  for (const program of ["podman", "runc"]) {
    if (spawnSync(program, ["--version"]).status !== 0) {
      return `${program} is missing: run apt-get install podman runc`;
    }
  }
  return undefined;
}

/** How a container is run. */
export interface ContainerOptions {
  /** `UID:GID`; default: the image's. */
  readonly user?: string;
  /** Folders of this machine by their path in the container. */
  readonly volumes?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly network?: "none" | "host";
  /** Mounts a writable /tmp; default true. */
  readonly temporary?: boolean;
}

/**
 * A podman with a storage of its own, which nothing else on the machine sees. Containers get what
 * the Jobs in deploy/ give them: a read-only root, no capabilities, no new privileges.
 */
export class Podman {
  readonly #folder = mkdtempSync(join(tmpdir(), "dreamdb-podman-"));
  readonly #environment: NodeJS.ProcessEnv;

  constructor() {
    const file = (name: string, lines: readonly string[]) => {
      const path = join(this.#folder, name);
      writeFileSync(path, `${lines.join("\n")}\n`);
      return path;
    };
    const storage = ["graph", "run", "tmp"].map((name) => join(this.#folder, name));
    for (const path of storage) mkdirSync(path);
    this.#environment = {
      PATH: process.env["PATH"],
      HOME: this.#folder,
      TMPDIR: storage[2],
      CONTAINERS_STORAGE_CONF: file("storage.conf", [
        "[storage]",
        'driver = "overlay"',
        `graphroot = "${storage[0]}"`,
        `runroot = "${storage[1]}"`,
      ]),
      CONTAINERS_CONF: file("containers.conf", [
        "[containers]",
        // Machines that are containers themselves may not raise limits.
        "default_ulimits = []",
        'netns = "none"',
        "[engine]",
        'cgroup_manager = "cgroupfs"',
        'events_logger = "none"',
        'runtime = "runc"',
      ]),
    };
  }

  /** Runs podman with `args` to its end. */
  async podman(args: readonly string[]): Promise<ProgramResult> {
    const child = spawn("podman", args, { env: this.#environment, stdio: "pipe" });
    child.stdin.end();
    return await collect(child);
  }

  /** Runs a shell script in which the word `podman` means this one. */
  async script(text: string, variables: Readonly<Record<string, string>>): Promise<ProgramResult> {
    const child = spawn("sh", ["-eu", "-c", text], {
      env: { ...this.#environment, ...variables },
      stdio: "pipe",
    });
    child.stdin.end();
    return await collect(child);
  }

  /** Loads an archive; returns the image's name. */
  async load(archive: string): Promise<string> {
    const { stdout, stderr, exitCode } = await this.podman(["load", "--input", archive]);
    const name = /Loaded image: (\S+)/.exec(stdout)?.[1];
    if (exitCode !== 0 || name === undefined) throw new Error(`podman load: ${stdout}${stderr}`);
    return name;
  }

  /** Runs a container of `image` to its end. */
  async run(
    image: string,
    args: readonly string[],
    options: ContainerOptions = {},
  ): Promise<ProgramResult> {
    return await this.podman([
      ...["run", "--rm", `--network=${options.network ?? "none"}`, "--read-only"],
      ...["--read-only-tmpfs=false", "--cap-drop=ALL", "--security-opt=no-new-privileges"],
      ...options.temporary === false ? [] : ["--tmpfs=/tmp:rw,mode=1777"],
      ...options.user === undefined ? [] : [`--user=${options.user}`],
      ...Object.entries(options.volumes ?? {}).map(([to, from]) => `--volume=${from}:${to}:rw`),
      ...Object.entries(options.environment ?? {}).map(([name, value]) => `--env=${name}=${value}`),
      image,
      ...args,
    ]);
  }

  /** Removes all of it. */
  async dispose(): Promise<void> {
    await this.podman(["system", "reset", "--force"]);
    spawnSync("rm", ["-rf", "--one-file-system", this.#folder]);
  }
}
