/**
 * Text for people: colours that never carry a meaning alone, tables, wrapped paragraphs, sizes.
 *
 * @module
 */

/** When to colour. */
export type ColorMode = "auto" | "always" | "never";

/** Paints text; without colour every function returns its text. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
}

/**
 * Whether to colour what goes to a stream: the flag decides, then NO_COLOR, then FORCE_COLOR, then
 * CLICOLOR=0 and TERM=dumb, then whether a person sees the stream.
 */
export function usesColor(
  mode: ColorMode,
  environment: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean,
): boolean {
  if (mode !== "auto") return mode === "always";
  if ((environment["NO_COLOR"] ?? "") !== "") return false;
  const forced = environment["FORCE_COLOR"];
  if (forced !== undefined && forced !== "") return forced !== "0" && forced !== "false";
  if (environment["CLICOLOR"] === "0" || environment["TERM"] === "dumb") return false;
  return isTerminal;
}

/** A style with or without colours. */
export function createStyle(colored: boolean): Style {
  const paint = (code: number) => (text: string): string =>
    colored && text !== "" ? `\u001b[${code}m${text}\u001b[0m` : text;
  return { bold: paint(1), dim: paint(2), red: paint(31), green: paint(32), yellow: paint(33) };
}

/**
 * A table with its columns aligned and two spaces between them; numbers (and heads of columns of
 * numbers) stand right.
 */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const right = head.map((_, column) =>
    rows.length > 0 && rows.every((row) => /^[+−-]?[\d,.]*$/.test(row[column] ?? ""))
  );
  const widths = head.map((name, column) =>
    Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0))
  );
  return [head, ...rows].map((row) =>
    row.map((cell, column) => {
      const width = widths[column] ?? 0;
      return right[column] === true ? cell.padStart(width) : cell.padEnd(width);
    }).join("  ").trimEnd()
  );
}

/** Breaks text at spaces into lines of at most `width` characters; longer words stay whole. */
export function wrap(text: string, width: number, indent = ""): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && indent.length + line.length + 1 + word.length > width) {
      lines.push(indent + line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  lines.push(indent + line);
  return lines;
}

/** A number of bytes for people, as in `1.5 MB`; decimal units. */
export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  let value = bytes;
  let unit = "";
  for (unit of ["kB", "MB", "GB", "TB"]) {
    value /= 1000;
    if (value < 999.5) break;
  }
  return `${value < 9.95 ? value.toFixed(1) : value.toFixed(0)} ${unit}`;
}

/** `1 branch`, `2 branches`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** The first `most` items, and how many more there are. */
export function shortList(items: readonly string[], most: number, separator = ", "): string {
  const shown = items.slice(0, most).join(separator);
  return items.length <= most ? shown : `${shown} and ${items.length - most} more`;
}
