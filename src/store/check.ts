/**
 * What a store can do, found out by trying: the work behind `dreamdb store check`.
 *
 * @module
 */

/** One thing that was tried. */
export interface StoreFinding {
  readonly name: string;
  /** `note`: not needed to publish, but good to know. */
  readonly result: "ok" | "failed" | "note";
  /** One sentence in plain words. */
  readonly text: string;
}

/** All that was found. */
export interface StoreCheck {
  readonly url: string;
  /** Whether publishing beside other writers is safe, as far as trying can tell. */
  readonly publishable: boolean;
  readonly findings: readonly StoreFinding[];
}

/** The result of a check from its findings. */
export function storeCheck(url: string, findings: readonly StoreFinding[]): StoreCheck {
  return {
    url,
    publishable: findings.every((finding) => finding.result !== "failed"),
    findings,
  };
}
