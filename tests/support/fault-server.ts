/**
 * A small S3 server in memory that fails on demand, in ways that no real server can be asked for.
 * It checks no signatures; versitygw does that. With `ignoreConditions` it stands for the servers
 * that take conditional writes without looking at the condition, such as s3rver.
 */

import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";

/** A request as it came in. */
export interface ServedRequest {
  readonly method: string;
  /** Within the bucket, decoded. */
  readonly key: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Uint8Array;
}

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
}

/** What goes wrong. `before` and `after` tell whether the request has been carried out by then. */
export type ServerFault =
  | {
    readonly kind: "answer";
    readonly when: "before" | "after";
    readonly status: number;
    readonly code?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: Uint8Array | string;
  }
  /** The connection ends without an answer. */
  | { readonly kind: "cut"; readonly when: "before" | "after" }
  /** The connection ends after this many bytes of the body. */
  | { readonly kind: "cut-body"; readonly bytes: number }
  /** Another body than the object's. */
  | { readonly kind: "change-body"; readonly change: (body: Uint8Array) => Uint8Array }
  /** The request waits for what `until` is or starts. */
  | {
    readonly kind: "hold";
    readonly when: "before" | "after";
    readonly until: Promise<unknown> | (() => Promise<unknown>);
  }
  /** A proxy delivers the request twice and passes on the second answer. */
  | { readonly kind: "twice" }
  /** Something else happens first, or right after. */
  | { readonly kind: "meanwhile"; readonly when: "before" | "after"; readonly happens: () => void };

/** A fault for some of the requests. */
export interface FaultRule {
  readonly method?: string;
  /** A prefix of the key. */
  readonly key?: string;
  /** Matching requests that go well before the first fault; default 0. */
  readonly skip?: number;
  /** Matching requests that fail; default 1. */
  readonly times?: number;
  readonly faults: readonly ServerFault[];
  /** Whether the rule does no longer hold. */
  readonly isOver?: () => boolean;
}

/** Behaviour of the whole server; may be changed while it runs. */
export interface FaultSwitches {
  ignoreConditions: boolean;
  /** Conditions are checked, but others get in between check and write. */
  racyConditions: boolean;
  withoutTags: boolean;
  /** Keys on a page of a listing. */
  pageSize: number;
  /** What a listing names of the keys that are there; listings may lag behind, gets may not. */
  listed: (keys: readonly string[]) => readonly string[];
  /** Session tokens that have expired. */
  readonly expiredTokens: Set<string>;
  /** The only region for which signatures are accepted, and how others are sent away. */
  region: { readonly name: string; readonly status: 301 | 400 } | undefined;
}

/** A running server. */
export interface FaultServer extends Disposable {
  readonly endpoint: string;
  readonly bucket: string;
  readonly objects: Map<string, Uint8Array>;
  readonly requests: ServedRequest[];
  /** Every body that a key has taken by a write, in order. */
  readonly written: { readonly key: string; readonly body: Uint8Array }[];
  readonly switches: FaultSwitches;
  /** Requests that were in work at the same time, at most. */
  readonly mostAtOnce: () => number;
  fail(rule: FaultRule): void;
  /** The requests of one method whose key begins with `key`. */
  count(method: string, key?: string): number;
}

const BUCKET = "ds";

/** Starts a server with one empty bucket on a free port. */
export async function startFaultServer(): Promise<FaultServer> {
  const state = new ServerState();
  const server = createServer((request, response) => {
    state.serve(request, response).catch((error) => response.destroy(error));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    bucket: BUCKET,
    objects: state.objects,
    requests: state.requests,
    written: state.written,
    switches: state.switches,
    mostAtOnce: () => state.most,
    fail: (rule) => void state.rules.push({ rule, seen: 0 }),
    count: (method, key = "") =>
      state.requests.filter((request) => request.method === method && request.key.startsWith(key))
        .length,
    [Symbol.dispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

class ServerState {
  readonly objects = new Map<string, Uint8Array>();
  readonly requests: ServedRequest[] = [];
  readonly written: { readonly key: string; readonly body: Uint8Array }[] = [];
  readonly rules: { readonly rule: FaultRule; seen: number }[] = [];
  readonly switches: FaultSwitches = {
    ignoreConditions: false,
    racyConditions: false,
    withoutTags: false,
    pageSize: 1000,
    listed: (keys) => keys,
    expiredTokens: new Set(),
    region: undefined,
  };
  most = 0;
  #atOnce = 0;

  async serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const url = new URL(incoming.url ?? "/", "http://server");
    const [, bucket, ...rest] = url.pathname.split("/");
    const request: ServedRequest = {
      method: incoming.method ?? "",
      key: decodeURIComponent(rest.join("/")),
      query: url.searchParams,
      headers: incoming.headers,
      body: new Uint8Array(Buffer.concat(chunks)),
    };
    this.requests.push(request);
    this.most = Math.max(this.most, ++this.#atOnce);
    try {
      const answer = bucket === BUCKET
        ? await this.#withFaults(request)
        : failure(404, "NoSuchBucket");
      if (answer === "cut") incoming.socket.destroy();
      else await send(incoming, response, answer);
    } finally {
      this.#atOnce--;
    }
  }

  async #withFaults(request: ServedRequest): Promise<(Answer & { cutAt?: number }) | "cut"> {
    const faults = this.#faultsFor(request);
    for (const fault of faults) {
      if (!("when" in fault) || fault.when !== "before") continue;
      if (fault.kind === "hold") await held(fault);
      else if (fault.kind === "meanwhile") fault.happens();
      else if (fault.kind === "cut") return "cut";
      else return failureOf(fault);
    }
    let answer: Answer & { cutAt?: number } = await this.#carryOut(request);
    for (const fault of faults) {
      if (fault.kind === "twice") answer = await this.#carryOut(request);
      else if (fault.kind === "cut-body") answer = { ...answer, cutAt: fault.bytes };
      else if (fault.kind === "change-body") {
        answer = { ...answer, body: fault.change(bytesOf(answer.body)) };
      } else if (fault.when === "after") {
        if (fault.kind === "hold") await held(fault);
        else if (fault.kind === "meanwhile") fault.happens();
        else if (fault.kind === "cut") return "cut";
        else answer = failureOf(fault);
      }
    }
    return answer;
  }

  #faultsFor(request: ServedRequest): readonly ServerFault[] {
    return this.rules.flatMap((entry) => {
      const { method, key = "", skip = 0, times = 1, faults } = entry.rule;
      if (method !== undefined && method !== request.method) return [];
      if (!request.key.startsWith(key) || entry.rule.isOver?.() === true) return [];
      const place = entry.seen++;
      return place >= skip && place < skip + times ? faults : [];
    });
  }

  async #carryOut(request: ServedRequest): Promise<Answer> {
    const refused = this.#refuseCredentials(request);
    if (refused !== undefined) return refused;
    const { method, key } = request;
    if (key === "" && method === "GET") return this.#list(request.query);
    const present = this.objects.get(key);
    const tag = present === undefined ? undefined : tagOf(present);
    const found = this.switches.withoutTags || tag === undefined ? {} : { etag: tag };
    switch (method) {
      case "GET":
      case "HEAD":
        return present === undefined
          ? failure(404, "NoSuchKey")
          : { status: 200, body: present, headers: found };
      case "DELETE":
      case "PUT": {
        const failed = this.#failedCondition(request, tag);
        if (failed !== undefined) return failed;
        if (this.switches.racyConditions) await Bun.sleep(5);
        if (method === "DELETE") {
          this.objects.delete(key);
          return { status: 204 };
        }
        this.objects.set(key, request.body);
        this.written.push({ key, body: request.body });
        return {
          status: 200,
          headers: this.switches.withoutTags ? {} : { etag: tagOf(request.body) },
        };
      }
      default:
        return failure(405, "MethodNotAllowed");
    }
  }

  #failedCondition(request: ServedRequest, tag: string | undefined): Answer | undefined {
    if (this.switches.ignoreConditions) return undefined;
    const match = request.headers["if-match"];
    if (request.headers["if-none-match"] === "*" && tag !== undefined) {
      return failure(412, "PreconditionFailed");
    }
    if (match === undefined) return undefined;
    if (tag === undefined) return failure(404, "NoSuchKey");
    return match === tag ? undefined : failure(412, "PreconditionFailed");
  }

  #refuseCredentials(request: ServedRequest): Answer | undefined {
    const token = request.headers["x-amz-security-token"];
    if (typeof token === "string" && this.switches.expiredTokens.has(token)) {
      return failure(400, "ExpiredToken");
    }
    const { region } = this.switches;
    const scope = /Credential=[^/]*\/\d+\/([^/]*)\//.exec(
      request.headers["authorization"] as string,
    );
    if (region === undefined || scope?.[1] === region.name) return undefined;
    return region.status === 301
      ? failure(301, "PermanentRedirect", { "x-amz-bucket-region": region.name })
      : {
        status: 400,
        body:
          `<Error><Code>AuthorizationHeaderMalformed</Code><Region>${region.name}</Region></Error>`,
      };
  }

  #list(query: URLSearchParams): Answer {
    const prefix = query.get("prefix") ?? "";
    const after = query.get("continuation-token") ?? "";
    const keys = this.switches.listed([...this.objects.keys()])
      .filter((key) => key.startsWith(prefix) && key > after).sort();
    const page = keys.slice(0, this.switches.pageSize);
    const truncated = page.length < keys.length;
    return {
      status: 200,
      body: `<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>${truncated}</IsTruncated>${
        page.map((key) => `<Contents><Key>${escapeXml(key)}</Key></Contents>`).join("")
      }${
        truncated
          ? `<NextContinuationToken>${escapeXml(page.at(-1) ?? "")}</NextContinuationToken>`
          : ""
      }</ListBucketResult>`,
    };
  }
}

async function held({ until }: Extract<ServerFault, { kind: "hold" }>): Promise<void> {
  await (typeof until === "function" ? until() : until);
}

function failureOf(fault: Extract<ServerFault, { kind: "answer" }>): Answer {
  const { status, code, headers, body } = fault;
  return body === undefined
    ? failure(status, code ?? "InternalError", headers)
    : { status, body, ...(headers === undefined ? {} : { headers }) };
}

function failure(
  status: number,
  code: string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return {
    status,
    headers,
    body: `<?xml version="1.0"?><Error><Code>${code}</Code><Message>on demand</Message></Error>`,
  };
}

async function send(
  incoming: IncomingMessage,
  response: ServerResponse,
  answer: Answer & { cutAt?: number },
): Promise<void> {
  const body = bytesOf(answer.body);
  const hasBody = answer.status !== 204 && answer.status !== 304 && incoming.method !== "HEAD";
  response.writeHead(answer.status, {
    ...answer.headers,
    ...(hasBody ? { "content-length": `${body.length}` } : {}),
  });
  if (answer.cutAt === undefined) {
    response.end(hasBody ? body : undefined);
    return;
  }
  await new Promise<void>((resolve) =>
    response.write(body.subarray(0, answer.cutAt), () => resolve())
  );
  await Bun.sleep(5);
  incoming.socket.destroy();
}

function bytesOf(body: Uint8Array | string | undefined): Uint8Array {
  return typeof body === "string" ? new TextEncoder().encode(body) : body ?? new Uint8Array();
}

function tagOf(body: Uint8Array): string {
  return `"${createHash("md5").update(body).digest("hex")}"`;
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
