import { describe, expect, test } from "bun:test";
import { parseBranchList } from "../../src/cli/branch-names.ts";
import { EXIT } from "../../src/cli/exit-codes.ts";
import {
  deployedFiles,
  kustomized,
  kustomizeMissing,
  type Manifest,
  readManifests,
} from "./manifests.ts";
import { schemaFaults } from "./schema.ts";

if (kustomizeMissing !== undefined) console.warn(`skipped: overlays: ${kustomizeMissing}`);

const only = (manifests: readonly Manifest[], kind: string, part: string): Manifest => {
  const found = manifests.filter(({ kind: its, metadata }) =>
    its === kind && (metadata.name ?? "").includes(part)
  );
  const [manifest] = found;
  if (manifest === undefined || found.length > 1) {
    throw new Error(`${found.length} ${kind} ${part}`);
  }
  return manifest;
};

const jobOf = (manifests: readonly Manifest[], part: string) => {
  const { spec } = only(manifests, "Job", part);
  if (spec === undefined) throw new Error(`${part} has no spec`);
  const [container] = spec.template.spec.containers;
  if (container === undefined) throw new Error(`${part} has no container`);
  return { spec, pod: spec.template.spec, container };
};

describe("every manifest in deploy/", () => {
  for (const [path, text] of deployedFiles()) {
    test(`${path} has known fields of the right types only`, () => {
      const manifests = readManifests(text);
      expect(manifests.length).toBeGreaterThan(0);
      for (const manifest of manifests) expect(schemaFaults(manifest)).toEqual([]);
    });
  }

  test("a field that does not exist is found", () => {
    const text = deployedFiles().find(([path]) => path === "base/ingest-job.yaml")?.[1] ?? "";
    const [manifest] = readManifests(text.replace("backoffLimitPerIndex", "backoffLimitPerIdx"));
    expect(manifest === undefined ? [] : schemaFaults(manifest)).toEqual([
      `/spec must NOT have additional properties {"additionalProperty":"backoffLimitPerIdx"}`,
    ]);
  });
});

describe("exit codes", () => {
  const manifests = deployedFiles().flatMap(([, text]) => readManifests(text));
  const { rules } = jobOf(manifests, "merge").spec.podFailurePolicy;
  const forAPerson = [
    ...[EXIT.usage, EXIT.refused, EXIT.missing, EXIT.notAllowed],
    ...[EXIT.unknownOutcome, EXIT.damaged],
  ];
  const again = [
    EXIT.internal,
    EXIT.conflict,
    EXIT.storeFailure,
    EXIT.interrupted,
    EXIT.terminated,
  ];

  test("are all either for a person or to be tried again", () => {
    expect([...forAPerson, ...again, EXIT.done].sort()).toEqual(Object.values(EXIT).sort());
  });

  test("for a person end the merge Job at once, and no others do", () => {
    const ending = rules.flatMap(({ action, onExitCodes }) =>
      action === "FailJob" && onExitCodes?.operator === "In" ? onExitCodes.values : []
    );
    expect([...ending].sort()).toEqual([...forAPerson].sort());
  });

  test("for a person end the Argo workflow at once, and no others do", () => {
    const text = deployedFiles().find(([path]) => path === "argo/workflow.yaml")?.[1] ?? "";
    const listed = /lastRetry\.exitCode\) not in \[([\d, ]+)\]/.exec(text)?.[1] ?? "";
    expect(listed.split(",").map(Number).sort()).toEqual([...forAPerson].sort());
  });

  test("of a pod that was evicted do not count, whatever they are", () => {
    expect(rules[0]).toEqual({
      action: "Ignore",
      onPodConditions: [{ type: "DisruptionTarget", status: "True" }],
    });
  });
});

describe.each(
  [
    ["base", 8],
    ["overlays/64-workers", 64],
    ["overlays/file-store", 8],
  ] as const,
)("%s", (folder, workers) => {
  const text = folder === "base"
    ? deployedFiles().filter(([path]) => path.startsWith("base/")).map(([, part]) => part).join(
      "\n---\n",
    )
    : kustomizeMissing === undefined
    ? kustomized(folder)
    : "";
  const testOf = test.skipIf(text === "");
  const manifests = text === "" ? [] : readManifests(text);

  testOf("has known fields of the right types only", () => {
    for (const manifest of manifests) expect(schemaFaults(manifest)).toEqual([]);
  });

  testOf(`merges the branches that its ${workers} workers write`, () => {
    const { spec, container } = jobOf(manifests, "ingest");
    const { data = {} } = only(manifests, "ConfigMap", "store");
    expect([spec.completions, spec.parallelism, Number(data["SHARDS"])]).toEqual([
      workers,
      workers,
      workers,
    ]);
    const branch = container.args.find((arg) => arg.startsWith("--branch="))?.slice(9) ?? "";
    const written = Array.from(
      { length: workers },
      (_, index) => branch.replace("$(JOB_COMPLETION_INDEX)", String(index)),
    );
    expect(jobOf(manifests, "merge").container.args).toContain("--branches=$(BRANCHES)");
    expect(parseBranchList("BRANCHES", data["BRANCHES"] ?? "")).toEqual(written);
  });

  testOf("uses variables that Kubernetes replaces, and that are set", () => {
    const { data = {} } = only(manifests, "ConfigMap", "store");
    for (const [part, given] of [["ingest", ["JOB_COMPLETION_INDEX"]], ["merge", []]] as const) {
      const { container } = jobOf(manifests, part);
      const known: ReadonlySet<string> = new Set([...Object.keys(data), ...given]);
      for (const word of [...container.command ?? [], ...container.args]) {
        const names = [...word.matchAll(/\$\(([A-Z_]+)\)/g)].map(([, name = ""]) => name);
        expect(names.filter((name) => !known.has(name))).toEqual([]);
        expect(word.replace(/\$\([A-Z_]+\)/g, "")).not.toContain("$");
      }
    }
  });

  testOf("runs under the restricted pod security level, with bounded memory", () => {
    for (const part of ["ingest", "merge"]) {
      const { pod, container } = jobOf(manifests, part);
      expect(pod.restartPolicy).toBe("Never");
      expect(pod.automountServiceAccountToken).toBe(false);
      expect(pod.securityContext).toMatchObject({
        runAsNonRoot: true,
        runAsUser: 65532,
        seccompProfile: { type: "RuntimeDefault" },
      });
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
      expect(container.resources.requests).toHaveProperty("cpu");
      expect(container.resources.limits).toHaveProperty("memory");
      const volumes = pod.volumes.map(({ name }) => name);
      expect(container.volumeMounts.filter(({ name }) => !volumes.includes(name))).toEqual([]);
      expect(container.image).not.toMatch(/:latest$|^[^:]+$/);
    }
  });

  testOf("does not start the merge by itself", () => {
    expect(jobOf(manifests, "merge").spec.suspend).toBe(true);
  });
});
