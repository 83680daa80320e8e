import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { projectRoot } from "../../support/fixtures.ts";

const programs = join(projectRoot, ".cache/control-plane");

/** Why there is no control plane, or undefined. */
export const controlPlaneMissing: string | undefined =
  ["etcd", "kube-apiserver", "kube-controller-manager", "kubectl"]
      .every((name) => existsSync(join(programs, name)))
    ? undefined
    : "the control plane is not built: run scripts/build-control-plane.sh";

/**
 * A real API server with the real Job controller, on the loopback. There is no scheduler and no
 * kubelet: see `Kubelet`.
 */
export class ControlPlane {
  /** For programs that call kubectl. */
  readonly environment: NodeJS.ProcessEnv;
  readonly #folder: string;
  readonly #children: ChildProcess[] = [];

  private constructor(folder: string) {
    this.#folder = folder;
    this.environment = {
      PATH: `${programs}:${process.env["PATH"]}`,
      HOME: folder,
      KUBECONFIG: join(folder, "kubeconfig"),
    };
  }

  static async start(folder: string): Promise<ControlPlane> {
    mkdirSync(folder, { recursive: true });
    const plane = new ControlPlane(folder);
    try {
      await plane.#start();
    } catch (error) {
      await plane.stop();
      throw error;
    }
    return plane;
  }

  async #start(): Promise<void> {
    const [client, peer, api] = [await freePort(), await freePort(), await freePort()];
    const file = (name: string) => join(this.#folder, name);
    const etcd = `http://127.0.0.1:${client}`;
    this.#spawn("etcd", [
      ...["--data-dir", file("etcd"), "--unsafe-no-fsync", "--log-level", "error"],
      ...["--listen-client-urls", etcd, "--advertise-client-urls", etcd],
      ...["--listen-peer-urls", `http://127.0.0.1:${peer}`],
      ...["--initial-advertise-peer-urls", `http://127.0.0.1:${peer}`],
      ...["--initial-cluster", `default=http://127.0.0.1:${peer}`],
    ]);
    const key = spawnSync("openssl", ["genrsa", "-out", file("key"), "2048"]);
    if (key.status !== 0) throw new Error(`openssl: ${key.stderr}`);
    writeFileSync(file("tokens.csv"), 'token,admin,admin,"system:masters"\n');
    writeFileSync(
      file("kubeconfig"),
      JSON.stringify({
        apiVersion: "v1",
        kind: "Config",
        "current-context": "test",
        clusters: [{
          name: "test",
          cluster: { server: `https://127.0.0.1:${api}`, "insecure-skip-tls-verify": true },
        }],
        users: [{ name: "test", user: { token: "token" } }],
        contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
      }),
    );
    this.#spawn("kube-apiserver", [
      ...[`--etcd-servers=${etcd}`, `--secure-port=${api}`, "--bind-address=127.0.0.1"],
      ...["--endpoint-reconciler-type=none", `--cert-dir=${file("certificates")}`],
      ...["--service-account-issuer=https://kubernetes.test"],
      ...[`--service-account-key-file=${file("key")}`],
      ...[`--service-account-signing-key-file=${file("key")}`],
      ...[`--token-auth-file=${file("tokens.csv")}`, "--authorization-mode=RBAC"],
      ...["--service-cluster-ip-range=10.0.0.0/24", "--enable-priority-and-fairness=false"],
      "--disable-admission-plugins=ServiceAccount",
    ]);
    for (let attempt = 0; this.kubectl(["get", "--raw", "/readyz"]).status !== 0; attempt++) {
      if (attempt > 240 || this.#children.some(({ exitCode }) => exitCode !== null)) {
        throw new Error(`the API server is not ready:\n${this.#log("kube-apiserver")}`);
      }
      await Bun.sleep(500);
    }
    this.#spawn("kube-controller-manager", [
      `--kubeconfig=${file("kubeconfig")}`,
      "--controllers=job-controller,garbage-collector-controller",
      ...["--leader-elect=false", "--secure-port=0"],
    ]);
  }

  /** Runs kubectl to its end. */
  kubectl(args: readonly string[], input = ""): {
    readonly status: number | null;
    readonly stdout: string;
    readonly stderr: string;
  } {
    return spawnSync(join(programs, "kubectl"), args, {
      env: this.environment,
      input,
      encoding: "utf8",
      maxBuffer: 1 << 26,
    });
  }

  /** Runs kubectl and gives its output. @throws Error when it failed */
  ask(args: readonly string[], input = ""): string {
    const { status, stdout, stderr } = this.kubectl(args, input);
    if (status !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
    return stdout;
  }

  /** Ends it, the last one first: the API server waits for open watches. */
  async stop(): Promise<void> {
    for (const child of this.#children.reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), 5_000);
      await ended;
      clearTimeout(timer);
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #spawn(name: string, args: readonly string[]): void {
    const log = openSync(join(this.#folder, `${name}.log`), "a");
    this.#children.push(spawn(join(programs, name), args, { stdio: ["ignore", log, log] }));
  }

  #log(name: string): string {
    return readFileSync(join(this.#folder, `${name}.log`), "utf8").slice(-2000);
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
