import { z } from 'zod';
import { ADDITION } from './words.ts';

/** Any JSON object of the OpenAPI document. */
export type Json = Readonly<Record<string, unknown>>;
/** The named schemas of the document, by name. */
export type Schemas = Map<string, Json>;
/** Where a schema is used: in a body, where null counts as absent, in the query, or in an answer. */
type SchemaUse = 'body' | 'query' | 'answer';

const NULL = { type: 'null' };
/** Keywords whose value is one schema (`ONE`) or a list of schemas (`SEVERAL`). */
const ONE = ['items', 'additionalProperties', 'propertyNames', 'not'];
const SEVERAL = ['anyOf', 'oneOf', 'allOf'];

/**
 * Returns the JSON schema of a zod schema. Named schemas are added to `schemas` and referred to. The `accepts` of a
 * schema's meta replaces what zod derives for a request, because zod cannot describe transformations and refinements.
 * Where its meta has `addition`, the description says that the field is one.
 */
export function jsonSchema(schema: z.ZodType, use: SchemaUse, schemas: Schemas): Json {
  // Inside an object a named schema is referred to; at the top zod would write it in full.
  const wrapped = z.toJSONSchema(z.object({ it: schema }), {
    io: use === 'answer' ? 'output' : 'input',
    unrepresentable: 'any',
  });
  const text = JSON.stringify(wrapped).replaceAll('"#/$defs/', '"#/components/schemas/');
  const { $defs, properties } = JSON.parse(text) as {
    $defs?: Record<string, Json>;
    properties: { it: Json };
  };
  for (const [name, { id: _, ...definition }] of Object.entries($defs ?? {})) {
    schemas.set(name, tidy(definition, use));
  }
  return tidy(properties.it, use);
}

function tidy({ accepts, addition, ...found }: Json, use: SchemaUse): Json {
  const derived = addition ? { ...found, description: `${found.description} ${ADDITION}` } : found;
  const { type, pattern, ...annotations } = derived;
  const given = accepts ? { ...annotations, ...(accepts as Json) } : derived;
  const schema: Record<string, unknown> = { ...given };
  const inside = (value: unknown) => (isSchema(value) ? tidy(value, use) : value);
  for (const keyword of ONE) {
    if (keyword in schema) schema[keyword] = inside(schema[keyword]);
  }
  for (const keyword of SEVERAL) {
    if (keyword in schema) schema[keyword] = (schema[keyword] as unknown[]).map(inside);
  }
  if (isSchema(schema.properties)) {
    const required = new Set(schema.required as string[] | undefined);
    schema.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, member]) => {
        const tidied = tidy(member as Json, use);
        const isOptional = use === 'body' && schema.type === 'object' && !required.has(name);
        return [name, isOptional ? orNull(tidied) : tidied];
      }),
    );
  }
  return withoutNesting(withRulesAside(withSize(schema)));
}

/** Says that whole numbers have 64 bits: without it, generated clients read times into 32 (docs/decisions.md 167). */
function withSize(schema: Json): Json {
  return [schema.type].flat().includes('integer') ? { ...schema, format: 'int64' } : schema;
}

/**
 * Puts the rules between the members of an object (`src/http/body-rules.ts`) behind a condition that no object
 * meets. It says the same as `allOf` alone, but generators that mix the types of a schema with those of its `allOf` or
 * `not` pass it over (docs/decisions.md 167).
 */
function withRulesAside({ allOf, ...schema }: Json): Json {
  if (!Array.isArray(allOf)) return schema;
  if (schema.properties === undefined) return { ...schema, allOf };
  return { ...schema, if: { not: { type: 'object' } }, else: { allOf } };
}

/** Replaces `anyOf` of a schema and null by one schema that allows null. */
function withoutNesting(schema: Json): Json {
  const { anyOf, ...outer } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2 || !isNull(anyOf[1])) return schema;
  const [inner] = anyOf as [Json, Json];
  return '$ref' in inner ? schema : orNull({ ...inner, ...outer });
}

function orNull(schema: Json): Json {
  const { type, enum: values, anyOf } = schema;
  if (Array.isArray(anyOf)) {
    return anyOf.some(isNull) ? schema : { ...schema, anyOf: [...anyOf, NULL] };
  }
  if (typeof type !== 'string' || 'const' in schema) {
    if (Array.isArray(type)) return schema;
    const { description, default: fallback, ...described } = schema;
    return {
      ...(description ? { description } : {}),
      ...(fallback === undefined ? {} : { default: fallback }),
      anyOf: [described, NULL],
    };
  }
  return {
    ...schema,
    type: [type, 'null'],
    ...(Array.isArray(values) ? { enum: [...values, null] } : {}),
  };
}

function isSchema(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isNull(schema: unknown): boolean {
  return isSchema(schema) && schema.type === 'null';
}
