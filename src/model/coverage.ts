/**
 * Coverage: the half-open interval of nanoseconds that a Track's Items lie in (FORMAT 5).
 *
 * @module
 */

import type { CborValue } from "../encoding/cbor-value.ts";
import { asArray, asUint, malformedObject } from "./malformed.ts";
import type { Subject } from "./malformed.ts";

/** `[start, end)` in nanoseconds of the timeline. */
export interface Coverage {
  readonly start: bigint;
  readonly end: bigint;
}

/** The largest u64; the end of a Constant's coverage. */
export const MAX_U64 = 0xffff_ffff_ffff_ffffn;

/** The coverage of a Track that has no Items yet. */
export const EMPTY_COVERAGE: Coverage = { start: 0n, end: 1n };

/** Takes a coverage apart. @throws DreamDBError malformed-object when it is empty or reversed */
export function decodeCoverage(subject: Subject, value: CborValue | undefined): Coverage {
  const [start, end, ...rest] = asArray(subject, "coverage", value);
  const coverage = {
    start: asUint(subject, "coverage start", start),
    end: asUint(subject, "coverage end", end),
  };
  if (rest.length > 0 || coverage.start >= coverage.end) {
    throw malformedObject(
      subject,
      `coverage [${coverage.start}, ${coverage.end}] with ${rest.length} more elements`,
      "[start, end] with start < end",
    );
  }
  return coverage;
}

/** The CBOR form of a coverage. */
export function encodeCoverage(coverage: Coverage): CborValue {
  return [coverage.start, coverage.end];
}

/** The smallest coverage that holds all of `parts`; that of an empty Track when there are none. */
export function joinCoverage(parts: Iterable<Coverage>): Coverage {
  let joined: Coverage | undefined;
  for (const part of parts) {
    joined = joined === undefined ? { start: part.start, end: part.end } : {
      start: part.start < joined.start ? part.start : joined.start,
      end: part.end > joined.end ? part.end : joined.end,
    };
  }
  return joined ?? EMPTY_COVERAGE;
}
