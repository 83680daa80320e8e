import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What a run left in a store: files of objects, without refs and locks. */
export interface Added {
  readonly objects: number;
  readonly bytes: number;
}

interface Listing {
  /** Paths below the store. */
  readonly files: ReadonlySet<string>;
  /** The content of each ref in hexadecimal, by path. */
  readonly refs: ReadonlyMap<string, string>;
}

/** Lock files stay between runs, as they do in the reference; they hold nothing. */
const locks = ".dreamdb-cas-locks";

/**
 * A store that is merged into again and again. It is put back by removing what a run added, which
 * is far cheaper than copying it: its objects are never changed, only added to.
 */
export class BenchStore {
  readonly folder: string;
  readonly #pristine: Listing;

  /**
   * @param folder a store as it was made; what it holds is noted beside it the first time, so that
   * a later run can put it back even when this one is killed
   * @throws Error when it cannot be put back
   */
  constructor(folder: string) {
    this.folder = folder;
    const note = `${folder}.listing.json`;
    if (!existsSync(note)) writeFileSync(note, textOf(list(folder)));
    this.#pristine = listingOf(readFileSync(note, "utf8"));
    this.restore();
  }

  /**
   * Removes everything a run added and puts the refs back.
   * @throws Error when the store then holds other names or refs than at first
   */
  restore(): Added {
    const found = list(this.folder);
    let objects = 0;
    let bytes = 0;
    for (const path of found.files) {
      if (this.#pristine.files.has(path)) continue;
      const file = join(this.folder, path);
      objects++;
      bytes += statSync(file).size;
      rmSync(file);
    }
    for (const path of found.refs.keys()) {
      if (!this.#pristine.refs.has(path)) rmSync(join(this.folder, path));
    }
    for (const [path, hex] of this.#pristine.refs) {
      if (found.refs.get(path) !== hex) {
        writeFileSync(join(this.folder, path), Buffer.from(hex, "hex"));
      }
    }
    this.#checkPristine();
    return { objects, bytes };
  }

  #checkPristine(): void {
    const { files, refs } = list(this.folder);
    const same = files.size === this.#pristine.files.size &&
      [...files].every((path) => this.#pristine.files.has(path)) &&
      refs.size === this.#pristine.refs.size &&
      [...refs].every(([path, hex]) => this.#pristine.refs.get(path) === hex);
    if (!same) {
      throw new Error(`${this.folder} is not as it was made; remove it to have it made again`);
    }
  }
}

function list(folder: string): Listing {
  const files = new Set<string>();
  const refs = new Map<string, string>();
  const pending = [""];
  for (let below = pending.pop(); below !== undefined; below = pending.pop()) {
    for (const entry of readdirSync(join(folder, below), { withFileTypes: true })) {
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      if (path === locks) continue;
      if (entry.isDirectory()) pending.push(path);
      else if (path.startsWith("refs/")) refs.set(path, readFileSync(join(folder, path), "hex"));
      else files.add(path);
    }
  }
  return { files, refs };
}

function textOf({ files, refs }: Listing): string {
  return JSON.stringify({ files: [...files], refs: [...refs] });
}

function listingOf(text: string): Listing {
  const { files, refs } = JSON.parse(text) as {
    readonly files: readonly string[];
    readonly refs: readonly (readonly [string, string])[];
  };
  return { files: new Set(files), refs: new Map(refs) };
}
