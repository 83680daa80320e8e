/**
 * `flock(2)` through Bun's foreign function interface.
 *
 * @module
 */

import { setTimeout as delay } from "node:timers/promises";
import type { FileLock } from "./flock.ts";

const LOCK_EXCLUSIVE_NONBLOCKING = 2 | 4;
const EINTR = 4;
const EWOULDBLOCK = process.platform === "darwin" ? 35 : 11;
const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 25;

/** Names of the C library, of which one is there. */
export const LIBRARIES: readonly string[] = process.platform === "darwin"
  ? ["libSystem.B.dylib"]
  : ["libc.so.6", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1", "libc.so"];

/** The part of `bun:ffi` that is used; the module exists under Bun only. */
export interface ForeignFunctions {
  dlopen(library: string, symbols: Record<string, { args: string[]; returns: string }>): {
    readonly symbols: Readonly<Record<string, ((...values: number[]) => number) | undefined>>;
  };
  readonly read: { i32(pointer: number, offset: number): number };
}

/** Bun's foreign functions; undefined in other runtimes. */
export function foreignFunctions(): ForeignFunctions | undefined {
  if (process.versions["bun"] === undefined) return undefined;
  // Not an import: other runtimes and bundlers must not see the module's name.
  const find: ((name: string) => unknown) | undefined = process.getBuiltinModule;
  return find?.("bun:ffi") as ForeignFunctions | undefined;
}

/**
 * The lock through `bun:ffi`; undefined outside of Bun and where no C library is found.
 *
 * It asks again and again instead of blocking: a blocking call would stop the whole program.
 */
export function bunFileLock(): FileLock | undefined {
  const foreign = foreignFunctions();
  if (foreign === undefined) return undefined;
  const location = process.platform === "darwin" ? "__error" : "__errno_location";
  for (const library of LIBRARIES) {
    try {
      const { symbols } = foreign.dlopen(library, {
        flock: { args: ["i32", "i32"], returns: "i32" },
        [location]: { args: [], returns: "ptr" },
      });
      const flock = symbols["flock"];
      const errorLocation = symbols[location];
      if (flock === undefined || errorLocation === undefined) continue;
      return {
        kind: "bun:ffi",
        acquire: (descriptor, signal) =>
          poll(
            () => flock(descriptor, LOCK_EXCLUSIVE_NONBLOCKING) === 0,
            () => foreign.read.i32(errorLocation(), 0),
            signal,
          ),
      };
    } catch {
      // Not this system's C library: try the next name.
    }
  }
  return undefined;
}

async function poll(
  attempt: () => boolean,
  errorNumber: () => number,
  signal: AbortSignal,
): Promise<void> {
  let pause = FIRST_PAUSE_MS;
  for (;;) {
    signal.throwIfAborted();
    if (attempt()) return;
    const number = errorNumber();
    // 0: the runtime has overwritten the number between the two calls; asking again settles it.
    if (number !== EWOULDBLOCK && number !== EINTR && number !== 0) {
      throw Object.assign(new Error(`flock failed with error number ${number}`), {
        code: `flock error ${number}`,
      });
    }
    // Spread out, so that many waiters do not all ask at one moment and then all sleep.
    await delay(pause * (0.5 + Math.random()), undefined, { signal }).catch(() =>
      signal.throwIfAborted()
    );
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
  }
}
