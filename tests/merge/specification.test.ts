import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../support/fixtures.ts";

const page = readFileSync(join(projectRoot, "docs/union-merge.md"), "utf8");
const rules = [...page.matchAll(/^\| ([A-Z]\d+) \| (.*) \| (.*) \|$/gm)].map((row) => ({
  rule: row[1] ?? "",
  proof: row[3] ?? "",
}));
const scenarios = new Set(
  (JSON.parse(readFileSync(join(projectRoot, "fixtures/golden/expected.json"), "utf8")) as {
    readonly name: string;
  }[]).map(({ name }) => name),
);

test("every rule of the specification has a number of its own and a proof", () => {
  expect(rules.length).toBe(69);
  expect(new Set(rules.map(({ rule }) => rule)).size).toBe(rules.length);
  expect(rules.filter(({ proof }) => !/`/.test(proof)).map(({ rule }) => rule)).toEqual([]);
});

test.each(rules.map(({ rule, proof }) => [rule, proof] as const))("%s is proven", (_, proof) => {
  const named = [...proof.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? "");
  const unknown = named.filter((name) =>
    name.startsWith("tests/")
      ? !existsSync(join(projectRoot, name))
      : !scenarios.has(name) && !["golden.keep", "order"].includes(name)
  );
  expect(unknown).toEqual([]);
});
