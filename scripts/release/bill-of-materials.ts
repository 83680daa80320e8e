/**
 * What an executable is made of, as a CycloneDX document: every package of package-lock.json that is
 * not for development only, and the runtime.
 *
 * @module
 */

/** The parts of package-lock.json that are used. */
export interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

/** One package of it. */
export interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly dev?: boolean;
}

/** A CycloneDX 1.6 document; nothing in it depends on when or where it is made. */
export function billOfMaterials(
  lock: LockFile,
  product: { readonly name: string; readonly version: string },
): Readonly<Record<string, unknown>> {
  const components = Object.entries(lock.packages)
    .filter(([path, entry]) => path !== "" && (entry.dev !== true || path === "node_modules/bun"))
    .map(([path, entry]) => component(path.slice(path.lastIndexOf("node_modules/") + 13), entry))
    .sort((a, b) => (a.purl < b.purl ? -1 : a.purl > b.purl ? 1 : 0));
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: {
        type: "application",
        "bom-ref": `${product.name}@${product.version}`,
        ...product,
        licenses: [{ license: { id: "MIT" } }],
      },
    },
    components,
  };
}

function component(name: string, { version = "", integrity = "", license }: LockedPackage) {
  const cut = name.lastIndexOf("/");
  const [group, short] = cut < 0 ? ["", name] : [name.slice(0, cut), name.slice(cut + 1)];
  const purl = `pkg:npm/${group === "" ? "" : `${encodeURIComponent(group)}/`}${short}@${version}`;
  const digest = /^sha512-(.+)$/.exec(integrity)?.[1];
  return {
    type: "library",
    "bom-ref": purl,
    ...group === "" ? {} : { group },
    name: short,
    version,
    ...digest === undefined
      ? {}
      : { hashes: [{ alg: "SHA-512", content: Buffer.from(digest, "base64").toString("hex") }] },
    ...license === undefined ? {} : { licenses: [{ expression: license }] },
    purl,
  };
}
