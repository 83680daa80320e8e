/**
 * Times as text.
 *
 * @module
 */

const LATEST = 8_640_000_000_000_000n;

/** Nanoseconds since 1970 as ISO 8601 in UTC with all nine digits, or the number itself. */
export function timeText(nanoseconds: bigint): string {
  const milliseconds = nanoseconds / 1_000_000n;
  if (milliseconds > LATEST) return `${nanoseconds} ns`;
  const second = new Date(Number(milliseconds)).toISOString().replace(/\.\d{3}Z$/, "");
  return `${second}.${String(nanoseconds % 1_000_000_000n).padStart(9, "0")}Z`;
}
