/**
 * A cache that lets go of what was asked for longest ago.
 *
 * @module
 */

interface Kept<Value> {
  readonly value: Value;
  readonly weight: number;
}

/** Keeps values by name, up to a total weight. */
export class RecentlyUsed<Value> {
  readonly #most: number;
  /** What was asked for longest ago first. */
  readonly #kept = new Map<string, Kept<Value>>();
  #weight = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get(key: string): Value | undefined {
    const found = this.#kept.get(key);
    if (found === undefined) return undefined;
    this.#kept.delete(key);
    this.#kept.set(key, found);
    return found.value;
  }

  set(key: string, value: Value, weight = 1): void {
    this.#weight += weight - (this.#kept.get(key)?.weight ?? 0);
    this.#kept.delete(key);
    this.#kept.set(key, { value, weight });
    for (const [oldest, kept] of this.#kept) {
      if (this.#weight <= this.#most) return;
      this.#kept.delete(oldest);
      this.#weight -= kept.weight;
    }
  }
}
