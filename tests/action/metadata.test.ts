import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { readInputs } from "../../action/inputs.ts";
import { failureOutputs } from "../../action/outputs.ts";
import { dreamdb } from "../support/dreamdb.ts";
import { projectRoot } from "../support/fixtures.ts";
import { tableBelow } from "./markdown-table.ts";

interface Metadata {
  readonly description: string;
  readonly inputs: Readonly<
    Record<string, { description: string; required: boolean; default: string }>
  >;
  readonly outputs: Readonly<Record<string, { description: string }>>;
  readonly runs: { readonly using: string; readonly main: string };
}

interface Types {
  readonly inputs: Readonly<Record<string, { type: string; "allowed-values"?: string[] }>>;
  readonly outputs: Readonly<Record<string, { type: string }>>;
}

const read = (name: string) => readFileSync(join(projectRoot, name), "utf8");
const metadata: Metadata = parse(read("action.yml"));
const types: Types = parse(read("action-types.yml"));
const guide = read("docs/action.md");

/** The inputs that are read, in the order in which they are asked for. */
function inputsThatAreRead(): readonly string[] {
  const names = new Set<string>();
  readInputs({
    input: (name) => {
      names.add(name);
      return metadata.inputs[name]?.default ?? "";
    },
    environment: {},
    pullRequest: false,
  });
  return [...names].sort();
}

describe("action.yml", () => {
  test("declares the inputs that are read, and no others", () => {
    expect(Object.keys(metadata.inputs).sort()).toEqual([...inputsThatAreRead()]);
  });

  test("declares the outputs that are set, and no others", () => {
    expect(Object.keys(metadata.outputs).sort()).toEqual(Object.keys(failureOutputs("")).sort());
  });

  test("has defaults that mean what an input that is not given means", () => {
    const given = (name: string) =>
      name === "backend" ? "file:///store" : name === "branches" ? "w0" : "";
    const source = { environment: {}, pullRequest: false };
    const withDefaults = readInputs({
      ...source,
      input: (name) => given(name) || (metadata.inputs[name]?.default ?? ""),
    });
    expect(withDefaults).toEqual(readInputs({ ...source, input: given }));
  });

  test("describes every input and output in one sentence, and asks for none", () => {
    for (const { description } of [metadata, ...Object.values(metadata.outputs)]) {
      expect(description).toMatch(/^[A-Z`].*\.$/);
    }
    for (const input of Object.values(metadata.inputs)) {
      expect(input.description).toMatch(/^[A-Z`].*\.$/);
      expect(input.required).toBe(false);
      expect(typeof input.default).toBe("string");
    }
  });

  test("runs the committed bundle on Node 24", () => {
    expect(metadata.runs).toEqual({ using: "node24", main: "dist/index.js" });
  });
});

describe("the flags of merge-many", () => {
  /** Flags that are about terminals, second names of others, or refuse safety. */
  const notInputs = ["ref-name", "branch", "unsafe-no-lock", "json", "quiet", "progress"];

  test("are all inputs of the Action, but for those of a terminal", async () => {
    const { stdout } = await dreamdb(["merge-many", "--help"]);
    const flags = [...stdout.matchAll(/^ {2}(?:-\w, )?--([a-z-]+)/gm)].map(([, name = ""]) => name);
    expect(flags).toContain("backend");
    const others = [...notInputs, "color", "debug", "help"];
    expect(flags.filter((name) => !(name in metadata.inputs))).toEqual(
      flags.filter((name) => others.includes(name)),
    );
  });
});

describe("action-types.yml", () => {
  test("types every input and output", () => {
    expect(Object.keys(types.inputs)).toEqual(Object.keys(metadata.inputs));
    expect(Object.keys(types.outputs)).toEqual(Object.keys(metadata.outputs));
  });

  test("allows only words that are understood", () => {
    for (const [name, { "allowed-values": words = [] }] of Object.entries(types.inputs)) {
      for (const word of words) {
        const result = readInputs({
          input: (asked) =>
            asked === name
              ? word
              : asked === "backend"
              ? "file:///store"
              : asked === "branches"
              ? "w"
              : "",
          environment: {},
          pullRequest: false,
        });
        expect({ name, word, ok: result.ok }).toEqual({ name, word, ok: true });
      }
    }
  });
});

describe("docs/action.md", () => {
  test("has the inputs of action.yml", () => {
    expect(tableBelow(guide, "## Inputs")).toEqual(
      Object.entries(metadata.inputs).map(([name, input]) => [
        `\`${name}\``,
        input.description,
        input.default === "" ? "" : `\`${input.default}\``,
      ]),
    );
  });

  test("has the outputs of action.yml", () => {
    expect(tableBelow(guide, "## Outputs")).toEqual(
      Object.entries(metadata.outputs).map((
        [name, { description }],
      ) => [`\`${name}\``, description]),
    );
  });
});
