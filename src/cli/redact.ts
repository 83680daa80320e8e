/**
 * Keeps credentials out of everything that is printed, whatever message they got into.
 *
 * @module
 */

const SECRET_NAMES = ["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"];
const SHORTEST_SECRET = 8;

/** A function that takes credentials out of text. */
export function redactor(
  environment: Readonly<Record<string, string | undefined>>,
): (text: string) => string {
  const secrets = SECRET_NAMES.map((name) => environment[name] ?? "")
    .filter((secret) => secret.length >= SHORTEST_SECRET);
  return (text) => {
    let safe = text
      // The user part of a URL, and the parameters that sign one.
      .replace(/(\b[a-z][a-z0-9+.-]*:\/\/)[^/\s"'@]*@/gi, "$1***@")
      .replace(/\b(X-Amz-(?:Signature|Credential|Security-Token)=)[^&\s"']+/gi, "$1***");
    for (const secret of secrets) safe = safe.replaceAll(secret, "***");
    return safe;
  };
}
