import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { projectRoot } from "../support/fixtures.ts";
import { pythonEnvironment } from "../support/reference.ts";

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

  /** @param environment what the reference needs to open the stores, beside this process's own */
  static async start(environment: Readonly<Record<string, string>> = {}): Promise<Checker> {
    const python = await goldenPython();
    return new Checker(
      spawn(python, [join(golden, "check.py")], {
        stdio: "pipe",
        env: { ...process.env, ...environment },
      }),
    );
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
async function goldenPython(): Promise<string> {
  return await pythonEnvironment(
    "golden",
    ["-r", join(golden, "requirements.txt")],
    "import dreamdb, numpy, cbor2, blake3",
  );
}
