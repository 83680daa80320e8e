import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { projectRoot } from "../support/fixtures.ts";

/** A Kubernetes object, as far as these tests look into it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name?: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: JobSpec;
}

/** A Job's specification. */
export interface JobSpec {
  readonly suspend?: boolean;
  readonly completions: number;
  readonly parallelism: number;
  readonly podFailurePolicy: {
    readonly rules: readonly {
      readonly action: string;
      readonly onExitCodes?: { readonly operator: string; readonly values: readonly number[] };
      readonly onPodConditions?: readonly { readonly type: string; readonly status: string }[];
    }[];
  };
  readonly template: { readonly spec: PodSpec };
}

/** A pod's specification. */
export interface PodSpec {
  readonly restartPolicy: string;
  readonly automountServiceAccountToken: boolean;
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly containers: readonly Container[];
  readonly volumes: readonly { readonly name: string }[];
}

/** A container. */
export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args: readonly string[];
  readonly securityContext: unknown;
  readonly resources: {
    readonly requests?: Readonly<Record<string, string>>;
    readonly limits?: Readonly<Record<string, string>>;
  };
  readonly volumeMounts: readonly { readonly name: string }[];
}

const deploy = join(projectRoot, "deploy");

/** The objects in a text, anchors and aliases resolved. */
export function readManifests(text: string): readonly Manifest[] {
  return parseAllDocuments(text, { merge: true }).map((document) => {
    if (document.errors.length > 0) throw new Error(document.errors.join("\n"));
    return document.toJS() as Manifest;
  });
}

/** All manifests of deploy/ by file, without what only kustomize reads. */
export function deployedFiles(): readonly (readonly [path: string, text: string])[] {
  return readdirSync(deploy, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".yaml") && !path.endsWith("kustomization.yaml"))
    .sort()
    .map((path) => [path, readFileSync(join(deploy, path), "utf8")] as const);
}

const kustomize = join(projectRoot, ".cache/bin/kustomize");

/** Why kustomize cannot be asked, or undefined. */
export const kustomizeMissing = existsSync(kustomize)
  ? undefined
  : "kustomize is missing: run scripts/install-deploy-tools.sh";

/** What `kubectl apply -k` would send. */
export function kustomized(folder: string): string {
  const { status, stdout, stderr } = spawnSync(kustomize, ["build", join(deploy, folder)], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`kustomize build ${folder}: ${stderr}`);
  return stdout;
}
