/**
 * Trying out a file store: reading, writing, syncing, the lock, and a race of many writers, all in
 * a scratch folder beside the lock files, which is taken away again.
 *
 * @module
 */

import { randomUUID } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Address } from "../encoding/address.ts";
import { addressOf } from "../encoding/address.ts";
import { isDreamDBError } from "../errors.ts";
import type { FileOptions } from "./file.ts";
import { FileConnector } from "./file.ts";
import { fileFailure } from "./file-errors.ts";
import { parseFileUrl } from "./file-url.ts";
import { findFileLock } from "./flock.ts";
import { LOCK_FOLDER, manifestPath } from "./paths.ts";
import type { CheckOptions, StoreCheck, StoreFinding } from "./store-check.ts";
import { failed, note, ok, raceFinding, storeCheck } from "./store-check.ts";

/**
 * Tries everything that publishing to a folder needs.
 * @param url `file:///…`
 * @throws DreamDBError usage, store-missing, store-failure
 */
export async function checkFileStore(
  url: string,
  options: FileOptions & CheckOptions = {},
): Promise<StoreCheck> {
  const parsed = parseFileUrl(url);
  const refs = await new FileConnector(url, options).listRefs("", options);
  const findings: StoreFinding[] = [
    ok("list refs", `The folder can be read; it has ${refs.length} refs.`),
  ];
  const lock = options.fileLock ?? await findFileLock();
  findings.push(
    lock === undefined
      ? failed("lock", "This runtime cannot take the lock that other writers take.")
      : ok("lock", `Refs are locked through ${lock.kind}.`),
  );
  const scratch = join(parsed.root, LOCK_FOLDER, `check-${randomUUID()}`);
  try {
    await mkdir(scratch, { recursive: true });
    const connector = new FileConnector(`file://${scratch}`, options);
    findings.push(await checkWriting(connector));
    if (lock !== undefined) findings.push(await checkRace(`file://${scratch}`, options));
  } catch (error) {
    const failure = fileFailure(error, "check the store", scratch);
    if (!isDreamDBError(failure, "permission-denied")) throw failure;
    findings.push(failed("write", `The folder cannot be written: ${failure.message}`));
  } finally {
    await rm(scratch, { recursive: true, force: true }).catch(() => {});
  }
  findings.push(
    note(
      "network folders",
      "On NFS and the like, locks work only if the server has them; the " +
        "race above cannot tell what a second machine would see.",
    ),
  );
  return storeCheck(parsed.url, findings);
}

async function checkWriting(connector: FileConnector): Promise<StoreFinding> {
  const bytes = new TextEncoder().encode(randomUUID());
  const path = manifestPath(addressOf(bytes));
  const first = await connector.putIfAbsent(path, bytes);
  const again = await connector.putIfAbsent(path, bytes);
  await connector.flush();
  return first === "written" && again === "present"
    ? ok("write", "Objects are written once, read as written, and synced.")
    : failed("write", `An object was ${first}, then ${again}; expected written, then present.`);
}

async function checkRace(
  url: string,
  options: FileOptions & CheckOptions,
): Promise<StoreFinding> {
  const { writers = 32, rounds = 5 } = options;
  const connectors = Array.from({ length: writers }, () => new FileConnector(url, options));
  const value = (text: string): Address => addressOf(new TextEncoder().encode(text));
  let several = 0;
  let none = 0;
  for (let round = 0; round < rounds; round++) {
    const name = `round-${round}`;
    await connectors[0]?.createRef(name, value(name), options);
    const outcomes = await Promise.all(
      connectors.map((connector, writer) =>
        connector.compareAndSetRef(name, value(name), value(`${name} ${writer}`), options)
      ),
    );
    const winners = outcomes.filter((outcome) => outcome.status === "committed").length;
    if (winners > 1) several++;
    if (winners === 0) none++;
  }
  return raceFinding({ writers, rounds }, several, none);
}
