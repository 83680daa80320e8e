/**
 * Runs `log`: the Manifests behind a ref, newest first, over all parents.
 *
 * @module
 */

import type { Address } from "../../encoding/address.ts";
import { createManifestReader } from "../../history/manifest-reader.ts";
import { fieldKey, fieldOf } from "../../model/binding.ts";
import type { Manifest } from "../../model/manifest.ts";
import type { StoreOptions } from "../common-options.ts";
import { EXIT } from "../exit-codes.ts";
import { graphColumns } from "../graph.ts";
import { withStore } from "../open-store.ts";
import type { Outcome, RunContext } from "../outcome.ts";
import { resolveStart } from "../resolve-start.ts";
import { shortList } from "../style.ts";
import { timeText } from "../time.ts";

/** What `log` was asked. */
export interface LogOptions extends StoreOptions {
  /** A ref or an address. */
  readonly start: string;
  readonly count: number;
  readonly graph: boolean;
}

interface LogEntry {
  readonly address: Address;
  readonly ts: bigint;
  readonly time: string;
  readonly writer: string;
  readonly operation: string | null;
  readonly parents: readonly Address[];
  readonly merge: boolean;
  /** Fields whose Track is not that of the first parent; null when that parent is gone. */
  readonly changed: readonly string[] | null;
}

/** Walks newest first; Manifests that were collected are named and end their line. */
export async function runLog(options: LogOptions, context: RunContext): Promise<Outcome> {
  return await withStore(options, context, async (connector) => {
    const call = { signal: context.signal };
    const start = await resolveStart(connector, options.start, call);
    const reader = createManifestReader(connector, call);
    const waiting = new Map<Address, Manifest>([
      [start.address, await reader.read(start.address)],
    ]);
    const seen = new Set<Address>([start.address]);
    const entries: LogEntry[] = [];
    while (entries.length < options.count) {
      context.signal.throwIfAborted();
      const newest = [...waiting].reduce<[Address, Manifest] | undefined>(
        (best, one) => best === undefined || one[1].ts > best[1].ts ? one : best,
        undefined,
      );
      if (newest === undefined) break;
      const [address, manifest] = newest;
      waiting.delete(address);
      const parents = await Promise.all(manifest.parents.map(reader.readIfPresent));
      manifest.parents.forEach((parent, index) => {
        const found = parents[index];
        if (found === undefined || seen.has(parent)) return;
        seen.add(parent);
        waiting.set(parent, found);
      });
      entries.push(describe(address, manifest, parents[0]));
    }
    return {
      exitCode: EXIT.done,
      document: {
        status: "ok",
        backend: connector.url,
        ref: start.ref ?? null,
        tip: start.address,
        manifests: entries,
        missing: reader.missing(),
        more: waiting.size > 0,
        error: null,
      },
      text: logText(entries, reader.missing(), waiting.size > 0, options.graph, context),
    };
  });
}

function describe(address: Address, manifest: Manifest, first: Manifest | undefined): LogEntry {
  return {
    address,
    ts: manifest.ts,
    time: timeText(manifest.ts),
    writer: manifest.writer,
    operation: operationOf(manifest.writer),
    parents: manifest.parents,
    merge: manifest.parents.length > 1,
    changed: manifest.parents.length > 0 && first === undefined
      ? null
      : changedFields(manifest, first),
  };
}

function changedFields(manifest: Manifest, before: Manifest | undefined): readonly string[] {
  const old = new Map(
    before?.tracks.active.map((binding) => [fieldKey(binding), binding.address]),
  );
  return manifest.tracks.active
    .filter((binding) => old.get(fieldKey(binding)) !== binding.address)
    .map((binding) => fieldOf(binding) || binding.modality);
}

/** The operation that a writer text names (FORMAT 4.1, LEGACY 2). */
function operationOf(writer: string): string | null {
  return /;operation=([^;]*)/.exec(writer)?.[1] ?? /#[^#]*#([a-z0-9_-]+)$/.exec(writer)?.[1] ??
    null;
}

function logText(
  entries: readonly LogEntry[],
  missing: readonly Address[],
  more: boolean,
  graph: boolean,
  { style }: RunContext,
): string {
  const columns = graph ? graphColumns(entries) : undefined;
  const gone = new Set(missing);
  const lines: string[] = [];
  entries.forEach((entry, index) => {
    const { head, rest } = columns?.[index] ?? { head: "", rest: "" };
    const mark = entry.merge ? `  merge of ${entry.parents.length}` : "";
    const parents = entry.parents.map((parent, position) =>
      `${position === 0 ? "parent" : "      "}   ${parent}${gone.has(parent) ? " (gone)" : ""}`
    );
    const changed = entry.changed === null
      ? []
      : [`changed  ${entry.changed.length === 0 ? "-" : shortList(entry.changed, 6)}`];
    lines.push(
      `${head}${style.yellow(entry.address)}${style.bold(mark)}`,
      ...[`date     ${entry.time}`, `writer   ${entry.writer}`, ...parents, ...changed]
        .map((line) => `${rest}${graph ? "" : "  "}${line}`),
      ...(index < entries.length - 1 ? [rest.trimEnd()] : []),
    );
  });
  if (more) lines.push("", "… and older ones; see more with -n");
  return `${lines.join("\n")}\n`;
}
