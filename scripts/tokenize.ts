/** One token of TypeScript source; the text of a string is its content without the quotes. */
export interface Token {
  readonly kind: "word" | "string" | "mark";
  readonly text: string;
  /** Counted from 1. */
  readonly line: number;
}

/** Words after which a slash begins a regular expression and does not divide. */
const wordsBeforeExpression: ReadonlySet<string> = new Set(
  ("return typeof case in of do else void delete throw new instanceof await yield").split(" "),
);

/**
 * Splits TypeScript source into words, strings and single marks, leaving out comments, regular
 * expressions and the text of templates. It knows just enough of the language to tell code from
 * text, so that an import in a comment or a string is not taken for one.
 */
export function tokenize(source: string): readonly Token[] {
  const tokens: Token[] = [];
  /** For each open `${`, how many braces are open inside it. */
  const templates: number[] = [];
  let line = 1;
  let at = 0;

  while (at < source.length) {
    const rest = source.slice(at, at + 2);
    const character = rest.charAt(0);
    if (/\s/.test(character)) advance(at + 1);
    else if (rest === "//") advance(endOf("\n", at));
    else if (rest === "/*") advance(endOf("*/", at + 2) + 2);
    else if (character === "/" && expressionMayBegin()) advance(endOfExpression(at + 1));
    else if (character === '"' || character === "'") readString(character);
    else if (character === "`") readTemplate(at + 1);
    else if (/[\p{ID_Start}$_]/u.test(character)) readWord();
    else readMark(character);
  }
  return tokens;

  function advance(to: number): void {
    for (let i = at; i < to && i < source.length; i++) if (source[i] === "\n") line++;
    at = to;
  }

  function endOf(mark: string, from: number): number {
    const found = source.indexOf(mark, from);
    return found < 0 ? source.length : found;
  }

  function expressionMayBegin(): boolean {
    const before = tokens.at(-1);
    if (before === undefined) return true;
    if (before.kind === "word") return wordsBeforeExpression.has(before.text);
    return before.kind === "mark" && !/[)\]}\d]/.test(before.text);
  }

  function endOfExpression(from: number): number {
    let inClass = false;
    for (let i = from; i < source.length; i++) {
      const character = source[i];
      if (character === "\\") i++;
      else if (character === "[") inClass = true;
      else if (character === "]") inClass = false;
      else if (character === "\n" || (character === "/" && !inClass)) return i + 1;
    }
    return source.length;
  }

  function readString(quote: string): void {
    let end = at + 1;
    while (end < source.length && source[end] !== quote) end += source[end] === "\\" ? 2 : 1;
    tokens.push({ kind: "string", text: source.slice(at + 1, end), line });
    advance(end + 1);
  }

  function readTemplate(from: number): void {
    for (let i = from; i < source.length; i++) {
      if (source[i] === "\\") i++;
      else if (source[i] === "`") {
        // A template is a value: a slash after it divides, as after a closing bracket.
        tokens.push({ kind: "mark", text: ")", line });
        return advance(i + 1);
      }
      if (source.startsWith("${", i)) {
        templates.push(0);
        return advance(i + 2);
      }
    }
    advance(source.length);
  }

  function readWord(): void {
    const end = at + (/^[\p{ID_Continue}$]+/u.exec(source.slice(at, at + 200))?.[0].length ?? 1);
    tokens.push({ kind: "word", text: source.slice(at, end), line });
    advance(end);
  }

  function readMark(mark: string): void {
    const open = templates.at(-1);
    if (mark === "}" && open === 0) {
      templates.pop();
      readTemplate(at + 1);
      return;
    }
    if (open !== undefined && mark === "{") templates[templates.length - 1] = open + 1;
    if (open !== undefined && mark === "}") templates[templates.length - 1] = open - 1;
    tokens.push({ kind: "mark", text: mark, line });
    advance(at + 1);
  }
}
