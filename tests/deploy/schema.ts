import Ajv from "ajv";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Manifest } from "./manifests.ts";

const ajv = new Ajv({ allErrors: true, strict: false, validateFormats: false });

/** What is wrong with an object's form; every field must be known. */
export function schemaFaults(manifest: Manifest): readonly string[] {
  const name = manifest.kind.toLowerCase();
  const path = join(import.meta.dirname, "schemas", `${name}.json`);
  const validate = ajv.getSchema(name) ?? ajv.addSchema(readSchema(path), name).getSchema(name);
  if (validate === undefined) throw new Error(`there is no schema for ${manifest.kind}`);
  if (validate(manifest)) return [];
  return (validate.errors ?? []).map(({ instancePath, message, params }) =>
    `${instancePath} ${message} ${JSON.stringify(params)}`
  );
}

function readSchema(path: string): Record<string, unknown> {
  return JSON.parse(readFileSync(path, "utf8"));
}
