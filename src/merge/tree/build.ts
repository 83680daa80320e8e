/**
 * Building a tree as a whole. The result is a function of the entries alone and the same bytes as the
 * reference's bulk build (PAGED 5 and 7).
 *
 * @module
 */

import { addressOf } from "../../encoding/address.ts";
import type { PageEntry } from "../../model/page-entry.ts";
import { GarbageCounter } from "./garbage.ts";
import { cutEvenly, cutGreedily } from "./split.ts";
import type { PageSink, Tree, TreeChild, TreeFormat, TreePage } from "./tree-format.ts";

/** Bytes of written pages after which garbage is collected. */
const COLLECT_EVERY = 4 * 1024 * 1024;

/** Entries in runs, such as the leaves of a tree. */
export type EntryRuns<Entry> = AsyncIterable<readonly Entry[]> | Iterable<readonly Entry[]>;

/** Encodes a page, gives it to the sink and says what the page above has to say about it. */
export async function writePage<Entry extends PageEntry>(
  format: TreeFormat<Entry>,
  sink: PageSink,
  page: TreePage<Entry>,
  height: number,
): Promise<TreeChild> {
  const bytes = page.leaf
    ? format.encodeLeaf(page.entries)
    : format.encodeInternal(page.children, height);
  const address = addressOf(bytes);
  await sink(address, bytes);
  return format.childOf(page, address);
}

/**
 * Builds a tree of entries in order. Entries are kept one leaf at a time, children one level at a
 * time.
 * @returns undefined when there are no entries
 */
export async function buildTree<Entry extends PageEntry>(
  format: TreeFormat<Entry>,
  runs: EntryRuns<Entry>,
  pages: PageSink,
): Promise<Tree | undefined> {
  const garbage = new GarbageCounter(COLLECT_EVERY);
  const sink: PageSink = (address, bytes) => {
    garbage.add(bytes.length);
    return pages(address, bytes);
  };
  let level: TreeChild[] = [];
  let entryCount = 0;
  let leaf: Entry[] = [];
  const meter = format.leafMeter();
  const writeLeaf = async (): Promise<void> => {
    level.push(await writePage(format, sink, { leaf: true, entries: leaf }, 1));
    leaf = [];
    meter.clear();
  };
  for await (const run of runs) {
    for (const entry of run) {
      if (!meter.tryAdd(entry)) {
        await writeLeaf();
        meter.tryAdd(entry);
      }
      leaf.push(entry);
      entryCount++;
    }
  }
  if (leaf.length > 0) await writeLeaf();
  let height = 1;
  let fanout = 0;
  let pageCount = level.length;
  while (level.length > 1) {
    height++;
    const cut = format.internalRule === "even" ? cutEvenly : cutGreedily;
    const above: TreeChild[] = [];
    for (const children of cut(level, format.internalMeter())) {
      above.push(await writePage(format, sink, { leaf: false, children }, height));
      fanout = Math.max(fanout, children.length);
    }
    level = above;
    pageCount += above.length;
  }
  const root = level[0]?.page;
  return root === undefined ? undefined : { root, height, pageCount, entryCount, fanout };
}
