import { beforeAll, describe } from "bun:test";
import { referenceMissing, referencePython } from "./reference.ts";

/**
 * `describe` for tests that the reference judges. The first one on a machine installs the reference;
 * on a machine that cannot have it they are skipped and the reason is printed.
 */
export function describeWithReference(name: string, body: () => void): void {
  if (referenceMissing !== undefined) console.warn(`skipped: ${name}: ${referenceMissing}`);
  describe.skipIf(referenceMissing !== undefined)(name, () => {
    if (referenceMissing === undefined) beforeAll(referencePython, 300_000);
    body();
  });
}
