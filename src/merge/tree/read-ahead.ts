/**
 * Reading in order, some ahead.
 *
 * @module
 */

/** Leaves are small, and a store may take long to answer. */
const READ_AHEAD = 64;

/** Results in the order of their items. */
export interface ReadAhead<Result> {
  /**
   * The next result; undefined after the last.
   * @throws what reading it threw
   */
  next(): Promise<Result | undefined>;
}

/** Reads `items` in order, up to `ahead` of them before their turn. */
export function readAhead<Item, Result>(
  items: readonly Item[],
  read: (item: Item) => Promise<Result>,
  ahead = READ_AHEAD,
): ReadAhead<Result> {
  const pending: Promise<Result>[] = [];
  let begun = 0;
  return {
    next() {
      for (; begun < items.length && pending.length <= ahead; begun++) {
        const item = items[begun];
        if (item === undefined) continue;
        const reading = read(item);
        // A failure is thrown when its turn comes; until then it must not count as unhandled.
        reading.catch(() => {});
        pending.push(reading);
      }
      return pending.shift() ?? Promise.resolve(undefined);
    },
  };
}
