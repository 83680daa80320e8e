/**
 * What the tests of the S3 store against the fault server share.
 */

import { expect } from "bun:test";
import type { Address } from "../../src/encoding/address.ts";
import { addressBytes, addressOf } from "../../src/encoding/address.ts";
import type { FaultCode } from "../../src/errors.ts";
import { isDreamDBError } from "../../src/errors.ts";
import type { RefOutcome } from "../../src/store/connector.ts";
import { manifestPath } from "../../src/store/paths.ts";
import type { S3Options } from "../../src/store/s3.ts";
import { S3Connector } from "../../src/store/s3.ts";
import { sampleAddress } from "../store/conformance.ts";
import type { FaultServer, ServerFault } from "./fault-server.ts";
import { startFaultServer } from "./fault-server.ts";

/** No message, report or trace may contain it. */
export const SECRET = "the-secret-of-the-test";
/** An object, its address and its path. */
export const bytes = new TextEncoder().encode("an object of the store");
export const address = addressOf(bytes);
export const path = manifestPath(address);
/** What a ref holds before, what it is to hold, and what somebody else makes it hold. */
export const [expected, next, other] = [1, 2, 3].map((n) => sampleAddress(`${n}`)) as [
  Address,
  Address,
  Address,
];

const servers: FaultServer[] = [];

/** Stops what `start` has started; for `afterEach`. */
export function stopFaultServers(): void {
  for (const server of servers.splice(0)) server[Symbol.dispose]();
}

/** A server that fails on demand, and a store on it. */
export interface Setting {
  readonly server: FaultServer;
  readonly connector: S3Connector;
  /** Every pause in milliseconds, which the test does not wait for. */
  readonly pauses: number[];
}

/** Starts a server with an empty bucket. */
export async function start(options: S3Options = {}): Promise<Setting> {
  const server = await startFaultServer();
  servers.push(server);
  const pauses: number[] = [];
  const connector = new S3Connector(`${server.endpoint}/${server.bucket}`, {
    environment: {
      AWS_ACCESS_KEY_ID: "AKIATEST",
      AWS_SECRET_ACCESS_KEY: SECRET,
      AWS_REGION: "us-east-1",
    },
    unsafeSkipProbe: true,
    ...options,
    effects: {
      random: () => 1,
      delay: async (milliseconds, signal) => {
        signal?.throwIfAborted();
        pauses.push(milliseconds);
      },
      ...options.effects,
    },
  });
  return { server, connector, pauses };
}

/** Makes the ref `trunk` hold `to` behind the store's back. */
export function setRef(server: FaultServer, to: Address | undefined): void {
  if (to === undefined) server.objects.delete("refs/trunk");
  else server.objects.set("refs/trunk", addressBytes(to));
}

/** The fault that a call ends with; checks that it keeps the secret. */
export async function codeOf(call: Promise<unknown>): Promise<FaultCode | "nothing thrown"> {
  try {
    await call;
    return "nothing thrown";
  } catch (error) {
    expect(String(error)).not.toContain(SECRET);
    if (isDreamDBError(error)) return error.code;
    throw error;
  }
}

/** When a fault happens: before or after the request was carried out. */
export const before = { when: "before" } as const;
export const after = { when: "after" } as const;
export const cutBefore: ServerFault = { kind: "cut", ...before };
export const cutAfter: ServerFault = { kind: "cut", ...after };
/** An answer of failure. */
export function answer(
  status: number,
  code: string,
  when: "before" | "after" = "before",
): ServerFault {
  return { kind: "answer", when, status, code };
}

export const committed = { status: "committed" } as const;
export const confirmed = { status: "committed", note: "confirmed-after-unknown" } as const;
/** The outcome of a lost race. */
export function conflict(found: Address | undefined, sent: boolean): RefOutcome {
  return { status: "conflict", found, sent };
}

/** Failures after which the same request, sent again, succeeds. */
export const passing: readonly (readonly [string, readonly ServerFault[]])[] = [
  ["408", [answer(408, "RequestTimeout")]],
  ["429", [answer(429, "TooManyRequests")]],
  ["500", [answer(500, "InternalError")]],
  ["500 after the request was carried out", [answer(500, "InternalError", "after")]],
  ["502", [answer(502, "BadGateway")]],
  ["503", [answer(503, "SlowDown")]],
  ["504", [answer(504, "GatewayTimeout")]],
  ["a lost request", [cutBefore]],
  ["a lost answer", [cutAfter]],
];
