/**
 * One signed request over `fetch`, and the retries that are safe for requests which may arrive
 * twice (BACKEND 4.1).
 *
 * @module
 */

import { setTimeout as delay } from "node:timers/promises";
import { AdaptiveLimit } from "./s3-adaptive.ts";
import type { CredentialSource } from "./s3-credentials.ts";
import type { S3Location } from "./s3-location.ts";
import { baseUrl, encodeComponent, encodeKey } from "./s3-location.ts";
import type { Exchange, RequestContext, S3Response } from "./s3-response.ts";
import {
  errorCode,
  isAboutCredentials,
  isOverload,
  isTransient,
  lostFault,
  xmlText,
} from "./s3-response.ts";
import { Signer } from "./s3-sign.ts";

/** One request. */
export interface S3Request {
  readonly method: "GET" | "PUT" | "POST" | "DELETE";
  /** The key within the bucket; undefined: the bucket itself. */
  readonly key?: string;
  readonly query?: readonly (readonly [string, string])[];
  /** Lower-case names; all of them are signed. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** As in "read an object"; for messages. */
  readonly action: string;
  /**
   * For a write that must be sent once: it gets a connection of its own, because Bun sends a
   * request again when a reused connection breaks (BACKEND 0, fact 4).
   */
  readonly once?: boolean;
}

/** Milliseconds. */
export interface S3Timing {
  /** Until the head of an answer, plus a second for every 256 KiB that is sent. */
  readonly head: number;
  /** From the head of an answer to its end. */
  readonly body: number;
  readonly firstBackoff: number;
  readonly longestBackoff: number;
  /** Between the two reads that decide about a ref write whose answer was lost. */
  readonly settle: number;
}

export const DEFAULT_TIMING: S3Timing = {
  head: 30_000,
  body: 300_000,
  firstBackoff: 50,
  longestBackoff: 5_000,
  settle: 1_000,
};

/** The world outside; tests put their own in. */
export interface S3Effects {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly now: () => Date;
  /** In [0, 1). */
  readonly random: () => number;
  /** Resolves after that many milliseconds; rejects with the signal's reason when it is aborted. */
  readonly delay: (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>;
}

export const DEFAULT_EFFECTS: S3Effects = {
  fetch: (url, init) => fetch(url, init),
  now: () => new Date(),
  random: Math.random,
  delay: async (milliseconds, signal) => {
    await delay(milliseconds, undefined, signal === undefined ? {} : { signal }).catch(
      (error: unknown) => {
        signal?.throwIfAborted();
        throw error;
      },
    );
  },
};

/** Sends of a request that may be sent again. */
const TRIES = 6;
const LONGEST_RETRY_AFTER_MS = 60_000;
const USER_AGENT = "dreamdb-typescript/0.1";

/** Sends requests for one store. */
export class S3Http {
  readonly location: S3Location;
  readonly timing: S3Timing;
  readonly limit: AdaptiveLimit;
  readonly #source: CredentialSource;
  readonly #effects: S3Effects;
  readonly #signer = new Signer();
  #region: string | undefined;
  #clockOffset = 0;
  #accessKeyId: string | undefined;

  constructor(
    location: S3Location,
    source: CredentialSource,
    timing: S3Timing,
    effects: S3Effects,
    limit: AdaptiveLimit,
    region: string | undefined,
  ) {
    this.location = location;
    this.timing = timing;
    this.limit = limit;
    this.#source = source;
    this.#effects = effects;
    this.#region = region;
  }

  /** What messages say about a request. */
  context(request: S3Request): RequestContext {
    return {
      action: request.action,
      key: request.key ?? "/",
      url: this.location.url,
      region: this.#region ?? "us-east-1",
      accessKeyId: this.#accessKeyId,
    };
  }

  /** Sends `request` once, whatever comes of it. Throws only when `signal` is aborted. */
  async send(request: S3Request, signal?: AbortSignal): Promise<Exchange> {
    signal?.throwIfAborted();
    const { url, headers } = await this.#prepare(request);
    const timer = new AbortController();
    const allowance = Math.ceil((request.body?.length ?? 0) / (256 * 1024)) * 1_000;
    let timeout = setTimeout(
      () => timer.abort(new Error(`no answer within ${this.timing.head + allowance} ms`)),
      this.timing.head + allowance,
    );
    try {
      const response = await this.#effects.fetch(url, {
        method: request.method,
        headers,
        redirect: "manual",
        signal: signal === undefined ? timer.signal : AbortSignal.any([signal, timer.signal]),
        ...(request.body === undefined ? {} : { body: request.body as Uint8Array<ArrayBuffer> }),
        ...(request.once === true ? { keepalive: false } : {}),
      });
      clearTimeout(timeout);
      timeout = setTimeout(
        () => timer.abort(new Error(`an answer that did not end within ${this.timing.body} ms`)),
        this.timing.body,
      );
      const body = new Uint8Array(await response.arrayBuffer());
      const length = response.headers.get("content-length");
      if (
        length !== null && response.headers.get("content-encoding") === null &&
        Number(length) !== body.length
      ) {
        return {
          kind: "lost",
          sent: true,
          cause: new Error(`${body.length} bytes of ${length} arrived`),
        };
      }
      return {
        kind: "answer",
        response: { status: response.status, headers: response.headers, body },
      };
    } catch (error) {
      signal?.throwIfAborted();
      const cause = timer.signal.aborted ? timer.signal.reason : error;
      return { kind: "lost", sent: !isUnsent(error), cause };
    } finally {
      clearTimeout(timeout);
    }
  }

  /**
   * Sends a request that may arrive twice, up to six times with growing pauses, and returns the
   * last answer whatever its status.
   * @param isRetryable whether an answer beyond the usual ones is worth another try
   * @throws DreamDBError store-failure when no answer came
   */
  async retrying(
    request: S3Request,
    signal?: AbortSignal,
    isRetryable: (response: S3Response) => boolean = () => false,
  ): Promise<S3Response> {
    for (let attempt = 1;; attempt++) {
      const exchange = await this.limit.run(() => this.send(request, signal), isOverload, signal);
      const last = attempt >= TRIES;
      if (exchange.kind === "lost") {
        if (last) throw lostFault(exchange.cause, this.context(request));
        await this.pause(attempt, undefined, signal);
        continue;
      }
      const { response } = exchange;
      if (last) return response;
      if (this.adapt(response)) continue;
      if (!isTransient(response) && !isRetryable(response)) return response;
      await this.pause(attempt, response, signal);
    }
  }

  /**
   * Waits before the try after `attempt`: exponential, with full jitter, and not shorter than the
   * store asks for.
   */
  async pause(
    attempt: number,
    response: S3Response | undefined,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { firstBackoff, longestBackoff } = this.timing;
    const ceiling = Math.min(longestBackoff, firstBackoff * 2 ** (attempt - 1));
    const asked = this.#retryAfter(response?.headers.get("retry-after") ?? null);
    await this.wait(Math.max(asked, this.#effects.random() * ceiling), signal);
  }

  /** Waits, unless `signal` is aborted: then its reason is thrown. */
  async wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
    await this.#effects.delay(milliseconds, signal);
  }

  /**
   * Learns from a refusal: another region, a wrong clock, newer credentials. True when the request
   * is worth sending again; the store has certainly not done it.
   */
  adapt(response: S3Response): boolean {
    if (![301, 307, 400, 401, 403, 404].includes(response.status)) return false;
    const region = response.headers.get("x-amz-bucket-region") ?? xmlText(response, "Region");
    if (region !== undefined && region !== "" && region !== this.#region) {
      this.#region = region;
      return true;
    }
    if (errorCode(response) === "RequestTimeTooSkewed") {
      const theirs = Date.parse(response.headers.get("date") ?? "");
      const offset = theirs - this.#effects.now().getTime();
      if (Number.isNaN(offset) || Math.abs(offset - this.#clockOffset) < 60_000) return false;
      this.#clockOffset = offset;
      return true;
    }
    return isAboutCredentials(response) && errorCode(response) !== "AccessDenied" &&
      this.#source.renew();
  }

  async #prepare(
    request: S3Request,
  ): Promise<{ readonly url: string; readonly headers: Record<string, string> }> {
    const credentials = await this.#source.credentials();
    this.#region ??= await this.#source.region() ?? this.location.region ?? "us-east-1";
    this.#accessKeyId = credentials?.accessKeyId;
    const query = (request.query ?? [])
      .map(([name, value]) => `${encodeComponent(name)}=${encodeComponent(value)}`).join("&");
    const url = `${baseUrl(this.location, this.#region)}/${encodeKey(request.key ?? "")}` +
      (query === "" ? "" : `?${query}`);
    const { method, body, headers: own = {} } = request;
    const signed = credentials === undefined ? { ...own } : this.#signer.sign(
      { method, url, headers: own, body },
      credentials,
      this.#region,
      new Date(this.#effects.now().getTime() + this.#clockOffset),
    );
    // Not signed, because what lies between may change them.
    signed["user-agent"] = USER_AGENT;
    signed["accept-encoding"] = "identity";
    return { url, headers: signed };
  }

  #retryAfter(header: string | null): number {
    if (header === null) return 0;
    const asked = /^\d+$/.test(header)
      ? Number(header) * 1_000
      : Date.parse(header) - this.#effects.now().getTime();
    return Number.isNaN(asked) ? 0 : Math.min(Math.max(asked, 0), LONGEST_RETRY_AFTER_MS);
  }
}

/** Whether the connection was never made, so that nothing can have arrived. */
function isUnsent(error: unknown): boolean {
  for (let current = error; current instanceof Error; current = current.cause) {
    const code = "code" in current ? current.code : undefined;
    if (
      typeof code === "string" &&
      /^(ECONNREFUSED|ConnectionRefused|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|FailedToOpenSocket|DNS\w*|ERR_TLS\w*|CERT\w*|\w*_CERT\w*|SELF_SIGNED\w*)$/
        .test(code)
    ) {
      return true;
    }
  }
  return false;
}
