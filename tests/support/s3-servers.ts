/**
 * Starts the S3 servers that scripts/install-s3-servers.sh installs, on free ports of the loopback.
 */

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A running server with one empty bucket. */
export interface S3Server {
  /** `http://127.0.0.1:PORT` */
  readonly endpoint: string;
  readonly bucket: string;
  /** Settings that let a client in. */
  readonly environment: Readonly<Record<string, string>>;
  /** Makes another bucket, which anybody may write who has the settings. */
  makeBucket(name: string): Promise<void>;
  stop(): Promise<void>;
}

/** Which servers there are; s3rver ignores conditions. */
export type S3ServerName = "gofakes3" | "versitygw" | "s3rver";

const BINARIES = join(import.meta.dir, "../../.cache/bin");
const BUCKET = "dreamdb";
const ENVIRONMENT = {
  AWS_ACCESS_KEY_ID: "AKIATEST",
  AWS_SECRET_ACCESS_KEY: "secretsecret",
  AWS_REGION: "us-east-1",
};
/** The only key that s3rver knows. */
const S3RVER = { ...ENVIRONMENT, AWS_ACCESS_KEY_ID: "S3RVER", AWS_SECRET_ACCESS_KEY: "S3RVER" };

/** Whether scripts/install-s3-servers.sh has installed the server. */
export function isInstalled(name: S3ServerName): boolean {
  return existsSync(join(BINARIES, name));
}

/** Starts a server and waits until it answers. */
export async function startS3Server(name: S3ServerName): Promise<S3Server> {
  const folder = mkdtempSync(join(tmpdir(), `dreamdb-${name}-`));
  mkdirSync(join(folder, BUCKET));
  const port = await freePort();
  const host = `127.0.0.1:${port}`;
  const parameters: Record<S3ServerName, readonly string[]> = {
    gofakes3: ["-backend", "memory", "-host", host, "-initialbucket", BUCKET],
    // deno-fmt-ignore
    versitygw: [
      "--access", ENVIRONMENT.AWS_ACCESS_KEY_ID, "--secret", ENVIRONMENT.AWS_SECRET_ACCESS_KEY,
      "--region", ENVIRONMENT.AWS_REGION, "--port", host, "--keep-alive", "--quiet", "posix", folder,
    ],
    // deno-fmt-ignore
    s3rver: [
      "--directory", folder, "--address", "127.0.0.1", "--port", String(port), "--silent",
      "--configure-bucket", BUCKET,
    ],
  };
  const server = spawn(join(BINARIES, name), parameters[name], { stdio: "ignore" });
  const ended = new Promise<void>((resolve) => server.on("close", () => resolve()));
  const stop = async () => {
    server.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  for (let attempt = 0; attempt < 200; attempt++) {
    if (await answers(`http://${host}/${BUCKET}`)) {
      return {
        endpoint: `http://${host}`,
        bucket: BUCKET,
        environment: name === "s3rver" ? S3RVER : ENVIRONMENT,
        async makeBucket(bucket) {
          // To versitygw a folder is a bucket; gofakes3 does not look at signatures.
          if (name === "versitygw") mkdirSync(join(folder, bucket));
          else await (await fetch(`http://${host}/${bucket}`, { method: "PUT" })).arrayBuffer();
        },
        stop,
      };
    }
    await Bun.sleep(50);
  }
  await stop();
  throw new Error(`${name} does not answer`);
}

async function answers(url: string): Promise<boolean> {
  return await fetch(url).then(async (response) => {
    await response.arrayBuffer();
    return true;
  }, () => false);
}

/** A port of the loopback that nobody listens on. */
export async function freePort(): Promise<number> {
  const listener = createServer();
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const address = listener.address();
  await new Promise((resolve) => listener.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
