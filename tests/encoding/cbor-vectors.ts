import type { CborValue } from "../../src/encoding/cbor-value.ts";

/** Encodings and their values; both directions must hold. */
export type Vectors = readonly (readonly [string, CborValue])[];

const bytes = (...values: number[]) => Uint8Array.from(values);

/** RFC 8949 appendix A, the rows that canonical CBOR without tags and floats has. */
export const rfcVectors: Vectors = [
  ["00", 0n],
  ["01", 1n],
  ["0a", 10n],
  ["17", 23n],
  ["1818", 24n],
  ["1819", 25n],
  ["1864", 100n],
  ["1903e8", 1000n],
  ["1a000f4240", 1000000n],
  ["1b000000e8d4a51000", 1000000000000n],
  ["1bffffffffffffffff", 18446744073709551615n],
  ["3bffffffffffffffff", -18446744073709551616n],
  ["20", -1n],
  ["29", -10n],
  ["3863", -100n],
  ["3903e7", -1000n],
  ["f4", false],
  ["f5", true],
  ["f6", null],
  ["40", bytes()],
  ["4401020304", bytes(1, 2, 3, 4)],
  ["60", ""],
  ["6161", "a"],
  ["6449455446", "IETF"],
  ["62225c", '"\\'],
  ["62c3bc", "\u00fc"],
  ["63e6b0b4", "\u6c34"],
  ["64f0908591", "\u{10151}"],
  ["80", []],
  ["83010203", [1n, 2n, 3n]],
  ["8301820203820405", [1n, [2n, 3n], [4n, 5n]]],
  [
    "98190102030405060708090a0b0c0d0e0f101112131415161718181819",
    Array.from({ length: 25 }, (_, index) => BigInt(index + 1)),
  ],
  ["a0", new Map()],
  ["a26161016162820203", new Map<string, CborValue>([["a", 1n], ["b", [2n, 3n]]])],
  ["826161a161626163", ["a", new Map([["b", "c"]])]],
  [
    "a56161614161626142616361436164614461656145",
    new Map([["a", "A"], ["b", "B"], ["c", "C"], ["d", "D"], ["e", "E"]]),
  ],
];

/** Both sides of every width an integer can have, and the anchors and times of the format. */
export const integerVectors: Vectors = [
  ["18ff", 255n],
  ["190100", 256n],
  ["19ffff", 65535n],
  ["1a00010000", 65536n],
  ["1a7fffffff", 2n ** 31n - 1n],
  ["1a80000000", 2n ** 31n],
  ["1affffffff", 2n ** 32n - 1n],
  ["1b0000000100000000", 2n ** 32n],
  ["1b001fffffffffffff", 2n ** 53n - 1n],
  ["1b0020000000000000", 2n ** 53n],
  ["1b0020000000000001", 2n ** 53n + 1n],
  ["1b18fae27693b40001", 1800000000000000001n],
  ["1b7fffffffffffffff", 2n ** 63n - 1n],
  ["1b8000000000000000", 2n ** 63n],
  ["1bfffffffffffffffe", 2n ** 64n - 2n],
  ["37", -24n],
  ["3818", -25n],
  ["38ff", -256n],
  ["390100", -257n],
  ["39ffff", -65536n],
  ["3a00010000", -65537n],
  ["3a7fffffff", -(2n ** 31n)],
  ["3a80000000", -(2n ** 31n) - 1n],
  ["3affffffff", -(2n ** 32n)],
  ["3b0000000100000000", -(2n ** 32n) - 1n],
  ["3b001fffffffffffff", -(2n ** 53n)],
  ["3b0020000000000000", -(2n ** 53n) - 1n],
  ["3b7fffffffffffffff", -(2n ** 63n)],
  ["3b8000000000000000", -(2n ** 63n) - 1n],
  ["3bfffffffffffffffe", -(2n ** 64n) + 1n],
];

/** Texts and byte strings on both sides of every width of a length, and texts that libraries bend. */
export const stringVectors: Vectors = [
  [`77${"61".repeat(23)}`, "a".repeat(23)],
  [`7818${"61".repeat(24)}`, "a".repeat(24)],
  [`78ff${"61".repeat(255)}`, "a".repeat(255)],
  [`790100${"61".repeat(256)}`, "a".repeat(256)],
  [`79012c${"78".repeat(300)}`, "x".repeat(300)],
  [`79ffff${"61".repeat(65535)}`, "a".repeat(65535)],
  [`7a00010000${"61".repeat(65536)}`, "a".repeat(65536)],
  [`7818${"c3a9".repeat(12)}`, "é".repeat(12)],
  [`785d${"e697a5".repeat(31)}`, "日".repeat(31)],
  [`790102${"c3a9".repeat(129)}`, "é".repeat(129)],
  [`7a00010002${"e697a5".repeat(21846)}`, "日".repeat(21846)],
  ["63efbbbf", "\ufeff"],
  [`7863efbbbf${"61".repeat(96)}`, `\ufeff${"a".repeat(96)}`],
  [
    `a1783fefbbbf${"61".repeat(60)}01`,
    new Map([[`\ufeff${"a".repeat(60)}`, 1n]]),
  ],
  ["6100", "\0"],
  ["62c280", "\u0080"],
  ["63efbfbf", "\uffff"],
  ["64f48fbfbf", "\u{10ffff}"],
  ["63ed9fbf", "\ud7ff"],
  [`57${"00".repeat(23)}`, new Uint8Array(23)],
  [`5818${"00".repeat(24)}`, new Uint8Array(24)],
  [`590100${"00".repeat(256)}`, new Uint8Array(256)],
  [`5a00010000${"00".repeat(65536)}`, new Uint8Array(65536)],
];

/** Map keys in canonical order where an insertion, a text or a UTF-16 order would differ. */
export const mapVectors: Vectors = [
  ["a1695f5f70726f746f5f5f01", new Map([["__proto__", 1n]])],
  [
    "a26b636f6e7374727563746f72006e6861734f776e50726f706572747901",
    new Map([["constructor", 0n], ["hasOwnProperty", 1n]]),
  ],
  ["a3600161310262313003", new Map([["", 1n], ["1", 2n], ["10", 3n]])],
  ["a2617a0162616102", new Map([["z", 1n], ["aa", 2n]])],
  ["a2627a7a0062c3a901", new Map([["zz", 0n], ["é", 1n]])],
  // U+FFFF sorts after U+10000 in UTF-16, before it in length and bytes.
  ["a263efbfbf0064f090808001", new Map([["\uffff", 0n], ["\u{10000}", 1n]])],
  // The same length: only the bytes decide, and UTF-16 would turn them round.
  [
    "a264f0908080006561efbfbf6101",
    new Map([["\u{10000}", 0n], ["a\uffffa", 1n]]),
  ],
  [
    "a267efbfbfefbfbf610067f090808061616101",
    new Map([["\uffff\uffffa", 0n], ["\u{10000}aaa", 1n]]),
  ],
  [
    "a26274730066747261636b7301",
    new Map([["ts", 0n], ["tracks", 1n]]),
  ],
];

/** Floats in their shortest width (RFC 8949 appendix A; FORMAT 7). */
export const floatVectors: Vectors = [
  ["f90000", 0],
  ["f98000", -0],
  ["f93c00", 1],
  ["f93e00", 1.5],
  ["f9c400", -4],
  ["f97bff", 65504],
  ["f90001", 5.960464477539063e-8],
  ["f903ff", 6.097555160522461e-5],
  ["f90400", 6.103515625e-5],
  ["fa47800000", 65536],
  ["fa47c35000", 100000],
  ["fa7f7fffff", 3.4028234663852886e38],
  ["fa33000000", 2.9802322387695312e-8],
  ["fa00000001", 1.401298464324817e-45],
  ["fa3f801000", 1.00048828125],
  ["fb3ff199999999999a", 1.1],
  ["fbc010666666666666", -4.1],
  ["fb7e37e43c8800759c", 1e300],
  ["fb3fb999999999999a", 0.1],
  ["fb0000000000000001", 5e-324],
  ["fb433fffffffffffff", 9007199254740991],
];
