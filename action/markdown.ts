/**
 * Building blocks of the job summary. Every text that comes from a store or a user goes through
 * `plain` or `code`: names in a store are written by whoever can write there.
 *
 * @module
 */

/** Text that shows as itself in GitHub's Markdown and HTML, on one line. */
export function plain(text: string): string {
  return text.replace(/\s+/g, " ").replace(
    /[^\p{L}\p{N} .,:;/+=-]/gu,
    (character) => `&#${character.codePointAt(0)};`,
  );
}

/** The same in a fixed-width font. */
export function code(text: string): string {
  return `<code>${plain(text)}</code>`;
}

/** A table; cells are Markdown already. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** Something folded away under `title`, which is Markdown already. */
export function details(title: string, body: string): string {
  return `<details><summary>${title}</summary>\n\n${body}\n\n</details>`;
}
