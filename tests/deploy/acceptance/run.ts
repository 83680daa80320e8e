/**
 * The acceptance run on a real control plane: `npm run acceptance:k8s`.
 *
 * The overlay deploy/overlays/file-store is applied as it is, into a namespace that enforces the
 * "restricted" pod security level. Eight workers append with the published reference into branches of
 * their own, deploy/merge-when-ingested.sh starts the merge, and the reference counts what came of it.
 * Then a merge that must be refused has to end its Job after one pod.
 *
 * API server, Job controller and kubectl are those of Kubernetes. A program here stands in for the
 * kubelet: the merge runs in the real image under podman, the workers as processes of this machine.
 *
 * @module
 */

import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeImage } from "../../../scripts/image.ts";
import { Podman, podmanMissing } from "../../image/podman.ts";
import { compiledExecutable } from "../../support/dreamdb.ts";
import { backendUrl, projectRoot } from "../../support/fixtures.ts";
import { collect, oracle, referencePython, runPython } from "../../support/reference.ts";
import { ControlPlane, controlPlaneMissing } from "./control-plane.ts";
import { type Ended, Kubelet, type Run } from "./kubelet.ts";

const ROWS = 800;
const WORKERS = 8;
const NONROOT = 65532;

let failures = 0;

/** Says whether something is as it must be. */
function check(what: string, good: boolean, found: unknown = ""): void {
  console.log(`${good ? "ok    " : "FAILED"} ${what}${good ? "" : `: found ${String(found)}`}`);
  if (!good) failures++;
}

const missing = controlPlaneMissing ?? podmanMissing;
if (missing !== undefined) {
  console.error(`the acceptance run is not possible: ${missing}`);
  process.exit(1);
}

const folder = mkdtempSync(join(tmpdir(), "dreamdb-acceptance-"));
const volumes: Readonly<Record<string, string>> = {
  "dreamdb-store": join(folder, "store"),
  "dreamdb-source": join(folder, "source"),
};
const store = join(folder, "store/night-camera");
const podman = new Podman();
let plane: ControlPlane | undefined;
const stop = new AbortController();
let serving: Promise<void> = Promise.resolve();
try {
  for (const path of Object.values(volumes)) mkdirSync(path);
  const made = await runPython("tests/deploy/acceptance/make-source.py", [
    store,
    join(folder, "source/rows.jsonl"),
    String(ROWS),
  ]);
  if (made.exitCode !== 0) throw new Error(made.stderr);
  makeImage(join(folder, "image.tar"), new Map([["amd64", await compiledExecutable()]]), "test");
  const image = await podman.load(join(folder, "image.tar"));
  plane = await ControlPlane.start(join(folder, "control-plane"));
  const kubelet = new Kubelet(
    plane,
    (run) => run.image.startsWith("dreamdb-ingest:") ? ingest(run) : merge(run, image),
  );
  serving = kubelet.serve(stop.signal);

  designDocument(plane);
  plane.ask(["label", "namespace", "default", "pod-security.kubernetes.io/enforce=restricted"]);
  await shardedIngest(plane);
  await refusedMerge(plane);
} finally {
  stop.abort();
  await serving.catch((error: unknown) => console.error(error));
  await plane?.stop();
  await podman.dispose();
  rmSync(folder, { recursive: true, force: true });
}
console.log(failures === 0 ? "\nThe acceptance run passed." : `\n${failures} checks failed.`);
process.exit(failures === 0 ? 0 : 1);

/** The Jobs of the design document, word for word, meet the API server. */
function designDocument(plane: ControlPlane): void {
  const text = readFileSync(join(projectRoot, "tests/deploy/design-document.yaml"), "utf8");
  const { status, stderr } = plane.kubectl(["apply", "--dry-run=server", "-f", "-"], text);
  check("the design document's Jobs are refused", status !== 0, status);
  check("because they name no restartPolicy", stderr.includes("restartPolicy"), stderr);
}

async function shardedIngest(plane: ControlPlane): Promise<void> {
  console.log(plane.ask(["apply", "-k", join(projectRoot, "deploy/overlays/file-store")]).trim());
  const script = spawn("sh", [join(projectRoot, "deploy/merge-when-ingested.sh")], {
    env: plane.environment,
    stdio: "pipe",
  });
  script.stdin.end();
  const { exitCode, stderr } = await collect(script);
  check("merge-when-ingested.sh ends with 0", exitCode === 0, `${exitCode}: ${stderr}`);
  const ingest = JSON.parse(plane.ask(["get", "job", "dreamdb-ingest", "--output=json"]));
  check("all indexes are complete", ingest.status.completedIndexes === "0-7", ingest.status);
  const { count, anchors } = await oracle("summary", backendUrl(store), "trunk");
  check(`the reference counts ${ROWS} records on trunk`, count === ROWS, count);
  check("each with its own anchor", new Set(anchors).size === ROWS, anchors.length);
  const [newest] = await oracle("history", backendUrl(store), "trunk");
  check(
    `in one Manifest with ${WORKERS + 1} parents`,
    newest?.parents === WORKERS + 1,
    newest?.parents,
  );
}

async function refusedMerge(plane: ControlPlane): Promise<void> {
  const anchor = "1900000000000000000";
  for (const [index, branch] of ["again-0", "again-1"].entries()) {
    await oracle("branch", backendUrl(store), "trunk", branch);
    await oracle("append", backendUrl(store), branch, [
      { _anchor: anchor, embedding: Array(8).fill(index + 1), animal: "owl", brightness: index },
    ]);
  }
  const configMap = "configmap/dreamdb-store";
  const patch = JSON.stringify({ data: { BRANCHES: "again-{0..1}" } });
  plane.ask(["patch", configMap, "--type=merge", "--patch", patch]);
  plane.ask(["delete", "job", "dreamdb-merge"]);
  const job =
    plane.ask(["kustomize", join(projectRoot, "deploy/overlays/file-store")]).split("\n---\n").find(
      (text) => text.includes("name: dreamdb-merge"),
    ) ?? "";
  plane.ask(["apply", "-f", "-"], job);
  const script = spawn("sh", [join(projectRoot, "deploy/merge-when-ingested.sh")], {
    env: plane.environment,
    stdio: "pipe",
  });
  script.stdin.end();
  const { exitCode } = await collect(script);
  check("merge-when-ingested.sh ends with 1 when the merge is refused", exitCode === 1, exitCode);
  const { status } = JSON.parse(plane.ask(["get", "job", "dreamdb-merge", "--output=json"]));
  const failed = status.conditions.find(({ type }: { type: string }) => type === "Failed");
  check(
    "the Job ends by its podFailurePolicy",
    failed?.reason === "PodFailurePolicy",
    failed?.reason,
  );
  check("after one pod", status.failed === 1, status.failed);
}

/** A worker, as a process of this machine with the paths of its volumes put in. */
async function ingest({ args, environment, claims }: Run): Promise<Ended> {
  const local = (text: string) =>
    [...claims].reduce((word, [path, claim]) => word.replace(path, volumes[claim] ?? path), text);
  const [script, ...rest] = [join(projectRoot, "deploy/ingest/ingest.py"), ...args.map(local)];
  const child = spawn(await referencePython(), [script ?? "", ...rest], {
    env: { ...process.env, ...environment },
    stdio: "pipe",
  });
  child.stdin.end();
  const { exitCode, stdout, stderr } = await collect(child);
  return { exitCode, log: stdout + stderr };
}

/** The merge in its image, after what a kubelet does for `fsGroup`. */
async function merge({ args, environment, claims }: Run, image: string): Promise<Ended> {
  const mounted = Object.fromEntries(
    [...claims].map(([path, claim]) => [path, volumes[claim] ?? ""]),
  );
  for (const path of Object.values(mounted)) {
    for (const command of [["chgrp", "-R", String(NONROOT)], ["chmod", "-R", "g+rwX"]]) {
      const [program = "", ...rest] = command;
      spawnSync(program, [...rest, path]);
    }
  }
  const { exitCode, stdout, stderr } = await podman.run(image, args, {
    environment,
    volumes: mounted,
  });
  return { exitCode, log: stdout + stderr };
}
