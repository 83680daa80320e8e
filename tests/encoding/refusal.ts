import type { FaultCode } from "../../src/errors.ts";
import { isDreamDBError } from "../../src/errors.ts";

/** The code an action is refused with; undefined when it succeeds; other errors pass through. */
export function refusalOf(action: () => unknown): FaultCode | undefined {
  try {
    action();
  } catch (error) {
    if (isDreamDBError(error)) return error.code;
    throw error;
  }
  return undefined;
}
