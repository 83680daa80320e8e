/**
 * What the format of SpatialBucket trees does with leaves that it does not decode.
 *
 * @module
 */

import { CborWriter } from "../../encoding/cbor-writer.ts";
import { decodeIndexPage } from "../../model/index-page.ts";
import type { PageEntry } from "../../model/page-entry.ts";
import { compareLeaves, Undecided } from "./leaf-comparison.ts";
import { growLeaf } from "./leaf-growth.ts";
import { leafShape, leafTail } from "./leaf-shape.ts";
import type { LeafShape } from "./leaf-shape.ts";
import { readAhead } from "./read-ahead.ts";
import { RecentlyUsed } from "../recently-used.ts";
import { checkChild, inPage } from "./tree-format.ts";
import type { PageLoader, TreeChild, TreeFormat } from "./tree-format.ts";

/** How many measured leaves are kept, each for the next branch that is compared with it. */
const KEPT_LEAVES = 1_024;
const NAME = "Index Page";

type SpatialLeaves = Required<Pick<TreeFormat<PageEntry>, "compareLeaves" | "growLeaf">>;

/** The methods of one Track's format; they share the leaves that were measured. */
export function spatialLeaves(modality: string, pageTarget: number): SpatialLeaves {
  /** Measured leaves, with what the page above said when it was last found to be true. */
  const kept = new RecentlyUsed<{ readonly shape: LeafShape; readonly child: TreeChild }>(
    KEPT_LEAVES,
  );
  const tail = leafTail(modality);
  const writer = new CborWriter(pageTarget + 256);

  /** The shape of a sound leaf; undefined when it cannot be measured. */
  const measure = (child: TreeChild, bytes: Uint8Array): LeafShape | undefined => {
    const known = kept.get(child.page);
    if (known?.child === child) return known.shape;
    return inPage(NAME, child, () => {
      const shape = known?.shape ?? leafShape(bytes, child.page, tail);
      if (shape === undefined) {
        // Decoding tells what is wrong with it.
        decodeIndexPage(bytes, { kind: "spatial-bucket", modality, path: child.page });
        return undefined;
      }
      checkChild(NAME, shape.child, child);
      kept.set(child.page, { shape, child });
      return shape;
    });
  };

  const open = async (child: TreeChild, load: PageLoader): Promise<LeafShape | undefined> => {
    const bytes = kept.get(child.page)?.shape.bytes ?? await load(child.page);
    // Comparisons that go on at once come to a leaf at once: one of them has measured it by now.
    return measure(child, bytes);
  };

  return {
    async compareLeaves(base, side, load) {
      const openBase = async (child: TreeChild): Promise<LeafShape> => {
        const shape = await open(child, load);
        if (shape === undefined) throw new Undecided();
        return shape;
      };
      const openSide = async (child: TreeChild) => ({ child, bytes: await load(child.page) });
      return await compareLeaves(readAhead(base, openBase), readAhead(side, openSide), tail);
    },
    async growLeaf(child, added, load) {
      const shape = await open(child, load);
      return shape === undefined ? undefined : growLeaf(shape, added, tail, pageTarget, writer);
    },
  };
}
