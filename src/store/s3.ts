/**
 * A store in an S3 bucket, or behind the plain HTTP that the reference speaks (BACKEND 1).
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import { isDreamDBError } from "../errors.ts";
import { checkRefName, checkWritableRefName, isRefName } from "../model/ref-name.ts";
import type { CallOptions, Connector, RefOutcome } from "./connector.ts";
import { checkPath, manifestPath, refPath } from "./paths.ts";
import { AdaptiveLimit } from "./s3-adaptive.ts";
import type { Environment } from "./s3-credentials.ts";
import { credentialSource, setting } from "./s3-credentials.ts";
import type { S3Effects, S3Timing } from "./s3-http.ts";
import { DEFAULT_EFFECTS, DEFAULT_TIMING, S3Http } from "./s3-http.ts";
import { listKeys } from "./s3-list.ts";
import { parseS3Url } from "./s3-location.ts";
import { getS3Object, PART_BYTES, putS3Object } from "./s3-objects.ts";
import { probeConditions } from "./s3-probe.ts";
import { probeWithScratch } from "./s3-check.ts";
import type { S3Ref, TaggedRef } from "./s3-refs.ts";
import { createS3Ref, deleteS3Ref, moveS3Ref, readS3Ref } from "./s3-refs.ts";

/** Options of an object store. */
export interface S3Options {
  /** Default: the process's environment. */
  readonly environment?: Environment;
  /** `http(s)://host[:port]`; default: `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`, AWS itself. */
  readonly endpoint?: string;
  /** Default: `AWS_REGION`, `AWS_DEFAULT_REGION`, the profile's, `us-east-1`. */
  readonly region?: string;
  /** A profile of the shared configuration, before what the environment says. */
  readonly profile?: string;
  /** Bucket in the path or in the host's name. */
  readonly addressing?: "path" | "virtual";
  /** Requests in flight at most; default 256, of which 64 are used at first. */
  readonly concurrency?: number;
  /** Publishes without having seen that the store looks at conditions. */
  readonly unsafeSkipProbe?: boolean;
  readonly timing?: Partial<S3Timing>;
  readonly effects?: Partial<S3Effects>;
  /** Objects above this many bytes go in parts. */
  readonly partBytes?: number;
}

const START_CONCURRENCY = 64;
const MAXIMUM_CONCURRENCY = 256;
/** Bytes of an object that is worth sending twice more, to probe with it. */
const LARGEST_PROBE = 256 * 1024;

/** A store in a bucket that exists. */
export class S3Connector implements Connector {
  readonly url: string;
  /** For `checkS3Store`, which looks below the surface. */
  readonly http: S3Http;
  readonly #prefix: string;
  readonly #partBytes: number;
  readonly #skipProbe: boolean;
  /** The refs as they were read last, with their ETags. */
  readonly #known = new Map<string, TaggedRef>();
  #probing: Promise<void> | undefined;

  /**
   * @param url `s3://bucket[/prefix]` or `http(s)://host/bucket[/prefix]`
   * @throws DreamDBError usage
   */
  constructor(url: string, options: S3Options = {}) {
    const environment = options.environment ?? process.env;
    const location = parseS3Url(url, {
      endpoint: options.endpoint ??
        setting(environment, "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"),
      style: options.addressing,
    });
    this.url = location.url;
    this.#prefix = location.prefix;
    this.#partBytes = options.partBytes ?? PART_BYTES;
    this.#skipProbe = options.unsafeSkipProbe ?? false;
    this.http = new S3Http(
      location,
      credentialSource(environment, location.isAws, options.profile),
      { ...DEFAULT_TIMING, ...options.timing },
      { ...DEFAULT_EFFECTS, ...options.effects },
      new AdaptiveLimit(START_CONCURRENCY, options.concurrency ?? MAXIMUM_CONCURRENCY),
      options.region,
    );
  }

  async get(path: string, options?: CallOptions): Promise<Uint8Array | undefined> {
    return await getS3Object(this.http, this.#key(path), options?.signal);
  }

  async putIfAbsent(
    path: string,
    bytes: Uint8Array,
    options?: CallOptions,
  ): Promise<"written" | "present"> {
    const key = this.#key(path);
    const outcome = await putS3Object(this.http, key, bytes, options?.signal, this.#partBytes);
    if (bytes.length <= LARGEST_PROBE) this.#startProbe(key, bytes);
    return outcome;
  }

  /** Object stores answer when an object is durable, so there is nothing to do. */
  async flush(options?: CallOptions): Promise<void> {
    options?.signal?.throwIfAborted();
  }

  async readRef(name: string, options?: CallOptions): Promise<Address | undefined> {
    checkRefName(name);
    const found = await readS3Ref(this.http, this.#ref(name), options?.signal);
    if (found === undefined) this.#known.delete(name);
    else this.#known.set(name, found);
    return found?.address;
  }

  async createRef(
    name: string,
    to: Address,
    options?: CallOptions,
  ): Promise<"created" | "exists"> {
    checkWritableRefName(name);
    await this.#probe(to, options?.signal);
    return await createS3Ref(this.http, this.#ref(name), to, options?.signal);
  }

  async compareAndSetRef(
    name: string,
    expected: Address,
    next: Address,
    options?: CallOptions,
  ): Promise<RefOutcome> {
    checkWritableRefName(name);
    await this.#probe(next, options?.signal);
    const known = this.#known.get(name);
    this.#known.delete(name);
    return await moveS3Ref(this.http, this.#ref(name), expected, next, known, options?.signal);
  }

  async listRefs(prefix?: string, options?: CallOptions): Promise<readonly string[]> {
    const folder = `${this.#prefix}refs/`;
    const keys = await listKeys(this.http, `${folder}${prefix ?? ""}`, options?.signal);
    return keys.map((key) => key.slice(folder.length)).filter(isRefName).sort();
  }

  async deleteRef(
    name: string,
    expected: Address,
    options?: CallOptions,
  ): Promise<"deleted" | "missing" | "conflict"> {
    checkWritableRefName(name);
    return await deleteS3Ref(this.http, this.#ref(name), expected, options?.signal);
  }

  /** Connections end by themselves when they have been idle for a while. */
  async close(): Promise<void> {}

  #key(path: string): string {
    return `${this.#prefix}${checkPath(path)}`;
  }

  #ref(name: string): S3Ref {
    return { name, key: `${this.#prefix}${refPath(name)}` };
  }

  /** Probes with an object that was just written, while others are being written. */
  #startProbe(key: string, bytes: Uint8Array): void {
    if (this.#skipProbe || this.#probing !== undefined) return;
    const probing = probeConditions(this.http, key, bytes, undefined);
    this.#probing = probing;
    probing.catch((error: unknown) => {
      // Whoever writes a ref hears of it. Another failure may be over by then: it is tried again.
      if (!isDreamDBError(error, "conditions-ignored") && this.#probing === probing) {
        this.#probing = undefined;
      }
    });
  }

  /**
   * Before the first ref is written: makes sure that the store looks at conditions, with an object
   * that this run has written, or else with the Manifest that is to be published.
   */
  async #probe(manifest: Address, signal: AbortSignal | undefined): Promise<void> {
    if (this.#skipProbe) return;
    signal?.throwIfAborted();
    this.#probing ??= this.#probeManifest(manifest, signal);
    try {
      await this.#probing;
    } catch (error) {
      // What failed may go well the next time.
      this.#probing = undefined;
      throw error;
    }
  }

  async #probeManifest(manifest: Address, signal: AbortSignal | undefined): Promise<void> {
    const key = this.#key(manifestPath(manifest));
    const bytes = await getS3Object(this.http, key, signal);
    if (bytes === undefined) await probeWithScratch(this.http, this.#prefix, signal);
    else await probeConditions(this.http, key, bytes, signal);
  }
}
