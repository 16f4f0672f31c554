import { isDeepStrictEqual } from 'node:util';

/** A JSON schema as the OpenAPI document holds it. */
export type Schema = Readonly<Record<string, unknown>>;

/** Keywords that say nothing about whether a value is valid. */
const ANNOTATIONS = new Set([
  'description',
  'examples',
  'example',
  'default',
  'format',
  'title',
  'x-unit',
  // JSON Schema has no keyword that counts bytes. Callers that need this limit check it themselves.
  'x-max-bytes',
]);

/**
 * Returns the first thing that is wrong with a value by a JSON schema (draft 2020-12, the keywords that the document
 * uses), or null. Throws for any other keyword, so that no rule is left out silently.
 */
export function schemaProblem(
  value: unknown,
  schema: Schema,
  root: Schema,
  path = '$',
): string | null {
  for (const [keyword, given] of Object.entries(schema)) {
    if (ANNOTATIONS.has(keyword)) continue;
    const check = CHECKS[keyword];
    if (!check) throw new Error(`the schema keyword ${keyword} is not known here`);
    const problem = check(value, given as never, { schema, root, path });
    if (problem !== null) return problem;
  }
  return null;
}

/** Returns the schema itself, or the one that it refers to. */
export function resolveSchema(schema: Schema, root: Schema): Schema {
  const { $ref } = schema;
  if (typeof $ref !== 'string') return schema;
  let found: unknown = root;
  for (const part of $ref.slice(2).split('/')) found = (found as Record<string, unknown>)[part];
  return resolveSchema(found as Schema, root);
}

interface At {
  readonly schema: Schema;
  readonly root: Schema;
  readonly path: string;
}
type Check = (value: unknown, given: never, at: At) => string | null;

const ok = (holds: boolean, at: At, rule: string) => (holds ? null : `${at.path} ${rule}`);

const CHECKS: Readonly<Record<string, Check>> = {
  $ref: (value, given: string, { root, path }) =>
    schemaProblem(value, resolveSchema({ $ref: given }, root), root, path),
  type: (value, given: string | readonly string[], at) =>
    ok(
      [given].flat().some((type) => hasType(value, type)),
      at,
      `is not ${[given].flat().join(' or ')}`,
    ),
  const: (value, given: unknown, at) =>
    ok(isDeepStrictEqual(value, given), at, `is not ${JSON.stringify(given)}`),
  enum: (value, given: readonly unknown[], at) =>
    ok(given.includes(value), at, 'is not one of those listed'),
  pattern: (value, given: string, at) =>
    ok(
      typeof value !== 'string' || new RegExp(given, 'u').test(value),
      at,
      `does not match ${given}`,
    ),
  minLength: (value, given: number, at) =>
    ok(typeof value !== 'string' || [...value].length >= given, at, 'is too short'),
  maxLength: (value, given: number, at) =>
    ok(typeof value !== 'string' || [...value].length <= given, at, 'is too long'),
  minimum: (value, given: number, at) =>
    ok(typeof value !== 'number' || value >= given, at, 'is too small'),
  maximum: (value, given: number, at) =>
    ok(typeof value !== 'number' || value <= given, at, 'is too large'),
  minItems: (value, given: number, at) =>
    ok(!Array.isArray(value) || value.length >= given, at, 'is too short'),
  maxItems: (value, given: number, at) =>
    ok(!Array.isArray(value) || value.length <= given, at, 'is too long'),
  items: (value, given: Schema, { root, path }) =>
    Array.isArray(value)
      ? first(value.map((item, i) => schemaProblem(item, given, root, `${path}[${i}]`)))
      : null,
  required: (value, given: readonly string[], at) =>
    first(
      given.map((name) => ok(!isObject(value) || Object.hasOwn(value, name), at, `lacks ${name}`)),
    ),
  properties: (value, given: Readonly<Record<string, Schema>>, { root, path }) =>
    isObject(value)
      ? first(
          Object.entries(given).map(([name, schema]) =>
            Object.hasOwn(value, name)
              ? schemaProblem(value[name], schema, root, `${path}.${name}`)
              : null,
          ),
        )
      : null,
  additionalProperties: (value, given: Schema | boolean, { schema, root, path }) => {
    if (!isObject(value) || given === true) return null;
    const known = new Set(Object.keys((schema.properties ?? {}) as object));
    return first(
      Object.entries(value)
        .filter(([name]) => !known.has(name))
        .map(([name, member]) =>
          given === false
            ? `${path} has the undocumented member ${name}`
            : schemaProblem(member, given, root, `${path}.${name}`),
        ),
    );
  },
  propertyNames: (value, given: Schema, { root, path }) =>
    isObject(value)
      ? first(
          Object.keys(value).map((name) => schemaProblem(name, given, root, `${path} member name`)),
        )
      : null,
  not: (value, given: Schema, { root, path }) =>
    schemaProblem(value, given, root, path) === null ? `${path} is what it may not be` : null,
  if: (value, given: Schema, { schema, root, path }) =>
    schemaProblem(value, given, root, path) === null
      ? null
      : schemaProblem(value, (schema.else ?? {}) as Schema, root, path),
  // Checked by the `if` beside it.
  else: () => null,
  allOf: (value, given: readonly Schema[], { root, path }) =>
    first(given.map((schema) => schemaProblem(value, schema, root, path))),
  anyOf: (value, given: readonly Schema[], { root, path }) =>
    matching(value, given, root, path, (count) => count > 0),
  oneOf: (value, given: readonly Schema[], { root, path }) =>
    matching(value, given, root, path, (count) => count === 1),
};

function matching(
  value: unknown,
  schemas: readonly Schema[],
  root: Schema,
  path: string,
  enough: (count: number) => boolean,
): string | null {
  const problems = schemas.map((schema) => schemaProblem(value, schema, root, path));
  const fit = problems.filter((problem) => problem === null).length;
  return enough(fit)
    ? null
    : `${path} fits ${fit} of ${schemas.length} forms: ${problems.join(', ')}`;
}

function first(problems: readonly (string | null)[]): string | null {
  return problems.find((problem) => problem !== null) ?? null;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function hasType(value: unknown, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'null') return value === null;
  return type === 'object' ? isObject(value) : typeof value === type;
}
