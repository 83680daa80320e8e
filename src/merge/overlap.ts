/**
 * Which intervals of different owners overlap: the cheap half of the proof that no anchor was
 * added twice. Only the payload of entries found here is ever read for it.
 *
 * @module
 */

/** A half-open interval of an owner. */
export interface OwnedInterval {
  readonly start: bigint;
  readonly end: bigint;
  readonly owner: number;
}

/** The two best values seen, of different owners. */
interface Leaders {
  readonly first: { readonly owner: number; readonly value: bigint };
  readonly second: { readonly owner: number; readonly value: bigint } | undefined;
}

function lead(leaders: Leaders | undefined, owner: number, value: bigint): Leaders {
  const entry = { owner, value };
  if (leaders === undefined) return { first: entry, second: undefined };
  const { first, second } = leaders;
  if (owner === first.owner) return value > first.value ? { first: entry, second } : leaders;
  if (value > first.value) return { first: entry, second: first };
  if (second === undefined || second.owner === owner || value > second.value) {
    const keep = second !== undefined && second.owner === owner && second.value > value;
    return keep ? leaders : { first, second: entry };
  }
  return leaders;
}

function foremostOther(leaders: Leaders | undefined, owner: number): bigint | undefined {
  if (leaders === undefined) return undefined;
  return leaders.first.owner === owner ? leaders.second?.value : leaders.first.value;
}

/**
 * The positions of the intervals that overlap one of another owner, ascending. Takes O(n log n).
 */
export function overlappingIntervals(intervals: readonly OwnedInterval[]): readonly number[] {
  const marked = new Set<number>();
  const byStart = intervals.map((_, index) => index)
    .sort((a, b) => compare(intervals[a]?.start, intervals[b]?.start));
  let leaders: Leaders | undefined;
  for (const index of byStart) {
    const interval = intervals[index];
    if (interval === undefined) continue;
    const furthest = foremostOther(leaders, interval.owner);
    if (furthest !== undefined && furthest > interval.start) marked.add(index);
    leaders = lead(leaders, interval.owner, interval.end);
  }
  leaders = undefined;
  for (const index of byStart.reverse()) {
    const interval = intervals[index];
    if (interval === undefined) continue;
    // Those behind start later; the foremost of the others, negated, is the one that starts first.
    const nearest = foremostOther(leaders, interval.owner);
    if (nearest !== undefined && -nearest < interval.end) marked.add(index);
    leaders = lead(leaders, interval.owner, -interval.start);
  }
  return [...marked].sort((a, b) => a - b);
}

function compare(a: bigint | undefined, b: bigint | undefined): number {
  return a === undefined || b === undefined || a === b ? 0 : a < b ? -1 : 1;
}

/** Sorted, disjoint intervals that cover the same points as `intervals`. */
export function mergeIntervals(
  intervals: readonly { readonly start: bigint; readonly end: bigint }[],
): readonly { readonly start: bigint; readonly end: bigint }[] {
  const merged: { start: bigint; end: bigint }[] = [];
  for (const { start, end } of [...intervals].sort((a, b) => compare(a.start, b.start))) {
    const last = merged.at(-1);
    if (last !== undefined && start <= last.end) {
      if (end > last.end) last.end = end;
    } else merged.push({ start, end });
  }
  return merged;
}

/** Whether `[start, end)` meets one of the sorted, disjoint `intervals`. */
export function meetsAny(
  intervals: readonly { readonly start: bigint; readonly end: bigint }[],
  start: bigint,
  end: bigint,
): boolean {
  let low = 0;
  let high = intervals.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((intervals[middle]?.end ?? 0n) <= start) low = middle + 1;
    else high = middle;
  }
  const candidate = intervals[low];
  return candidate !== undefined && candidate.start < end;
}
