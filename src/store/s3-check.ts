/**
 * Trying out an object store on scratch keys outside of the protocol's folders: conditions, a race
 * of many writers, ETags, listing, conditional deletes (BACKEND 3.1, 4.1).
 *
 * @module
 */

import { randomUUID } from "node:crypto";
import { equalBytes } from "../encoding/bytes.ts";
import { isDreamDBError } from "../errors.ts";
import type { S3Http } from "./s3-http.ts";
import { listKeys } from "./s3-list.ts";
import { getS3Object } from "./s3-objects.ts";
import { conditionsIgnored, probeConditions } from "./s3-probe.ts";
import type { S3Response } from "./s3-response.ts";
import { errorCode, isSuccess, responseFault } from "./s3-response.ts";
import type { CheckOptions, StoreCheck, StoreFinding } from "./store-check.ts";
import { failed, note, ok, raceFinding, storeCheck } from "./store-check.ts";

const ACTION = "check the store";

/**
 * The start-up probe for a store that has no object yet: creates a scratch object, probes with it,
 * deletes it.
 * @throws DreamDBError conditions-ignored, and failures
 */
export async function probeWithScratch(
  http: S3Http,
  prefix: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const scratch = new Scratch(http, prefix, signal);
  try {
    const key = scratch.key();
    const bytes = new TextEncoder().encode(key);
    const created = await scratch.put(key, bytes, { "if-none-match": "*" });
    if (created.status === 501) throw conditionsIgnored(http, "if-none-match", 501);
    if (!isSuccess(created)) {
      throw responseFault(created, http.context({ method: "PUT", key, action: ACTION }));
    }
    await probeConditions(http, key, bytes, signal);
  } finally {
    await scratch.remove();
  }
}

/**
 * Tries everything that publishing needs. A store without permissions or without conditions is a
 * finding, not an exception.
 * @throws DreamDBError store-missing, store-failure
 */
export async function checkS3Store(
  http: S3Http,
  options: CheckOptions = {},
): Promise<StoreCheck> {
  const { signal, writers = 32, rounds = 5 } = options;
  const { url, prefix } = http.location;
  const findings: StoreFinding[] = [];
  const scratch = new Scratch(http, prefix, signal);
  try {
    findings.push(await checkListing(http, prefix, signal));
    const written = await checkWriting(http, scratch, signal);
    findings.push(...written);
    if (written.every((finding) => finding.result === "ok")) {
      findings.push(await checkRace(http, scratch, writers, rounds));
      findings.push(await checkDeleting(scratch));
    }
  } finally {
    await scratch.remove();
  }
  return storeCheck(url, findings);
}

async function checkListing(
  http: S3Http,
  prefix: string,
  signal: AbortSignal | undefined,
): Promise<StoreFinding> {
  const name = "list refs";
  try {
    const keys = await listKeys(http, `${prefix}refs/`, signal);
    return ok(name, `The store can be listed; it has ${keys.length} refs.`);
  } catch (error) {
    if (!isDreamDBError(error, "permission-denied")) throw error;
    return note(
      name,
      `Listing is not allowed, so branches must be named one by one: ${error.message}`,
    );
  }
}

async function checkWriting(
  http: S3Http,
  scratch: Scratch,
  signal: AbortSignal | undefined,
): Promise<readonly StoreFinding[]> {
  const key = scratch.key();
  const bytes = new TextEncoder().encode(key);
  const created = await scratch.put(key, bytes, { "if-none-match": "*" });
  if (!isSuccess(created)) {
    return [
      failed("write", `A new object cannot be written under If-None-Match: ${say(created)}.`),
    ];
  }
  const back = await getS3Object(http, key, signal);
  if (back === undefined || !equalBytes(back, bytes)) {
    return [failed("read back", "What was written could not be read back.")];
  }
  const findings: StoreFinding[] = [ok("write and read back", "Objects are read as written.")];
  const again = await scratch.put(key, bytes, { "if-none-match": "*" });
  findings.push(
    isSuccess(again)
      ? failed("If-None-Match", "The store ignores If-None-Match: it wrote over an object.")
      : ok("If-None-Match", `An object that exists is not written over (${say(again)}).`),
  );
  const wrong = await scratch.put(key, bytes, { "if-match": '"00000000000000000000000000000000"' });
  findings.push(
    isSuccess(wrong)
      ? failed("If-Match, wrong", "The store ignores If-Match: it wrote over an object.")
      : ok("If-Match, wrong", `A write for another state is refused (${say(wrong)}).`),
  );
  const tag = created.headers.get("etag");
  if (tag === null) {
    findings.push(failed("ETag", "The store sends no ETags, which conditional writes need."));
    return findings;
  }
  const right = await scratch.put(key, bytes, { "if-match": tag });
  findings.push(
    isSuccess(right)
      ? ok("If-Match, right", "A write for the present state is taken.")
      : failed("If-Match, right", `A write for the present state is refused (${say(right)}).`),
  );
  const gone = await scratch.put(scratch.key(), bytes, { "if-match": tag });
  findings.push(
    isSuccess(gone)
      ? failed("If-Match, missing", "The store creates an object that should have existed.")
      : ok("If-Match, missing", `A write for a missing object is refused (${say(gone)}).`),
  );
  return findings;
}

async function checkRace(
  http: S3Http,
  scratch: Scratch,
  writers: number,
  rounds: number,
): Promise<StoreFinding> {
  let several = 0;
  let none = 0;
  for (let round = 0; round < rounds; round++) {
    const key = scratch.key();
    const start = await scratch.put(key, new TextEncoder().encode("start"), {});
    const tag = start.headers.get("etag") ?? "";
    const exchanges = await Promise.all(Array.from({ length: writers }, (_, writer) =>
      http.send({
        method: "PUT",
        key,
        body: new TextEncoder().encode(`round ${round}, writer ${writer}`),
        headers: { "if-match": tag },
        action: ACTION,
        once: true,
      })));
    const winners = exchanges.filter((exchange) =>
      exchange.kind === "answer" && isSuccess(exchange.response)
    ).length;
    if (winners > 1) several++;
    if (winners === 0) none++;
  }
  return raceFinding({ writers, rounds }, several, none);
}

async function checkDeleting(scratch: Scratch): Promise<StoreFinding> {
  const name = "conditional delete";
  const key = scratch.key();
  await scratch.put(key, new TextEncoder().encode("delete me"), {});
  const response = await scratch.delete(key, {
    "if-match": '"00000000000000000000000000000000"',
  });
  return isSuccess(response)
    ? note(
      name,
      "The store ignores conditions of deletes: deleting a ref is not safe beside a writer of " +
        "the same ref.",
    )
    : ok(name, `A delete for another state is refused (${say(response)}).`);
}

/** Objects for trying out, under a folder that no part of the protocol uses. */
class Scratch {
  readonly #http: S3Http;
  readonly #folder: string;
  readonly #signal: AbortSignal | undefined;
  readonly #keys: string[] = [];

  constructor(http: S3Http, prefix: string, signal: AbortSignal | undefined) {
    this.#http = http;
    this.#folder = `${prefix}.dreamdb-probe/${randomUUID()}`;
    this.#signal = signal;
  }

  /** A new key. */
  key(): string {
    const key = `${this.#folder}/${this.#keys.length}`;
    this.#keys.push(key);
    return key;
  }

  async put(
    key: string,
    body: Uint8Array,
    headers: Readonly<Record<string, string>>,
  ): Promise<S3Response> {
    return await this.#http.retrying(
      { method: "PUT", key, body, headers, action: ACTION },
      this.#signal,
    );
  }

  async delete(key: string, headers: Readonly<Record<string, string>>): Promise<S3Response> {
    return await this.#http.retrying(
      { method: "DELETE", key, headers, action: ACTION },
      this.#signal,
    );
  }

  /** Takes all of them away; what cannot be deleted stays, and harms nobody. */
  async remove(): Promise<void> {
    for (const key of this.#keys) {
      await this.#http.retrying({ method: "DELETE", key, action: ACTION }).catch(() => {});
    }
  }
}

function say(response: S3Response): string {
  return [`${response.status}`, errorCode(response)].filter((part) => part !== undefined).join(" ");
}
