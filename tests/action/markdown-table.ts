/** The rows of the first Markdown table below a heading, without its head; code marks are removed. */
export function tableBelow(markdown: string, heading: string): readonly (readonly string[])[] {
  const start = markdown.split("\n").indexOf(heading);
  if (start < 0) throw new Error(`there is no heading ${heading}`);
  const lines = markdown.split("\n").slice(start);
  const first = lines.findIndex((line) => line.startsWith("|"));
  const after = lines.slice(first).findIndex((line) => !line.startsWith("|"));
  return lines.slice(first + 2, after < 0 ? undefined : first + after)
    .map((line) => line.slice(1, -1).split(/(?<!\\)\|/).map((cell) => cell.trim()));
}
