import type { ControlPlane } from "./control-plane.ts";

/** A pod, as far as a kubelet looks into it. */
export interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly deletionTimestamp?: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly nodeName?: string;
    readonly containers: readonly Container[];
    readonly volumes: readonly {
      readonly name: string;
      readonly persistentVolumeClaim?: { readonly claimName: string };
    }[];
  };
  readonly status: { readonly phase?: string };
}

interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly fieldRef?: { readonly fieldPath: string } };
  }[];
  readonly envFrom?: readonly { readonly configMapRef?: { readonly name: string } }[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

/** What is to be run. */
export interface Run {
  readonly image: string;
  readonly command: readonly string[];
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Claims by the path at which they are mounted. */
  readonly claims: ReadonlyMap<string, string>;
}

/** How a container ended. */
export interface Ended {
  readonly exitCode: number;
  readonly log: string;
}

/**
 * Stands in for scheduler and kubelet: binds pods, replaces `$(NAME)` by the API's own rules, lets
 * `execute` run the container, and reports the exit code as the pod's status.
 */
export class Kubelet {
  readonly logs = new Map<string, string>();
  readonly #plane: ControlPlane;
  readonly #execute: (run: Run) => Promise<Ended>;
  readonly #taken = new Set<string>();

  constructor(plane: ControlPlane, execute: (run: Run) => Promise<Ended>) {
    this.#plane = plane;
    this.#execute = execute;
  }

  /** Runs pods, at most two at once, until `signal` is aborted. */
  async serve(signal: AbortSignal): Promise<void> {
    const running = new Set<Promise<void>>();
    while (!signal.aborted) {
      const { items }: { items: readonly Pod[] } = JSON.parse(
        this.#plane.ask(["get", "pods", "--output=json"]),
      );
      for (const pod of items) {
        const { name, deletionTimestamp } = pod.metadata;
        const waiting = pod.status.phase === "Pending" && deletionTimestamp === undefined;
        if (!waiting || this.#taken.has(name) || running.size >= 2) continue;
        this.#taken.add(name);
        const done: Promise<void> = this.#run(pod).finally(() => running.delete(done));
        running.add(done);
      }
      await Bun.sleep(300);
    }
    await Promise.all(running);
  }

  async #run(pod: Pod): Promise<void> {
    const { name, namespace } = pod.metadata;
    const [container] = pod.spec.containers;
    if (container === undefined) throw new Error(`${name} has no container`);
    this.#plane.ask(
      ["create", "--raw", `/api/v1/namespaces/${namespace}/pods/${name}/binding`, "-f", "-"],
      JSON.stringify({
        apiVersion: "v1",
        kind: "Binding",
        metadata: { name },
        target: { apiVersion: "v1", kind: "Node", name: "local" },
      }),
    );
    const environment = this.#environmentOf(pod, container);
    const { exitCode, log } = await this.#execute({
      image: container.image,
      command: (container.command ?? []).map((word) => expand(word, environment)),
      args: (container.args ?? []).map((word) => expand(word, environment)),
      environment,
      claims: claimsOf(pod, container),
    });
    this.logs.set(name, log);
    console.log(`${name}: exit code ${exitCode}: ${log.trim().split("\n").at(-1)}`);
    const terminated = { exitCode, reason: exitCode === 0 ? "Completed" : "Error" };
    const status = {
      phase: exitCode === 0 ? "Succeeded" : "Failed",
      containerStatuses: [{
        name: container.name,
        image: container.image,
        imageID: "",
        ready: false,
        restartCount: 0,
        state: { terminated },
      }],
    };
    this.#plane.ask([
      ...["patch", "pod", name, "--subresource=status", "--type=merge"],
      ...["--patch", JSON.stringify({ status })],
    ]);
  }

  #environmentOf(pod: Pod, container: Container): Record<string, string> {
    const environment: Record<string, string> = {};
    for (const { configMapRef } of container.envFrom ?? []) {
      if (configMapRef === undefined) continue;
      const { data }: { data: Record<string, string> } = JSON.parse(
        this.#plane.ask(["get", "configmap", configMapRef.name, "--output=json"]),
      );
      Object.assign(environment, data);
    }
    for (const { name, value = "", valueFrom } of container.env ?? []) {
      const path = valueFrom?.fieldRef?.fieldPath;
      environment[name] = path === undefined ? expand(value, environment) : field(pod, path);
    }
    return environment;
  }
}

/** `$(NAME)` becomes the value when there is one and stays when not; `$$` is `$`. */
function expand(text: string, environment: Readonly<Record<string, string>>): string {
  return text.replace(
    /\$\$|\$\(([^)]*)\)/g,
    (whole, name: string | undefined) => name === undefined ? "$" : environment[name] ?? whole,
  );
}

function field(pod: Pod, path: string): string {
  const match = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(path);
  if (match === null) throw new Error(`the field ${path} is not known here`);
  const [, part, name = ""] = match;
  const values = part === "labels" ? pod.metadata.labels : pod.metadata.annotations;
  return values?.[name] ?? "";
}

function claimsOf(pod: Pod, container: Container): ReadonlyMap<string, string> {
  const mounts = container.volumeMounts.flatMap(({ name, mountPath }) => {
    const volume = pod.spec.volumes.find((candidate) => candidate.name === name);
    const claim = volume?.persistentVolumeClaim?.claimName;
    return claim === undefined ? [] : [[mountPath, claim] as const];
  });
  return new Map(mounts);
}
