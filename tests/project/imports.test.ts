import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { checkFile } from "../../scripts/check-imports.ts";
import { projectRoot } from "../support/fixtures.ts";

/** The messages of all faults of a file with this one text. */
const faultsOf = (path: string, text: string) =>
  checkFile(path, text).map((fault) => fault.message);

describe("the import check", () => {
  const allowed: readonly (readonly [string, string])[] = [
    ["src/encoding/a.ts", `import { b } from "./b.ts";`],
    ["src/encoding/a.ts", `import { DreamDBError } from "../errors.ts";`],
    ["src/cli/main.ts", `import type { Plan } from "../merge/plan.ts";`],
    ["src/cli/commands/log.ts", `import { walk } from "../../history/walk.ts";`],
    ["action/main.ts", `import { merge } from "../src/merge/merge.ts";`],
    ["action/inputs.ts", `import { parseDuration } from "../src/cli/values.ts";`],
    ["src/store/s3.ts", `const sdk = await import("@aws-sdk/client-s3");`],
    ["src/store/flock-bun.ts", `const { dlopen } = await import("bun:ffi"); Bun.version;`],
    ["src/encoding/a.ts", `import { decode } from "cbor-x/decode"; import "node:fs";`],
    ["src/index.ts", `export * from "./merge/plan.ts";`],
    ["src/model/a.ts", `// import "../cli/main.ts"\n/* import "../cli/main.ts" */`],
    ["src/model/a.ts", `const text = 'import x from "../cli/main.ts"';`],
    ["src/model/a.ts", "const text = `import '../cli/${`Bun ${1}`}.ts'`; const b = 4 / 2;"],
    ["src/model/a.ts", `const quote = /["'\`/*]/; const half = quote.lastIndex / 2;`],
    ["src/model/a.ts", `const runtime = { Bunny: 1 }; runtime.default;`],
  ];
  for (const [path, text] of allowed) {
    test(`allows in ${path}: ${text}`, () => expect(faultsOf(path, text)).toEqual([]));
  }

  const refused: readonly (readonly [string, string, string])[] = [
    ["src/encoding/a.ts", `import { x } from "../model/x.ts";`, "may not depend on src/model"],
    ["src/encoding/a.ts", `import type { X } from "../model/x.ts";`, "may not depend on src/model"],
    ["src/encoding/a.ts", `export { x } from "../model/x.ts";`, "may not depend on src/model"],
    ["src/encoding/a.ts", `import "../store/x.ts";`, "may not depend on src/store"],
    ["src/store/a.ts", `const x = await import("../merge/x.ts");`, "may not depend on src/merge"],
    [
      "src/merge/a.ts",
      "const x = `${(await import('../cli/x.ts')).x}`;",
      "may not depend on src/cli",
    ],
    ["src/errors.ts", `import { x } from "./encoding/x.ts";`, "may not depend on src/encoding"],
    ["src/cli/a.ts", `import { x } from "../../action/main.ts";`, "may not depend on action"],
    ["src/cli/a.ts", `import { x } from "../../tests/support/x.ts";`, "which is in no layer"],
    ["src/stray.ts", "", "is in no layer"],
    ["src/other/a.ts", "", "is in no layer"],
    ["src/model/a.ts", `import { x } from "./x";`, "without its .ts ending"],
    ["src/model/a.ts", `import { x } from "./x.js";`, "without its .ts ending"],
    ["src/model/a.ts", `import x from "./x.json";`, "without its .ts ending"],
    ["src/model/a.ts", `import { dlopen } from "bun:ffi";`, "imports bun:ffi"],
    ["src/model/a.ts", `import { $ } from "bun";`, "imports bun,"],
    ["src/model/a.ts", `const file = Bun.file("x");`, "uses Bun"],
    ["src/model/a.ts", `const { Bun } = globalThis;`, "uses Bun"],
    ["src/model/a.ts", `globalThis.Bun.gc();`, "uses Bun"],
    ["action/main.ts", `Bun.exit();`, "uses Bun"],
    ["src/model/a.ts", `export default class Track {}`, "default export"],
    ["src/model/a.ts", `const x = 1; export { x as default };`, "default export"],
    ["src/model/a.ts", `export * from "./track.ts";`, "gathers the exports"],
    ["src/model/a.ts", `export type * from "./track.ts";`, "gathers the exports"],
    ["src/model/a.ts", `import { readFileSync } from "fs";`, "write node:fs"],
    ["src/model/a.ts", `import { encode } from "cbor-x";`, "imports cbor-x as a whole"],
    ["src/model/a.ts", `import { x } from "/srv/x.ts";`, "imports /srv/x.ts"],
    ["src/model/a.ts", `import { x } from "https://example.org/x.ts";`, "imports https:"],
    ["src/model/a.ts", `const name = "x"; await import(name);`, "a computed name"],
  ];
  for (const [path, text, message] of refused) {
    test(`refuses in ${path}: ${text}`, () => {
      const faults = faultsOf(path, text);
      expect(faults).toHaveLength(1);
      expect(faults[0]).toContain(message);
    });
  }

  test("tells the line", () => {
    const text = `/* one\n two */\nconst x = \`\n\`;\nimport "bun";\n`;
    expect(checkFile("src/model/a.ts", text)).toMatchObject([{ path: "src/model/a.ts", line: 5 }]);
  });

  test("finds nothing wrong in this project", () => {
    const paths = readdirSync(join(projectRoot, "src"), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts"))
      .map((path) => `src/${path}`);
    expect(paths).toContain("src/errors.ts");
    const read = (path: string) => readFileSync(join(projectRoot, path), "utf8");
    expect(paths.flatMap((path) => checkFile(path, read(path)))).toEqual([]);
  });
});
