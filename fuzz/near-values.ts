import { resolveSchema, type Schema } from './json-schema.ts';
import { fittingValue, type ValueSources } from './values.ts';

/** Returns values at the limits of a schema, just inside and just outside of them, and values of other types. */
export function nearValues(sources: ValueSources, given: Schema, name: string): unknown[] {
  const schema = resolveSchema(given, sources.document);
  const forms = (schema.anyOf ?? schema.oneOf) as readonly Schema[] | undefined;
  if (forms) return [...forms.flatMap((form) => nearValues(sources, form, name)), ...AMOUNTS];
  const types = [schema.type].flat();
  return [
    ...OTHER_TYPES,
    ...(Array.isArray(schema.enum) ? enumValues(schema.enum) : []),
    ...(types.includes('integer') ? integers(schema) : []),
    ...(types.includes('string') ? texts(sources, schema, name) : []),
    ...(types.includes('boolean') ? ['true', 0, 1] : []),
    ...(types.includes('array') ? lists(sources, schema, name) : []),
    ...(types.includes('object') ? objects(sources, schema) : []),
  ];
}

const OTHER_TYPES: readonly unknown[] = [null, true, 7, 1.5, 'x', '', [], {}, [null]];

const AMOUNTS: readonly unknown[] = [
  ...['0', '0.0', '0.000', '0.001', '00.5', '1.000', '1.0001', '0000000000000001', '1e3', '-1'],
  ...['4999.999', '5000', '05000', '00000000000000001', '+1', '.5', '1.', ' 1', '١'],
  ...['2099999999999999.999', '2100000000000000', '2100000000000000.000'],
  ...['2100000000000000.001', '2100000000000001', '9999999999999999'],
  ...[0, 1, 4999, 5000, 2_100_000_000_000_000, 2_100_000_000_000_001, -1, 0.5, 1e21],
];

function enumValues(values: readonly unknown[]): unknown[] {
  const [first] = values;
  return [...values, String(first).toUpperCase(), `${first} `, [first]];
}

function integers({ minimum, maximum }: Schema): unknown[] {
  return [minimum, maximum].flatMap((bound) =>
    typeof bound === 'number' ? [bound - 1, bound, bound + 1, bound + 0.5, String(bound)] : [],
  );
}

function texts(sources: ValueSources, schema: Schema, name: string): unknown[] {
  const fitting = String(fittingValue(sources, { ...schema, type: 'string' }, name));
  const lengths = [schema.minLength, schema.maxLength].flatMap((length) =>
    typeof length === 'number' ? [length - 1, length, length + 1].filter((one) => one >= 0) : [],
  );
  const broken = [fitting.toUpperCase(), fitting.slice(1), `${fitting}0`, ` ${fitting}`];
  return [
    ...lengths.map((length) => 'a'.repeat(length)),
    // These have the same number of characters and more bytes.
    ...lengths.flatMap((length) => ['é'.repeat(length), '😀'.repeat(length)]),
    '\ud800',
    ...broken,
    `-${fitting}`,
    fitting.replace(/[0-9a-f]/, 'g'),
  ];
}

function lists(sources: ValueSources, schema: Schema, name: string): unknown[] {
  const item = () => fittingValue(sources, (schema.items ?? {}) as Schema, name);
  const most = Number(schema.maxItems ?? 3);
  return [
    [item(), null],
    [item(), item()],
    Array.from({ length: most }, item),
    Array.from({ length: most + 1 }, item),
    item(),
  ];
}

function objects(sources: ValueSources, schema: Schema): unknown[] {
  const { dice } = sources;
  const members = (schema.properties ?? {}) as Readonly<Record<string, Schema>>;
  const whole = Object.fromEntries(
    Object.entries(members).map(([name, member]) => [name, fittingValue(sources, member, name)]),
  );
  const [name, member = {}] = dice.pick(Object.entries({ none: {}, ...members }));
  const { [name]: _, ...without } = whole;
  return [
    whole,
    without,
    { ...whole, unknown_member: 1 },
    { ...whole, [name]: dice.pick(nearValues(sources, member, name)) },
  ];
}
