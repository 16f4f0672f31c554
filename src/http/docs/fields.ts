import { oneOf } from '../input/words.ts';
import type { Parameter, Schema } from './document.ts';
import { code, prose, table, text } from './html.ts';

/** The largest whole number that every JSON reader holds exactly. As a maximum it is not shown. */
const NO_LIMIT = Number.MAX_SAFE_INTEGER;

/**
 * Returns the table of the members of a body or an answer. Members of nested objects follow their object. The result is
 * empty for a schema without members.
 */
export function memberTable(schema: Schema, use: Use): string {
  const rows = memberRows(schema, use);
  return rows.length === 0 ? '' : table(['field', 'type', 'meaning'], rows);
}

/** Returns the rows of {@link memberTable}: name, type and meaning, in HTML. */
export function memberRows(schema: Schema, use: Use): string[][] {
  return membersOf(schema, '', use);
}

/** Returns the table of the parameters in one place: path, query or headers. */
export function parameterTable(parameters: readonly Parameter[]): string {
  return table(['name', 'type', 'meaning'], parameterRows(parameters));
}

/** Returns the rows of {@link parameterTable}. */
export function parameterRows(parameters: readonly Parameter[]): string[][] {
  return parameters.map(({ name, required, schema, description }) =>
    row(name, required, { ...schema, description }, 'request'),
  );
}

/** Returns the id of the page's section about a named schema. */
export function schemaAnchor(name: string): string {
  return `schema-${name}`;
}

type Use = 'request' | 'answer';

function membersOf(schema: Schema, prefix: string, use: Use): string[][] {
  const forms = schema.oneOf ?? schema.anyOf;
  if (forms && !schema.properties) return formsOf(forms, prefix, use);
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const required = schema.required?.includes(name) ?? false;
    const path = `${prefix}${name}`;
    return [row(path, required, member, use), ...insideOf(member, path, use)];
  });
}

/** Merges the members of alternative forms of an object. A member that several forms have gets one row. */
function formsOf(forms: readonly Schema[], prefix: string, use: Use): string[][] {
  const seen = new Map<string, string[]>();
  for (const form of forms) {
    for (const cells of membersOf(form, prefix, use)) {
      const [name = '', type = '', meaning = ''] = cells;
      const before = seen.get(name);
      if (!before) seen.set(name, [...cells]);
      else if (!before[1]?.includes(type))
        seen.set(name, [name, `${before[1]} or ${type}`, meaning]);
    }
  }
  return [...seen.values()];
}

function insideOf(member: Schema, path: string, use: Use): string[][] {
  if (member.$ref) return [];
  if (member.properties) return membersOf(member, `${path}.`, use);
  return member.items && !member.items.$ref ? membersOf(member.items, `${path}[].`, use) : [];
}

function row(name: string, required: boolean, schema: Schema, use: Use): string[] {
  const star = use === 'request' && required ? ' <abbr title="required">*</abbr>' : '';
  const meaning =
    schema.description ?? (schema.$ref ? `See ${schema.$ref.split('/').at(-1)}.` : '');
  return [`${wrapping(name)}${star}`, typeOf(schema, use), `${prose(meaning)}${limits(schema)}`];
}

/** Lets a long name wrap between its parts and nowhere else. */
function wrapping(name: string): string {
  return code(name).replaceAll('.', '.<wbr>').replaceAll('_', '_<wbr>');
}

/** Returns the type of a value in words. Of requests it leaves out null, which every optional field may be. */
export function typeOf(schema: Schema, use: Use): string {
  const names = [...new Set(namesOf(schema, use))];
  const known = names.filter(
    // An amount may also be written as a whole number, so "integer" need not be shown beside it.
    (name) =>
      (use === 'answer' || name !== 'null') &&
      !(name === 'whole number' && names.includes('amount')),
  );
  return known.length === 0 ? 'null' : oneOf(known);
}

function namesOf(schema: Schema, use: Use): string[] {
  if (schema.$ref) return [link(schema.$ref.split('/').at(-1) ?? '')];
  if (schema.const !== undefined) return [code(JSON.stringify(schema.const))];
  if (schema.enum)
    return schema.enum.map((value) => (value === null ? 'null' : code(String(value))));
  const forms = schema.anyOf ?? schema.oneOf;
  if (forms) return forms.flatMap((form) => namesOf(form, use));
  return [schema.type ?? 'any value'].flat().map((type) => nameOf(type, schema, use));
}

function nameOf(type: string, schema: Schema, use: Use): string {
  switch (type) {
    case 'string':
      if (schema['x-unit'] === 'sat') return 'amount';
      return hexBytes(schema.pattern) ? 'hex' : 'text';
    case 'integer':
      return 'whole number';
    case 'boolean':
      return 'true or false';
    case 'array':
      return `list of ${schema.items ? typeOf(schema.items, use) : 'any value'}`;
    case 'object':
      return typeof schema.additionalProperties === 'object' &&
        Object.keys(schema.additionalProperties).length > 0
        ? `object of ${typeOf(schema.additionalProperties, use)}`
        : 'object';
    default:
      return text(type);
  }
}

function link(name: string): string {
  return `<a href="#${schemaAnchor(name)}">${text(name)}</a>`;
}

function limits(schema: Schema): string {
  const { minimum, maximum, minLength, maxLength, maxItems, pattern } = schema;
  const whole = schema.anyOf?.find(({ type }) => type === 'integer');
  const facts = [
    range(minimum, maximum, ''),
    whole?.minimum !== undefined && whole.minimum > 1 ? `at least ${whole.minimum}` : '',
    range(minLength, maxLength, ' characters'),
    schema['x-max-bytes'] === undefined ? '' : `at most ${schema['x-max-bytes']} bytes of UTF-8`,
    maxItems === undefined ? '' : `at most ${maxItems}`,
    hexBytes(pattern) ? `${hexBytes(pattern)} characters` : '',
    schema.default == null ? '' : `default ${code(String(schema.default))}`,
  ].filter(Boolean);
  return facts.length === 0 ? '' : ` <small>${facts.join('; ')}</small>`;
}

function range(least: number | undefined, most: number | undefined, unit: string): string {
  const upper = most === NO_LIMIT ? undefined : most;
  if (least !== undefined && upper !== undefined) return `${least} to ${upper}${unit}`;
  if (upper !== undefined) return `at most ${upper}${unit}`;
  return least !== undefined && least > 1 ? `at least ${least}${unit}` : '';
}

/** Returns the number of characters of a hex text whose pattern fixes its length; undefined for other patterns. */
function hexBytes(pattern: string | undefined): string | undefined {
  return /^\^\[0-9a-f(?:A-F)?\]\{(\d+)\}\$$/.exec(pattern ?? '')?.[1];
}
