/**
 * Refs of an object store: read with their ETag, written with one send, and every doubtful answer
 * resolved by reading again (BACKEND 0 facts 4 to 6, and 4.1).
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import { addressBytes } from "../encoding/address.ts";
import { DreamDBError } from "../errors.ts";
import type { RefOutcome } from "./connector.ts";
import { nestedName } from "./faults.ts";
import { parseRefBody } from "./ref-body.ts";
import type { S3Http, S3Request } from "./s3-http.ts";
import { isMissingKey } from "./s3-objects.ts";
import type { Exchange } from "./s3-response.ts";
import { errorCode, isSuccess, isTransient, lostFault, responseFault } from "./s3-response.ts";

/** A ref as it was read. */
export interface TaggedRef {
  readonly address: Address;
  /** The ETag as `If-Match` takes it; undefined when the store sent none. */
  readonly tag: string | undefined;
}

/** A ref within a bucket. */
export interface S3Ref {
  readonly name: string;
  readonly key: string;
}

/** Sends of a ref write while reading again shows that the ref has not moved. */
const SENDS = 5;

/** Reads a ref; undefined when there is none. @throws DreamDBError malformed-ref and failures */
export async function readS3Ref(
  http: S3Http,
  ref: S3Ref,
  signal: AbortSignal | undefined,
): Promise<TaggedRef | undefined> {
  const request: S3Request = { method: "GET", key: ref.key, action: "read a ref" };
  const response = await http.retrying(request, signal);
  if (isMissingKey(response)) return undefined;
  if (response.status !== 200) throw responseFault(response, http.context(request));
  return {
    address: parseRefBody(ref.name, response.body),
    tag: normalTag(response.headers.get("etag")),
  };
}

/** `"abc"` for `"abc"`, `W/"abc"` and `abc` (BACKEND 1.4). */
function normalTag(header: string | null): string | undefined {
  const bare = header?.trim().replace(/^W\//, "").replaceAll('"', "") ?? "";
  return bare === "" ? undefined : `"${bare}"`;
}

/**
 * What became of one send: `done`; `refused`, certainly without effect; `doubtful`, the store
 * answered with a failure, so what the ref holds now tells; `lost`, nobody answered for the store,
 * which may still be working.
 */
type Verdict = "done" | "refused" | "doubtful" | "lost";

function verdictOf(exchange: Exchange): Verdict {
  if (exchange.kind === "lost") return exchange.sent ? "lost" : "refused";
  const { response } = exchange;
  if (isSuccess(response)) return "done";
  // Gateways say these for a store that they have stopped waiting for.
  if ([408, 502, 504].includes(response.status)) return "lost";
  return isTransient(response) ? "doubtful" : "refused";
}

/**
 * Moves a ref from `expected` to `next`. Once the first write is sent, an aborted `signal` stops
 * further sends but not the search for the outcome.
 * @param known the ref as it was read before: when it held `expected` then, its ETag saves a read,
 * and the race is decided that much sooner
 */
export async function moveS3Ref(
  http: S3Http,
  ref: S3Ref,
  expected: Address,
  next: Address,
  known: TaggedRef | undefined,
  signal: AbortSignal | undefined,
): Promise<RefOutcome> {
  signal?.throwIfAborted();
  let current = known?.address === expected ? known : await readS3Ref(http, ref, signal);
  let lost: { readonly cause: unknown } | undefined;
  for (let sends = 1;; sends++) {
    if (current?.address !== expected) {
      return { status: "conflict", found: current?.address, sent: sends > 1 };
    }
    if (current.tag === undefined) throw withoutTag(http, ref);
    const request = refWrite(ref, next, { "if-match": current.tag });
    const exchange = await http.send(request);
    const verdict = verdictOf(exchange);
    if (verdict === "lost") lost ??= { cause: refusal(http, request, exchange) };
    try {
      current = await readAfter(http, ref, expected, verdict);
    } catch (cause) {
      if (verdict === "done") return { status: "committed" };
      if (verdict === "refused" && lost === undefined) throw refusal(http, request, exchange);
      return { status: "unknown", cause };
    }
    if (current?.address === next) {
      return verdict === "done"
        ? { status: "committed" }
        : { status: "committed", note: "confirmed-after-unknown" };
    }
    if (current?.address !== expected) continue;
    try {
      if (await mayGoAgain(http, exchange, sends, signal)) continue;
    } catch (reason) {
      if (lost === undefined) throw reason;
      return { status: "unknown", cause: reason };
    }
    if (lost !== undefined) return { status: "unknown", cause: lost.cause };
    if (verdict === "done" || isFailedCondition(exchange)) {
      return { status: "conflict", found: expected, sent: true };
    }
    throw refusal(http, request, exchange);
  }
}

/** Creates a ref. */
export async function createS3Ref(
  http: S3Http,
  ref: S3Ref,
  to: Address,
  signal: AbortSignal | undefined,
): Promise<"created" | "exists"> {
  signal?.throwIfAborted();
  const request = refWrite(ref, to, { "if-none-match": "*" });
  for (let sends = 1;; sends++) {
    const exchange = await http.send(request);
    const after = await readAfter(http, ref, undefined, verdictOf(exchange));
    // Ours although the answer was "exists": an earlier copy of the request has created it.
    if (after !== undefined) return after.address === to ? "created" : "exists";
    if (isNested(exchange)) throw nestedName(ref.name);
    if (!await mayGoAgain(http, exchange, sends, signal)) throw refusal(http, request, exchange);
  }
}

/** Deletes a ref that still holds `expected`. */
export async function deleteS3Ref(
  http: S3Http,
  ref: S3Ref,
  expected: Address,
  signal: AbortSignal | undefined,
): Promise<"deleted" | "missing" | "conflict"> {
  let current = await readS3Ref(http, ref, signal);
  if (current === undefined) return "missing";
  let conditional = current.tag !== undefined;
  for (let sends = 1;; sends++) {
    if (current === undefined) return "deleted";
    if (current.address !== expected) return "conflict";
    // Some stores do not look at this condition, or refuse it (BACKEND 3.1): there the read just
    // before is all there is.
    const request: S3Request = {
      method: "DELETE",
      key: ref.key,
      headers: conditional && current.tag !== undefined ? { "if-match": current.tag } : {},
      action: "delete a ref",
      once: true,
    };
    const exchange = await http.send(request);
    current = await readAfter(http, ref, expected, verdictOf(exchange));
    if (current?.address !== expected) continue;
    if (conditional && exchange.kind === "answer" && exchange.response.status === 501) {
      conditional = false;
      continue;
    }
    if (!await mayGoAgain(http, exchange, sends, signal)) throw refusal(http, request, exchange);
  }
}

function refWrite(
  ref: S3Ref,
  address: Address,
  condition: Readonly<Record<string, string>>,
): S3Request {
  return {
    method: "PUT",
    key: ref.key,
    body: addressBytes(address),
    headers: condition,
    action: "write a ref",
    once: true,
  };
}

/**
 * The ref after a send. When the answer was lost and the ref still looks as before, it is read a
 * second time after a pause: the store may still be working.
 */
async function readAfter(
  http: S3Http,
  ref: S3Ref,
  before: Address | undefined,
  verdict: Verdict,
): Promise<TaggedRef | undefined> {
  const first = await readS3Ref(http, ref, undefined);
  if (first?.address !== before || verdict === "done" || verdict === "refused") return first;
  await http.wait(http.timing.settle, undefined);
  return await readS3Ref(http, ref, undefined);
}

/** Whether a server that keeps objects in folders says that the names nest (BACKEND 2). */
function isNested(exchange: Exchange): boolean {
  return exchange.kind === "answer" && exchange.response.status === 409 &&
    ["ObjectParentIsFile", "ExistingObjectIsDirectory"].includes(
      errorCode(exchange.response) ?? "",
    );
}

function isFailedCondition(exchange: Exchange): boolean {
  if (exchange.kind === "lost") return false;
  const { response } = exchange;
  return response.status === 412 || response.status === 404 ||
    (response.status === 409 && errorCode(response) === "ConditionalRequestConflict");
}

/**
 * Whether a ref that has not moved may move with another send; waits before it says so. The
 * condition makes another send safe: whichever copy arrives first wins, and all are equal.
 */
async function mayGoAgain(
  http: S3Http,
  exchange: Exchange,
  sends: number,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (sends >= SENDS) return false;
  const response = exchange.kind === "answer" ? exchange.response : undefined;
  if (response !== undefined) {
    if (http.adapt(response)) return true;
    if (!(isTransient(response) || isSuccess(response) || isFailedCondition(exchange))) {
      return false;
    }
  }
  await http.pause(sends, response, signal);
  return true;
}

function refusal(http: S3Http, request: S3Request, exchange: Exchange): DreamDBError {
  const context = http.context(request);
  if (exchange.kind === "lost") return lostFault(exchange.cause, context);
  if (exchange.response.status === 501) {
    return new DreamDBError({
      code: "conditions-ignored",
      url: context.url,
      found: `501 to a conditional write at ${context.key} in ${context.url}`,
      expected: "a store with conditional writes (If-Match, If-None-Match)",
      next: "Nothing was published. This provider cannot publish safely beside other writers: " +
        "use another one.",
    });
  }
  return responseFault(exchange.response, context);
}

function withoutTag(http: S3Http, ref: S3Ref): DreamDBError {
  return new DreamDBError({
    code: "conditions-ignored",
    url: http.location.url,
    found: `no ETag with ${ref.key} in ${http.location.url}`,
    expected: "the ETag that a conditional write needs",
    next: "Nothing was published. Use a store, or a proxy in front of it, that sends ETags.",
  });
}
