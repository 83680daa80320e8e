/**
 * Holds merges of the large stores of fixtures/trees/scale.py against those of the reference.
 *
 * @module
 */

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { equalBytes } from "../../../src/encoding/bytes.ts";
import {
  btreePageAlgorithm,
  decodeBtreePage,
  encodeBtreePage,
} from "../../../src/model/btree-page.ts";
import { pagedKind } from "../../../src/model/index-leaf.ts";
import { decodeIndexPage, encodeIndexPage } from "../../../src/model/index-page.ts";
import { trackKindOf } from "../../../src/model/track-kind.ts";
import { FileConnector } from "../../../src/store/file.ts";
import type { MergeReport } from "../../../src/merge/report.ts";
import { backendUrl, projectRoot, scratchFolder } from "../../support/fixtures.ts";
import { runPython } from "../../support/reference.ts";
import { bindingOf, branchNames, entryKeys, merge } from "./store.ts";

/** A store that fixtures/trees/scale.py makes. */
export interface ScaleStore {
  readonly kind: "spatial" | "fragment" | "scalar";
  readonly keys: "random" | "clustered";
  readonly entries: number;
}

/** What a check found. */
export interface Checked {
  /** Differences from the reference's merge; none is a pass. */
  readonly problems: readonly string[];
  readonly report: MergeReport;
  readonly seconds: number;
}

const FIELDS = {
  spatial: ["emb"],
  fragment: ["packed"],
  scalar: ["num", "real", "text", "cat"],
} as const;

/** The folder of a store, which is made when it is not there yet and must not be changed. */
export async function madeStore({ kind, keys, entries }: ScaleStore): Promise<string> {
  const parent = join(projectRoot, "build/scale");
  const folder = join(parent, `${kind}-${keys}-${entries}`);
  if (existsSync(folder)) return folder;
  mkdirSync(parent, { recursive: true });
  const made = await runPython("fixtures/trees/scale.py", [folder, kind, keys, String(entries)]);
  if (made.exitCode !== 0) throw new Error(`${folder} cannot be made:\n${made.stderr}`);
  return folder;
}

/**
 * A store with the same objects that may be changed. Objects are links to the same files, since no
 * writer ever changes one; refs and locks are files of their own.
 */
export function linkedStore(from: string): string {
  const folder = join(scratchFolder(), "store");
  const { status, stderr } = spawnSync("cp", ["--archive", "--link", from, folder]);
  if (status !== 0) throw new Error(`${from} cannot be linked: ${stderr.toString()}`);
  for (const own of ["refs", ".dreamdb-cas-locks"]) {
    rmSync(join(folder, own), { recursive: true, force: true });
    if (existsSync(join(from, own))) {
      cpSync(join(from, own), join(folder, own), { recursive: true });
    }
  }
  return folder;
}

/** Merges the first `count` branches, and compares with what the reference made of them. */
export async function checkMerge(
  store: ScaleStore,
  folder: string,
  count: number,
): Promise<Checked> {
  const connector = new FileConnector(backendUrl(folder));
  const [ours, reference] = [`ours-${count}`, `reference-${count}`];
  const began = performance.now();
  const report = await merge(connector, ours, branchNames(count));
  const seconds = (performance.now() - began) / 1000;
  const problems: string[] = [];
  if (report.status !== "merged") problems.push(`${report.status}: ${report.refusals[0]?.message}`);
  for (const field of FIELDS[store.kind]) {
    const [own, other] = [
      await entryKeys(connector, ours, field),
      await entryKeys(connector, reference, field),
    ];
    if (own.length !== other.length || own.some((key, index) => key !== other[index])) {
      problems.push(`${field}: ${own.length} entries, the reference has ${other.length}`);
    }
    if (store.kind !== "scalar") continue;
    const [address, expected] = [
      (await bindingOf(connector, ours, field)).address,
      (await bindingOf(connector, reference, field)).address,
    ];
    if (address !== expected) problems.push(`${field}: Track ${address}, not ${expected}`);
  }
  if (store.kind !== "scalar") {
    const used = await runPython("tests/merge/scale/accept.py", [
      folder,
      store.kind,
      ours,
      reference,
    ]);
    if (used.exitCode !== 0) throw new Error(used.stderr);
    problems.push(...JSON.parse(used.stdout) as string[]);
  }
  return { problems, report, seconds };
}

/** Decodes and encodes every index page of a store; gives the number of pages and those that differ. */
export function roundTripPages(
  folder: string,
): { readonly pages: number; readonly differing: readonly string[] } {
  let pages = 0;
  const differing: string[] = [];
  for (const timeline of readdirSync(folder)) {
    for (const modality of foldersIn(join(folder, timeline))) {
      const index = join(folder, timeline, modality, "index");
      const kind = pagedKind(trackKindOf(modality));
      for (const page of foldersIn(index)) {
        const bytes = new Uint8Array(readFileSync(join(index, page)));
        const again = kind === undefined
          ? againBtree(bytes)
          : encodeIndexPage(decodeIndexPage(bytes, { kind, modality }), { kind, modality });
        pages++;
        if (!equalBytes(bytes, again)) differing.push(page);
      }
    }
  }
  return { pages, differing };
}

function againBtree(bytes: Uint8Array): Uint8Array {
  const algorithm = btreePageAlgorithm(bytes);
  return encodeBtreePage(decodeBtreePage(bytes, { algorithm }), algorithm);
}

function foldersIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}
