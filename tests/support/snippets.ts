import { readFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "./fixtures.ts";

/** The code blocks of one language in a Markdown file of the project, in their order. */
export function snippetsIn(file: string, language: string): readonly string[] {
  const text = readFileSync(join(projectRoot, file), "utf8");
  const blocks = text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm);
  return [...blocks].flatMap(([, its = "", content = ""]) => its === language ? [content] : []);
}
