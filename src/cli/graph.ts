/**
 * The lines of history beside a log: one column a line, `*` where a Manifest is, `M` for a merge.
 *
 * @module
 */

/** What stands left of an entry's first line, and left of its other lines. */
export interface GraphColumns {
  readonly head: string;
  readonly rest: string;
}

const MOST_COLUMNS = 16;

/** The columns of each entry, in the order of the log: children before parents. */
export function graphColumns(
  entries: readonly { readonly address: string; readonly parents: readonly string[] }[],
): readonly GraphColumns[] {
  const shown = new Set(entries.map(({ address }) => address));
  let lanes: string[] = [];
  return entries.map(({ address, parents }) => {
    if (!lanes.includes(address)) lanes.push(address);
    const at = lanes.indexOf(address);
    const before = lanes.map((_, lane) => lane === at ? parents.length > 1 ? "M" : "*" : "|");
    const next = parents.filter((parent) => shown.has(parent) && !lanes.includes(parent));
    lanes = [...lanes.slice(0, at), ...next, ...lanes.slice(at + 1)];
    return { head: text(before), rest: text(lanes.map(() => "|")) };
  });
}

function text(marks: readonly string[]): string {
  const cut = marks.length > MOST_COLUMNS ? [...marks.slice(0, MOST_COLUMNS), "…"] : marks;
  return cut.map((mark) => `${mark} `).join("");
}
