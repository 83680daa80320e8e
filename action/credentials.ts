/**
 * What the environment holds to sign requests with. On pull requests from forks all secrets are
 * empty text, which counts as nothing.
 *
 * @module
 */

type Environment = Readonly<Record<string, string | undefined>>;

/** Variables with secret values; nothing of them may reach a log. */
const SECRETS = ["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"] as const;

/** Variables each of which leads to credentials. */
const SOURCES = [
  "AWS_ACCESS_KEY_ID",
  "AWS_PROFILE",
  "AWS_WEB_IDENTITY_TOKEN_FILE",
  "AWS_SHARED_CREDENTIALS_FILE",
  "AWS_CONFIG_FILE",
  "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
  "AWS_CONTAINER_CREDENTIALS_FULL_URI",
] as const;

/** Whether anything leads to credentials. */
export function hasCredentials(environment: Environment): boolean {
  return SOURCES.some((name) => (environment[name]?.trim() ?? "") !== "");
}

/** Everything that must be masked: secret variables, and a password in the backend's URL. */
export function secretsIn(environment: Environment, backend: string): readonly string[] {
  const password = /^[a-z0-9+.-]+:\/\/[^/@:]*:([^/@]+)@/.exec(backend)?.[1];
  return [...SECRETS.map((name) => environment[name]?.trim() ?? ""), password ?? ""]
    .filter((secret) => secret !== "");
}
