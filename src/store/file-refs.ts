/**
 * Reading and listing the refs of a file store.
 *
 * @module
 */

import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Address } from "../encoding/address.ts";
import { isRefName } from "../model/ref-name.ts";
import { systemCode } from "./file-errors.ts";
import { parseRefBody } from "./ref-body.ts";

/** Errors that mean: there is no such ref; `EISDIR` and `ENOTDIR` come from names that nest. */
const ABSENT: ReadonlySet<string | undefined> = new Set(["ENOENT", "ENOTDIR", "EISDIR"]);

/** What the ref in the file `path` holds, or undefined. @throws DreamDBError malformed-ref */
export async function readRefFile(path: string, name: string): Promise<Address | undefined> {
  let body: Uint8Array;
  try {
    body = await readFile(path);
  } catch (error) {
    if (ABSENT.has(systemCode(error))) return undefined;
    throw error;
  }
  return parseRefBody(name, body);
}

/**
 * The names of all refs below `folder` that begin with `prefix`, sorted. Temporary files and names
 * outside the grammar are left out: the reference lists them, and its `gc` stumbles over them.
 */
export async function listRefFiles(
  folder: string,
  prefix: string,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const names: string[] = [];
  async function walk(below: string): Promise<void> {
    signal?.throwIfAborted();
    let entries;
    try {
      entries = await readdir(join(folder, below), { withFileTypes: true });
    } catch (error) {
      // Deleted meanwhile, or no ref was ever made.
      if (ABSENT.has(systemCode(error))) return;
      throw error;
    }
    for (const entry of entries) {
      const name = below === "" ? entry.name : `${below}/${entry.name}`;
      if (!isRefName(name)) continue;
      const isFolder = entry.isSymbolicLink()
        ? (await stat(join(folder, name)).catch(() => undefined))?.isDirectory()
        : entry.isDirectory();
      if (isFolder === undefined) continue;
      if (!isFolder) {
        if (name.startsWith(prefix)) names.push(name);
      } else if (`${name}/`.startsWith(prefix) || prefix.startsWith(`${name}/`)) {
        await walk(name);
      }
    }
  }
  await walk("");
  return names.sort();
}
