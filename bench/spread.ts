/** The middle of some numbers, with the least and the greatest. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** The spread of at least one number. */
export function spreadOf(numbers: readonly number[]): Spread {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const lower = sorted[Math.ceil(middle) - 1];
  const upper = sorted[Math.floor(middle)];
  const min = sorted[0];
  const max = sorted.at(-1);
  if (lower === undefined || upper === undefined || min === undefined || max === undefined) {
    throw new Error("a spread needs at least one number");
  }
  return { median: (lower + upper) / 2, min, max };
}

/**
 * How often `second` fits into `first`, pair by pair: both of a pair met the same state of the
 * machine, so their ratio is steadier than either.
 */
export function ratiosOf(first: readonly number[], second: readonly number[]): Spread {
  return spreadOf(first.flatMap((value, index) => {
    const other = second[index];
    return other === undefined ? [] : [value / other];
  }));
}
