/**
 * Credentials and region: from the environment at once, else through the SDK's own chain (shared
 * config, web identity, container, SSO, instance), which is loaded only then (BACKEND 4.1).
 *
 * @module
 */

import { DreamDBError } from "../errors.ts";
import type { S3Credentials } from "./s3-sign.ts";

/** Settings as a process finds them in its environment; an empty value counts as absent. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Where credentials come from. */
export interface CredentialSource {
  /**
   * The credentials to sign with now; undefined: sign nothing.
   * @throws DreamDBError permission-denied when there should be some and they cannot be had
   */
  credentials(): Promise<S3Credentials | undefined>;
  /** The configured region, or undefined. */
  region(): Promise<string | undefined>;
  /** Forgets what is cached, after the store has refused it. Whether asking again is of use. */
  renew(): boolean;
}

/** The value of the first of the variables that has one. */
export function setting(environment: Environment, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = environment[name]?.trim();
    if (value !== undefined && value !== "") return value;
  }
  return undefined;
}

/** Signs requests with what the environment holds (BACKEND 1.1). */
function environmentCredentials(environment: Environment): S3Credentials | undefined {
  const accessKeyId = setting(environment, "AWS_ACCESS_KEY_ID");
  const secretAccessKey = setting(environment, "AWS_SECRET_ACCESS_KEY");
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined;
  return {
    accessKeyId,
    secretAccessKey,
    sessionToken: setting(environment, "AWS_SESSION_TOKEN"),
  };
}

/** Variables that ask for the SDK's chain wherever the store is. */
const CHAIN_VARIABLES = [
  "AWS_PROFILE",
  "AWS_CONFIG_FILE",
  "AWS_SHARED_CREDENTIALS_FILE",
  "AWS_WEB_IDENTITY_TOKEN_FILE",
  "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
  "AWS_CONTAINER_CREDENTIALS_FULL_URI",
] as const;

/**
 * The source for one store.
 * @param isAws a store at AWS; elsewhere the chain is asked only when the environment points to it,
 * so that the token of a machine's role does not go to a stranger's server
 */
export function credentialSource(
  environment: Environment,
  isAws: boolean,
  profile?: string,
): CredentialSource {
  const fromEnvironment = environmentCredentials(environment);
  const environmentRegion = setting(environment, "AWS_REGION", "AWS_DEFAULT_REGION");
  if (profile === undefined && fromEnvironment !== undefined) {
    let last = fromEnvironment.accessKeyId;
    return {
      credentials: async () => environmentCredentials(environment),
      region: async () => environmentRegion,
      renew() {
        const now = environmentCredentials(environment)?.accessKeyId ?? "";
        const changed = now !== last;
        last = now;
        return changed;
      },
    };
  }
  const asked = profile !== undefined || setting(environment, ...CHAIN_VARIABLES) !== undefined;
  if (!isAws && !asked) {
    return {
      credentials: async () => undefined,
      region: async () => environmentRegion,
      renew: () => false,
    };
  }
  return new ChainSource(environmentRegion, profile ?? setting(environment, "AWS_PROFILE"));
}

/** Files may be replaced while we run, without a word about when they expire. */
const LONGEST_USE_MS = 5 * 60_000;
const MARGIN_MS = 60_000;

/** The SDK would warn on the terminal, which is not its own. */
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

interface ResolvedChain {
  readonly credentials: S3Credentials | undefined;
  readonly until: number;
}

class ChainSource implements CredentialSource {
  readonly #environmentRegion: string | undefined;
  readonly #profile: string | undefined;
  #resolved: Promise<ResolvedChain> | undefined;
  #until = 0;
  #renewals = 0;

  constructor(environmentRegion: string | undefined, profile: string | undefined) {
    this.#environmentRegion = environmentRegion;
    this.#profile = profile;
  }

  async credentials(): Promise<S3Credentials | undefined> {
    if (this.#resolved === undefined || Date.now() >= this.#until) {
      this.#until = Number.POSITIVE_INFINITY;
      this.#resolved = this.#resolve().then((resolved) => {
        this.#until = resolved.until;
        return resolved;
      }, (error: unknown) => {
        this.#until = 0;
        throw error;
      });
    }
    return (await this.#resolved).credentials;
  }

  async region(): Promise<string | undefined> {
    if (this.#environmentRegion !== undefined) return this.#environmentRegion;
    const client = await this.#client();
    return await client.config.region().catch(() => undefined);
  }

  renew(): boolean {
    this.#until = 0;
    // Each new set of credentials may expire once; a store that refuses all of them ends it.
    return this.#renewals++ < 50;
  }

  async #client() {
    const { S3Client } = await import("@aws-sdk/client-s3");
    // `ignoreCache` reaches the reader of the shared files, which may have changed.
    const options = {
      ignoreCache: true,
      region: this.#environmentRegion,
      profile: this.#profile,
      logger: SILENT,
    };
    return new S3Client(withoutUndefined(options));
  }

  async #resolve(): Promise<ResolvedChain> {
    const client = await this.#client();
    try {
      const { accessKeyId, secretAccessKey, sessionToken, expiration } = await client.config
        .credentials();
      const expires = expiration === undefined
        ? Number.POSITIVE_INFINITY
        : expiration.getTime() - MARGIN_MS;
      return {
        credentials: { accessKeyId, secretAccessKey, sessionToken },
        until: Math.min(expires, Date.now() + LONGEST_USE_MS),
      };
    } catch (error) {
      // The chain says this when no link had anything: the store is asked without a signature.
      if (this.#profile === undefined && isNothingFound(error)) {
        return { credentials: undefined, until: Date.now() + LONGEST_USE_MS };
      }
      throw new DreamDBError({
        code: "permission-denied",
        action: "load credentials",
        path: this.#profile ?? "the default chain",
        found: `no credentials: ${error instanceof Error ? error.message : String(error)}`,
        expected: "credentials from the environment, a profile, a role or a token",
        next: "Log in again (for SSO: aws sso login), or set AWS_ACCESS_KEY_ID and " +
          "AWS_SECRET_ACCESS_KEY.",
      }, { cause: error });
    } finally {
      client.destroy();
    }
  }
}

function isNothingFound(error: unknown): boolean {
  return error instanceof Error && error.name === "CredentialsProviderError" &&
    /could not load credentials from any providers/i.test(error.message);
}

function withoutUndefined<T extends Record<string, unknown>>(
  options: T,
): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  return Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined),
  ) as { [Name in keyof T]?: Exclude<T[Name], undefined> };
}
