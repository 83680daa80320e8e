/**
 * The shortest of the three CBOR float widths that keeps a value (RFC 8949 section 4.2.1; keys of
 * float indexes, FORMAT 7).
 *
 * @module
 */

const scratch = new DataView(new ArrayBuffer(8));

/** Bytes of the shortest float that is exactly `value`, which must be finite. */
export function floatWidth(value: number): 2 | 4 | 8 {
  if (Math.fround(value) !== value) return 8;
  return halfBits(value) === undefined ? 4 : 2;
}

/** The 16 bits of `value` as a half float, or undefined when it is not exactly one. */
export function halfBits(value: number): number | undefined {
  if (Math.fround(value) !== value) return undefined;
  scratch.setFloat32(0, value);
  const bits = scratch.getUint32(0);
  const sign = (bits >>> 16) & 0x8000;
  if ((bits & 0x7fff_ffff) === 0) return sign;
  const exponent = ((bits >>> 23) & 0xff) - 127;
  const mantissa = bits & 0x7f_ffff;
  if (exponent > 15 || exponent < -24) return undefined;
  if (exponent >= -14) {
    return (mantissa & 0x1fff) === 0
      ? sign | ((exponent + 15) << 10) | (mantissa >>> 13)
      : undefined;
  }
  // Below 2^-14 a half has no hidden bit: the mantissa, hidden bit included, moves down to the
  // unit 2^-24, and the bits shifted out must be zero.
  const shift = -1 - exponent;
  const full = mantissa | 0x80_0000;
  return (full & ((1 << shift) - 1)) === 0 ? sign | (full >>> shift) : undefined;
}

/** The value of a half float, from its 16 bits. */
export function halfValue(bits: number): number {
  const sign = (bits & 0x8000) === 0 ? 1 : -1;
  const exponent = (bits >>> 10) & 0x1f;
  const mantissa = bits & 0x3ff;
  if (exponent === 0x1f) return mantissa === 0 ? sign * Infinity : NaN;
  if (exponent === 0) return sign * mantissa * 2 ** -24;
  return sign * (1024 + mantissa) * 2 ** (exponent - 25);
}
