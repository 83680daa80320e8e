import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** A program that answers each JSON line on its stdin with one on its stdout, in order. */
export class JsonLines {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting: ((line: string | undefined) => void)[] = [];
  #stderr = "";

  /** Starts `argv`; it runs until `close`. */
  constructor(argv: readonly [string, ...string[]]) {
    const [program, ...args] = argv;
    this.#child = spawn(program, args, { stdio: "pipe" });
    this.#child.stderr.on("data", (bytes: Uint8Array) => {
      this.#stderr += Buffer.from(bytes).toString();
    });
    createInterface({ input: this.#child.stdout }).on("line", (line) => {
      this.#waiting.shift()?.(line);
    });
    this.#child.on("error", (error) => this.#stderr += error.message);
    this.#child.on("close", () => {
      for (const settle of this.#waiting.splice(0)) settle(undefined);
    });
  }

  /** The parsed answer to one question; fails when the program ends before it. */
  async ask(question: unknown): Promise<unknown> {
    const line = await new Promise<string | undefined>((settle) => {
      this.#waiting.push(settle);
      this.#child.stdin.write(`${JSON.stringify(question)}\n`);
    });
    if (line === undefined) {
      throw new Error(`${this.#child.spawnargs.join(" ")} ended early: ${this.#stderr}`);
    }
    return JSON.parse(line);
  }

  /** Lets the program end. */
  close(): void {
    this.#child.stdin.end();
  }
}
