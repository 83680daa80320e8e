import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { encodeBase32 } from "../../src/encoding/base32.ts";
import { mapConcurrent } from "../../src/store/limit.ts";
import { S3Connector } from "../../src/store/s3.ts";
import { listKeys } from "../../src/store/s3-list.ts";
import { backendUrl, listFiles } from "../support/fixtures.ts";
import { type S3Server, type S3ServerName, startS3Server } from "../support/s3-servers.ts";

/** Bytes (latin1) of every file or object of a store by path, without the lock files of writers. */
export type Tree = ReadonlyMap<string, string>;

/** A store at the place where the command and the reference work on it. */
export interface PlacedStore {
  /** Backends that name it; the runs of a scenario take turns. */
  readonly backends: readonly string[];
  /** What the reference opens: a folder or a URL. */
  readonly root: string;
  tree(): Promise<Tree>;
  /** An independent store with the same content. */
  copy(): Promise<PlacedStore>;
  /** A folder with its present content, for checks that read objects themselves. */
  folder(): Promise<string>;
}

/** Where the stores of scenarios are put. */
export interface StorePlaces {
  /** What the command and the reference need to get in. */
  readonly environment: Readonly<Record<string, string>>;
  /**
   * Puts a copy of a store folder there.
   * @param scratch a folder for whatever lies on this machine; the caller removes it
   */
  place(folder: string, scratch: string): Promise<PlacedStore>;
  stop(): Promise<void>;
}

/** The names of refs in a tree, with what they hold as text. */
export function refsOf(tree: Tree): ReadonlyMap<string, string> {
  return new Map(
    [...tree].filter(([path]) => path.startsWith("refs/"))
      .map(([path, body]) => [path.slice("refs/".length), encodeBase32(fromLatin1(body))]),
  );
}

/** Folders on this machine. */
export function folders(): StorePlaces {
  return {
    environment: {},
    place: (from, scratch) => Promise.resolve(placeFolder(from, scratch)),
    stop: () => Promise.resolve(),
  };
}

function placeFolder(from: string, scratch: string): PlacedStore {
  const folder = mkdtempSync(join(scratch, "store-"));
  cpSync(from, folder, { recursive: true });
  return {
    backends: [backendUrl(folder)],
    root: folder,
    tree: () => Promise.resolve(treeOf(folder)),
    copy: () => Promise.resolve(placeFolder(folder, scratch)),
    folder: () => Promise.resolve(folder),
  };
}

/** Buckets of a server that is started for them; every store gets one of its own. */
export async function buckets(name: S3ServerName): Promise<StorePlaces> {
  const server = await startS3Server(name);
  let count = 0;
  const place = async (tree: Tree, scratch: string): Promise<PlacedStore> => {
    const bucket = `scenario-${count++}`;
    await server.makeBucket(bucket);
    const store = await fillBucket(server, bucket, tree);
    return {
      backends: [`s3://${bucket}`, store.url],
      root: store.url,
      tree: store.tree,
      copy: async () => await place(await store.tree(), scratch),
      folder: async () => writeTree(await store.tree(), scratch),
    };
  };
  return {
    // The reference honours proxies, for the loopback too.
    environment: {
      ...server.environment,
      AWS_ENDPOINT_URL_S3: server.endpoint,
      NO_PROXY: "127.0.0.1",
    },
    place: (folder, scratch) => place(treeOf(folder), scratch),
    stop: () => server.stop(),
  };
}

async function fillBucket(
  server: S3Server,
  bucket: string,
  content: Tree,
): Promise<{ readonly url: string; readonly tree: () => Promise<Tree> }> {
  const url = `${server.endpoint}/${bucket}`;
  const { http } = new S3Connector(url, { environment: server.environment });
  await mapConcurrent(content, 16, async ([key, body]) => {
    const { status } = await http.retrying({
      method: "PUT",
      key,
      body: fromLatin1(body),
      action: "upload",
    });
    if (status !== 200) throw new Error(`${status} to the upload of ${key} to ${url}`);
  });
  const tree = async (): Promise<Tree> => {
    const keys = await listKeys(http, "", undefined);
    return new Map(
      await mapConcurrent(keys, 16, async (key): Promise<[string, string]> => {
        const { status, body } = await http.retrying({ method: "GET", key, action: "download" });
        if (status !== 200) throw new Error(`${status} to the download of ${key} from ${url}`);
        return [key, toLatin1(body)];
      }),
    );
  };
  return { url, tree };
}

function treeOf(folder: string): Tree {
  const files = listFiles(folder).filter((path) => !path.startsWith(".dreamdb-cas-locks"));
  return new Map(files.map((path) => [path, readFileSync(join(folder, path), "latin1")]));
}

function writeTree(tree: Tree, scratch: string): string {
  const folder = mkdtempSync(join(scratch, "mirror-"));
  for (const [path, body] of tree) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), body, "latin1");
  }
  return folder;
}

function toLatin1(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1");
}

function fromLatin1(text: string): Uint8Array {
  return Buffer.from(text, "latin1");
}
