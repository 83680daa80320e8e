/**
 * Geometry item: a point set, mesh or splat at one anchor. Only what refers to other objects is
 * named; the rest is kept as it is.
 *
 * @module
 */

import type { Address } from "../encoding/address.ts";
import { encodeCanonical } from "../encoding/cbor-encode.ts";
import type { CborMap } from "../encoding/cbor-value.ts";
import { asAddress, asArray, asMap, asText } from "./malformed.ts";
import { decodeMap, requireValue } from "./object-map.ts";

/** A geometry item (FORMAT 1.2). */
export interface GeometryItem {
  /** For example `point`. */
  readonly family: string;
  /** Form of the index of its data, for example `cells-v1`. */
  readonly form: string;
  /** The `geometry-data` objects it is made of; empty for forms other than `cells-v1`. */
  readonly data: readonly Address[];
  /** The whole object, also what is not named here. */
  readonly fields: CborMap;
}

/**
 * Decodes a geometry item.
 * @throws DreamDBError malformed-cbor, malformed-object
 */
export function decodeGeometryItem(bytes: Uint8Array, path?: string): GeometryItem {
  const subject = { kind: "geometry item", path };
  const fields = decodeMap(subject, bytes);
  requireValue(subject, "'v'", fields.get("v"), 1n);
  const index = asMap(subject, "'index'", fields.get("index"));
  const form = asText(subject, "'form'", index.get("form"));
  const data = form !== "cells-v1"
    ? []
    : asArray(subject, "'cells'", index.get("cells")).map((value, at) =>
      asAddress(subject, `address of cell ${at}`, asArray(subject, `cell ${at}`, value)[2])
    );
  return { family: asText(subject, "'family'", fields.get("family")), form, data, fields };
}

/** Encodes a geometry item; the inverse of `decodeGeometryItem`. */
export function encodeGeometryItem(item: GeometryItem): Uint8Array {
  return encodeCanonical(item.fields);
}
