import { readFileSync } from "node:fs";
import { join } from "node:path";
import { listFiles } from "../support/fixtures.ts";
import type { S3Server } from "../support/s3-servers.ts";

/** Puts every file of a store into the server's bucket, below `prefix`. */
export async function putStore(server: S3Server, folder: string, prefix: string): Promise<void> {
  for (const path of listFiles(folder)) {
    const url = `${server.endpoint}/${server.bucket}/${prefix}/${path}`;
    const response = await fetch(url, { method: "PUT", body: readFileSync(join(folder, path)) });
    if (!response.ok) throw new Error(`PUT ${url} was answered with ${response.status}`);
  }
}
