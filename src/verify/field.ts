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
  /** The SpatialIndexes and the compressors that the registry names for the modality. */
  readonly spatialIndexes: readonly Address[];
  readonly compressors: readonly Address[];
}
