/**
 * What the checks below a Track need to know of its field.
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import type { TrackKind } from "../model/track-kind.ts";

/** One field of one Manifest. */
export interface Field {
  readonly name: string;
  readonly kind: TrackKind;
  readonly timeline: Address;
  readonly modality: string;
  /** Whether the Track has an init segment: its Fragments then lie below their minute. */
  readonly segmented: boolean;
  /** SpatialIndexes and compressors that the registry names; none known for older versions. */
  readonly spatialIndexes: readonly Address[];
  readonly compressors: readonly Address[];
}
