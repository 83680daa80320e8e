/**
 * A cache that lets go of what was not asked for of late.
 *
 * @module
 */

interface Kept<Value> {
  readonly value: Value;
  readonly weight: number;
}

/**
 * Keeps values by name, up to a total weight.
 *
 * There are two halves: what is asked for goes to the young one, and when that is full, it takes the
 * place of the old one. So each value stays until at least half of the weight was asked for since,
 * and nothing is kept in order, which would cost more than what is saved.
 */
export class RecentlyUsed<Value> {
  readonly #half: number;
  #young = new Map<string, Kept<Value>>();
  #old = new Map<string, Kept<Value>>();
  #weight = 0;

  constructor(most: number) {
    this.#half = most / 2;
  }

  get(key: string): Value | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young.value;
    const old = this.#old.get(key);
    if (old === undefined) return undefined;
    this.set(key, old.value, old.weight);
    return old.value;
  }

  set(key: string, value: Value, weight = 1): void {
    const added = weight - (this.#young.get(key)?.weight ?? 0);
    if (this.#weight + added > this.#half) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#weight = 0;
    }
    this.#weight += this.#young.has(key) ? added : weight;
    this.#young.set(key, { value, weight });
  }
}
