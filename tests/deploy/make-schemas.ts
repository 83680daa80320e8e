/**
 * Makes the schemas that the manifests in deploy/ are held against:
 *
 *     make-schemas.ts SWAGGER ARGO-SCHEMA
 *
 * SWAGGER is api/openapi-spec/swagger.json of the Go module k8s.io/kubernetes v1.37.2, ARGO-SCHEMA is
 * api/jsonschema/schema.json of argoproj/argo-workflows v4.1.2. Each schema holds one kind with all
 * that it refers to, without descriptions, and allows no unknown fields.
 *
 * @module
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
type JsonObject = { readonly [key: string]: Json };

const STRING_OR_INTEGER: Json = { oneOf: [{ type: "string" }, { type: "integer" }] };
const STRING_OR_NUMBER: Json = { oneOf: [{ type: "string" }, { type: "number" }] };

const KINDS: readonly (readonly [file: string, definition: string])[] = [
  ["job", "io.k8s.api.batch.v1.Job"],
  ["configmap", "io.k8s.api.core.v1.ConfigMap"],
  ["persistentvolumeclaim", "io.k8s.api.core.v1.PersistentVolumeClaim"],
];

function isObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** One kind's schema out of a document with definitions. */
function schemaOf(definitions: JsonObject, root: string): JsonObject {
  const names = [root];
  const done: Record<string, Json> = {};

  function convert(value: Json): Json {
    if (Array.isArray(value)) return value.map(convert);
    if (!isObject(value)) return value;
    if (value["format"] === "int-or-string") return STRING_OR_INTEGER;
    const entries = Object.entries(value)
      .filter(([key, part]) =>
        !key.startsWith("x-") && !(key === "description" && typeof part === "string") &&
        key !== "default" && key !== "format" && key !== "title"
      )
      .map(([key, part]): readonly [string, Json] => {
        if (key === "$ref" && typeof part === "string") {
          const name = part.slice(part.lastIndexOf("/") + 1);
          if (!names.includes(name)) names.push(name);
          return [key, `#/definitions/${name}`];
        }
        if (key === "properties" && isObject(part)) {
          const properties = Object.entries(part).map(([name, schema]) => [name, convert(schema)]);
          return [key, Object.fromEntries(properties)];
        }
        return [key, convert(part)];
      });
    const closed = "properties" in value && !("additionalProperties" in value);
    return { ...Object.fromEntries(entries), ...closed ? { additionalProperties: false } : {} };
  }

  for (const name of names) {
    const definition = definitions[name];
    if (definition === undefined) throw new Error(`there is no definition ${name}`);
    done[name] = name.endsWith("api.resource.Quantity")
      ? STRING_OR_NUMBER
      : name.endsWith("util.intstr.IntOrString")
      ? STRING_OR_INTEGER
      : convert(name === root ? withoutStatus(definition) : definition);
  }
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    $ref: `#/definitions/${root}`,
    definitions: done,
  };
}

/** Nobody writes a status into a file, and it is a large part of some kinds. */
function withoutStatus(definition: Json): Json {
  if (!isObject(definition) || !isObject(definition["properties"] ?? null)) return definition;
  const { status: _status, ...properties } = definition["properties"] as JsonObject;
  return { ...definition, properties };
}

function definitionsIn(path: string): JsonObject {
  const document: Json = JSON.parse(readFileSync(path, "utf8"));
  const definitions = isObject(document) ? document["definitions"] : undefined;
  if (definitions === undefined || !isObject(definitions)) {
    throw new Error(`${path} has no definitions`);
  }
  return definitions;
}

const [swagger, argo] = process.argv.slice(2);
if (swagger === undefined || argo === undefined) {
  console.error("usage: make-schemas.ts SWAGGER ARGO-SCHEMA");
  process.exit(2);
}
const folder = join(import.meta.dirname, "schemas");
const kubernetes = definitionsIn(swagger);
for (const [file, definition] of KINDS) write(file, schemaOf(kubernetes, definition));
write("workflow", schemaOf(definitionsIn(argo), "io.argoproj.workflow.v1alpha1.Workflow"));

function write(name: string, schema: JsonObject): void {
  const text = `${JSON.stringify(schema)}\n`;
  writeFileSync(join(folder, `${name}.json`), text);
  console.log(`${name}.json: ${text.length} bytes`);
}
