import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { projectRoot } from "../support/fixtures.ts";
import { collect, referenceMissing } from "../support/reference.ts";

const golden = join(projectRoot, "fixtures/golden");

/** A Track as the checker reads it. */
export interface TrackSeen {
  readonly address: string;
  readonly entries: number | null;
}

interface Answer {
  readonly problems?: readonly string[];
  readonly records?: number;
  readonly tracks?: Readonly<Record<string, TrackSeen>>;
  readonly manifest?: string;
  readonly parents?: readonly string[];
}

/** The reference in one long-lived process (`fixtures/golden/check.py`), asked one thing at a time. */
export class Checker {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #answers: AsyncIterator<string>;
  #stderr = "";
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
    this.#answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    child.stderr.on("data", (bytes: Uint8Array) => this.#stderr += Buffer.from(bytes).toString());
    process.on("exit", () => child.kill());
  }

  static async start(): Promise<Checker> {
    const python = await goldenPython();
    return new Checker(spawn(python, [join(golden, "check.py")], { stdio: "pipe" }));
  }

  /** One request of `check.py`; the operations are described there. */
  ask(op: string, request: Readonly<Record<string, unknown>>): Promise<Answer> {
    const turn = this.#turn.then(async () => {
      this.#child.stdin.write(`${JSON.stringify({ op, ...request })}\n`);
      const { value, done } = await this.#answers.next();
      if (done) throw new Error(`the checker ended: ${this.#stderr.slice(-2000)}`);
      return JSON.parse(value) as Answer;
    });
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  stop(): void {
    this.#child.stdin.end();
  }
}

/** The Python with the packages that `fixtures/golden/requirements.txt` pins; made on first use. */
export async function goldenPython(): Promise<string> {
  if (referenceMissing !== undefined) throw new Error(referenceMissing);
  const requirements = join(golden, "requirements.txt");
  const digest = createHash("sha256").update(readFileSync(requirements)).digest("hex");
  const cache = join(projectRoot, ".cache/python");
  const folder = join(cache, `golden-${digest.slice(0, 12)}`);
  const python = join(folder, "bin/python");
  const ready = ["-c", "import dreamdb, numpy, cbor2, blake3"];
  if (spawnSync(python, ready).status === 0) return python;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(cache, { recursive: true });
  const partial = mkdtempSync(`${folder}.partial-`);
  try {
    await mustRun("python3", ["-m", "venv", partial]);
    await mustRun(join(partial, "bin/python"), [
      ...["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"],
      ...["-r", requirements],
    ]);
    renameSync(partial, folder);
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    if (!existsSync(python)) throw error;
  }
  return python;
}

async function mustRun(program: string, args: readonly string[]): Promise<void> {
  const child = spawn(program, args, { stdio: "pipe" });
  child.stdin.end();
  const { exitCode, stderr } = await collect(child);
  if (exitCode !== 0) throw new Error(`${program} ended with ${exitCode}: ${stderr}`);
}
