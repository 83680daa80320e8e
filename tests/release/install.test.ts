import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { TARGETS } from "../../scripts/release/targets.ts";
import { projectRoot, scratchFolder } from "../support/fixtures.ts";
import { collect } from "../support/reference.ts";

/** An executable that says which one it is. */
const program = (name: string) => `#!/bin/sh\necho "dreamdb 1.2.3 of ${name}"\n`;

let server: ReturnType<typeof Bun.serve>;
let files: Map<string, Uint8Array>;

beforeAll(() => {
  server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      const body = files.get(new URL(request.url).pathname);
      return body === undefined
        ? new Response("not found", { status: 404 })
        : new Response(Uint8Array.from(body));
    },
  });
});
afterAll(() => server.stop(true));

/** A release with an executable for every platform. */
function release(
  version: string,
  change: (name: string, bytes: Uint8Array) => Uint8Array = (_, b) => b,
) {
  files = new Map();
  let sums = "";
  for (const { name } of TARGETS) {
    const file = `dreamdb-${name}.gz`;
    const bytes = gzipSync(program(name));
    sums += `${createHash("sha256").update(bytes).digest("hex")}  ${file}\n`;
    files.set(`/releases/${version}/${file}`, change(name, bytes));
  }
  files.set(`/releases/${version}/SHA256SUMS`, new TextEncoder().encode(sums));
}

interface Machine {
  readonly system: string;
  readonly machine: string;
  readonly flags: string;
}

async function install(machine: Machine, args: readonly string[] = []) {
  const folder = scratchFolder();
  const tools = join(folder, "tools");
  mkdirSync(tools);
  writeFileSync(
    join(tools, "uname"),
    `#!/bin/sh\ncase $1 in -s) echo ${machine.system} ;; *) echo ${machine.machine} ;; esac\n`,
    { mode: 0o755 },
  );
  writeFileSync(join(folder, "cpuinfo"), `flags : ${machine.flags}\n`);
  const target = join(folder, "bin");
  const child = spawn("sh", [join(projectRoot, "install.sh"), ...args], {
    stdio: "pipe",
    env: {
      PATH: `${tools}:${process.env["PATH"]}`,
      HOME: folder,
      DREAMDB_INSTALL: target,
      DREAMDB_RELEASES: `${server.url.origin}/releases`,
      DREAMDB_CPUINFO: join(folder, "cpuinfo"),
    },
  });
  child.stdin.end();
  return { ...await collect(child), target };
}

const here: Machine = { system: "Linux", machine: "x86_64", flags: "sse4_2 avx avx2" };

describe("install.sh", () => {
  const machines: readonly (readonly [Machine, string])[] = [
    [here, "linux-x64"],
    [{ ...here, flags: "sse4_2 avx avx512" }, "linux-x64-baseline"],
    [{ ...here, machine: "aarch64", flags: "asimd" }, "linux-arm64"],
    [{ system: "Darwin", machine: "arm64", flags: "" }, "darwin-arm64"],
    [{ system: "Darwin", machine: "x86_64", flags: "" }, "darwin-x64"],
  ];
  for (const [machine, target] of machines) {
    test(`takes ${target} for ${Object.values(machine).join(", ")}`, async () => {
      release("latest/download");
      const { stdout, exitCode, target: folder } = await install(machine);
      expect(exitCode).toBe(0);
      expect(stdout).toContain(`dreamdb 1.2.3 of ${target} installed as ${folder}/dreamdb`);
      expect(readFileSync(join(folder, "dreamdb"), "utf8")).toBe(program(target));
      expect(statSync(join(folder, "dreamdb")).mode & 0o777).toBe(0o755);
      expect(readdirSync(folder)).toEqual(["dreamdb"]);
    });
  }

  test("takes the version that is asked for", async () => {
    release("download/v1.2.3");
    expect((await install(here, ["v1.2.3"])).exitCode).toBe(0);
    expect((await install(here, ["v9.9.9"])).stderr).toContain("/v9.9.9/SHA256SUMS");
  });

  const refusals: readonly (readonly [string, () => void, Machine, string])[] = [
    [
      "what has another sum",
      () => release("latest/download", () => gzipSync(program("something else"))),
      here,
      "not installed",
    ],
    [
      "an executable that does not run here",
      () => {
        release("latest/download");
        const bytes = gzipSync("#!/bin/sh\nexit 132\n");
        const sum = createHash("sha256").update(bytes).digest("hex");
        files.set("/releases/latest/download/dreamdb-linux-x64.gz", bytes);
        files.set(
          "/releases/latest/download/SHA256SUMS",
          new TextEncoder().encode(`${sum}  dreamdb-linux-x64.gz\n`),
        );
      },
      here,
      "does not run on this machine",
    ],
    [
      "a file without a sum",
      () => {
        release("latest/download");
        files.set("/releases/latest/download/SHA256SUMS", new Uint8Array(0));
      },
      here,
      "has no sum",
    ],
    ["another system", () => release("latest/download"), { ...here, system: "Plan9" }, "Plan9"],
    ["another processor", () => release("latest/download"), { ...here, machine: "mips" }, "mips"],
    ["a release that is not there", () => files.clear(), here, "could not be loaded"],
  ];
  for (const [what, prepare, machine, message] of refusals) {
    test(`refuses ${what} and installs nothing`, async () => {
      prepare();
      const { stderr, exitCode, target } = await install(machine);
      expect(exitCode).not.toBe(0);
      expect(stderr).toContain(message);
      expect(existsSync(join(target, "dreamdb"))).toBe(false);
    });
  }
});
