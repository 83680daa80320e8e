/**
 * Checks that imports in `src` and `action` go in the one direction of DESIGN 3, and that nothing
 * there depends on the runtime: `npm run check` calls it.
 *
 * @module
 */

import { readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { posix } from "node:path";
import { tokenize } from "./tokenize.ts";

/** Folders of `src`, lowest first: each may import from itself and from those before it. */
const layers: readonly string[] = [
  "encoding",
  "model",
  "store",
  "history",
  "verify",
  "merge",
  "cli",
];

/** The only files that may name Bun; each has a fallback for other runtimes. */
const bunFiles: ReadonlySet<string> = new Set([
  "src/store/flock-bun.ts",
  "src/merge/tree/garbage.ts",
]);

/** The one file that may gather the exports of others. */
const publicEntry = "src/index.ts";

const foundation = "src/errors.ts";

/** One broken rule. `path` is relative to the project's root, `line` counts from 1. */
export interface ImportFault {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

/** Checks one file by its path from the project's root and its text. */
export function checkFile(path: string, text: string): readonly ImportFault[] {
  const faults: ImportFault[] = [];
  const report = (line: number, message: string) => faults.push({ path, line, message });
  const tokens = tokenize(text);
  if (rankOf(path) === undefined) {
    report(1, `is in no layer; expected one of ${layers.map((name) => `src/${name}`).join(", ")}`);
  }
  tokens.forEach((token, index) => {
    const next = tokens[index + 1];
    const afterNext = tokens[index + 2];
    const before = tokens[index - 1];
    if (token.kind !== "word" || (before?.text === "." && token.text !== "Bun")) return;
    switch (token.text) {
      case "from":
        if (next?.kind === "string") checkSpecifier(next.text, next.line);
        return;
      case "import":
      case "require":
        if (next?.kind === "string") checkSpecifier(next.text, next.line);
        else if (next?.text === "(" && afterNext?.kind === "string") {
          checkSpecifier(afterNext.text, afterNext.line);
        } else if (next?.text === "(") {
          report(token.line, "imports a computed name, which cannot be checked; name it literally");
        }
        return;
      case "export":
        if (next?.text === "default") {
          report(token.line, "has a default export; name what it exports");
        } else if (
          path !== publicEntry &&
          [next?.text, next?.text === "type" && afterNext?.text].includes("*")
        ) {
          report(token.line, "gathers the exports of another file; import from that file instead");
        }
        return;
      case "as":
        if (next?.text === "default") {
          report(token.line, "has a default export; name what it exports");
        }
        return;
      case "Bun":
        if (!bunFiles.has(path)) report(token.line, "uses Bun, which other runtimes do not have");
        return;
    }
  });
  return faults;

  function checkSpecifier(specifier: string, line: number): void {
    if (specifier.startsWith(".")) checkRelative(specifier, line);
    else if (specifier === "bun" || specifier.startsWith("bun:")) {
      if (!bunFiles.has(path)) {
        report(line, `imports ${specifier}, which other runtimes do not have`);
      }
    } else if (builtinModules.includes(specifier)) {
      report(line, `imports ${specifier}; write node:${specifier}`);
    } else if (specifier === "cbor-x") {
      report(
        line,
        "imports cbor-x as a whole, which loads a native addon; use its encode or decode",
      );
    } else if (/^(?:\/|[a-z]+:)/.test(specifier) && !specifier.startsWith("node:")) {
      report(line, `imports ${specifier}; expected a package, a node: module or a relative file`);
    }
  }

  function checkRelative(specifier: string, line: number): void {
    const target = posix.join(posix.dirname(path), specifier);
    if (!specifier.endsWith(".ts")) {
      report(line, `imports ${specifier} without its .ts ending`);
      return;
    }
    const from = rankOf(path);
    const to = rankOf(target);
    if (to === undefined) report(line, `imports ${target}, which is in no layer`);
    else if (
      from !== undefined && (to > from || (to === from && areaOf(path) !== areaOf(target)))
    ) {
      report(line, `imports ${target}; ${areaOf(path)} may not depend on ${areaOf(target)}`);
    }
  }
}

/** The part of the project whose files may import each other freely. */
function areaOf(path: string): string {
  if (path === foundation || path === publicEntry) return path;
  return path.split("/").slice(0, path.startsWith("src/") ? 2 : 1).join("/");
}

/**
 * How high a file stands. `action` stands above `src/cli`, whose way of reading names, times and
 * lists and of writing JSON it shares; the public entry stands beside it.
 */
function rankOf(path: string): number | undefined {
  if (path === foundation) return -1;
  if (path.startsWith("action/")) return layers.length;
  if (path === publicEntry) return layers.length - 1;
  const [top, layer, ...rest] = path.split("/");
  const rank = layers.indexOf(layer ?? "");
  return top === "src" && rest.length > 0 && rank >= 0 ? rank : undefined;
}

function main(): void {
  const paths = ["src", "action"].flatMap((folder) => {
    try {
      return readdirSync(folder, { recursive: true, encoding: "utf8" })
        .map((name) => posix.join(folder, name.replaceAll("\\", "/")));
    } catch {
      return [];
    }
  }).filter((path) => /\.[cm]?[jt]sx?$/.test(path)).sort();
  const faults = paths.flatMap((path) => checkFile(path, readFileSync(path, "utf8")));
  for (const { path, line, message } of faults) console.error(`${path}:${line}: ${message}`);
  if (paths.length === 0) {
    console.error("no source files were found; run this from the project's root");
  }
  console.log(`${paths.length} files, ${faults.length} broken import rules`);
  process.exitCode = faults.length > 0 || paths.length === 0 ? 1 : 0;
}

if (import.meta.main) main();
