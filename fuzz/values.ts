import type { Dice } from './dice.ts';
import { resolveSchema, type Schema } from './json-schema.ts';
import type { Pool, PoolName } from './pool.ts';
import { mutateText, nastyText, randomText } from './text.ts';
import { VECTORS } from './vectors.ts';

/** The sources of values. */
export interface ValueSources {
  readonly dice: Dice;
  readonly pool: Pool;
  /** The OpenAPI document. */
  readonly document: Schema;
  /** Secrets that are put where they do not belong, as a careless caller may do. */
  readonly secrets: readonly string[];
}

const AMOUNTS = ['1', '2', '10', '100', '1000', '0.5', '1.001', '5000', '20000', 7];
const DEEP = 20_000;

/** Returns a value that fits the schema, often one that exists in this wallet under the field's name. */
export function fittingValue(sources: ValueSources, schema: Schema, name: string): unknown {
  return (
    namedValue(sources, name) ??
    valueBySchema(sources, resolveSchema(schema, sources.document), name)
  );
}

function namedValue(sources: ValueSources, name: string): unknown {
  const { dice } = sources;
  if (/amount|^value$|_fee$|max_payment/.test(name)) return dice.pick(AMOUNTS);
  const list = POOLED[name];
  if (list) return pooled(sources, dice.pick(list));
  switch (name) {
    case 'payable':
    case 'payment_string':
      return paymentString(sources);
    case 'timeout_secs':
      return dice.chance(0.9) ? '0' : '1';
    case 'expiration_secs':
      return dice.pick([1, 60, 3600, 86_400]);
    case 'advance_secs':
      return dice.below(600);
    case 'count':
      return 1 + dice.below(3);
    case 'username':
      return `fuzz-${dice.below(10_000)}`;
    case 'url':
      // A port of this machine at which nobody listens.
      return 'http://127.0.0.1:9/hook';
    case 'behavior':
      return dice.pick(['settle', 'settle', 'settle', 'settle', 'fail', 'hold']);
    case 'expires_at':
      return 4_000_000_000_000 + dice.below(1000);
    default:
      return undefined;
  }
}

const POOLED: Readonly<Record<string, readonly PoolName[]>> = {
  index: ['index', 'open_index', 'proof_index'],
  after: ['index'],
  start_index: ['updated_index'],
  invoice: ['invoice'],
  offer: ['offer'],
  address: ['address'],
  lnurl: ['lnurl', 'lnurl', 'lightning_address'],
  client_pk: ['client_pk'],
  channel_id: ['channel_id'],
  payment_hash: ['payment_hash'],
  node_pk: ['node_pk'],
  txid: ['txid'],
  proof: ['proof'],
  id: ['id', 'endpoint'],
  endpoint: ['endpoint'],
  before: ['id'],
};

function pooled({ dice, pool }: ValueSources, name: PoolName): unknown {
  const values = pool.values(name);
  return values.length === 0 ? undefined : dice.pick(values);
}

const PAYABLE: readonly PoolName[] = [
  'invoice',
  'invoice',
  'offer',
  'address',
  'lnurl',
  'human_bitcoin_address',
  'node_pk',
];

/** Returns a payment string of this run or of the vectors, unchanged or with some characters changed. */
export function paymentString(sources: ValueSources): string {
  const { dice } = sources;
  const own = pooled(sources, dice.pick(PAYABLE));
  const text =
    typeof own === 'string' && dice.chance(0.7) ? own : dice.pick(Object.values(VECTORS).flat());
  if (dice.chance(0.3)) return mutateText(dice, text);
  return dice.chance(0.1)
    ? `bitcoin:?amount=0.0000${dice.below(10)}&lightning=${text}&lno=${text}`
    : text;
}

function valueBySchema(sources: ValueSources, schema: Schema, name: string): unknown {
  const { dice, document } = sources;
  if (Array.isArray(schema.enum)) return dice.pick(schema.enum);
  if ('const' in schema) return schema.const;
  const forms = (schema.anyOf ?? schema.oneOf) as readonly Schema[] | undefined;
  if (forms)
    return valueBySchema(
      sources,
      resolveSchema(dice.chance(0.8) ? (forms[0] ?? {}) : dice.pick(forms), document),
      name,
    );
  switch ([schema.type].flat()[0]) {
    case 'object':
      return Object.fromEntries(fittingMembers(sources, schema));
    case 'array':
      return Array.from({ length: dice.below(4) }, () =>
        fittingValue(sources, (schema.items ?? {}) as Schema, name),
      );
    case 'integer':
    case 'number':
      return numberBetween(dice, Number(schema.minimum ?? 0), Number(schema.maximum ?? 1e6));
    case 'boolean':
      return dice.chance(0.5);
    case 'string':
      return stringBySchema(dice, schema);
    default:
      return null;
  }
}

/** How likely a body has a field that is not required: fields of one body often exclude each other. */
const DENSITIES = [0, 0.1, 0.35, 0.7];

/** Returns fields of an object: the required ones, and some of the others. */
export function fittingMembers(sources: ValueSources, schema: Schema): [string, unknown][] {
  const { dice } = sources;
  const required = new Set((schema.required ?? []) as readonly string[]);
  const density = dice.pick(DENSITIES);
  return Object.entries((schema.properties ?? {}) as Readonly<Record<string, Schema>>)
    .filter(
      ([name]) =>
        required.has(name) || dice.chance(POOLED[name] || name === 'payable' ? 0.85 : density),
    )
    .map(([name, member]) => [name, fittingValue(sources, member, name)]);
}

function numberBetween(dice: Dice, least: number, most: number): number {
  if (dice.chance(0.2)) return least;
  return dice.chance(0.02) ? most : least + dice.below(Math.min(most - least, 100) + 1);
}

function stringBySchema(dice: Dice, { pattern, minLength, examples }: Schema): string {
  const hex = /\{(\d+)\}\$$/.exec(String(pattern ?? ''))?.[1];
  if (hex) return Buffer.from(dice.bytes(Number(hex) / 2)).toString('hex');
  const [example] = (examples ?? []) as readonly unknown[];
  if (typeof example === 'string' && dice.chance(0.5)) return example;
  return randomText(dice, Number(minLength ?? 1) + dice.below(20)).toWellFormed();
}

/** Fields that answers repeat as they were given. A secret in them would be shown without any fault of the sidecar. */
const SHOWN_AGAIN = /note|description|message|label|name|pad|id$|hash/;

/** Returns the JSON text of an unexpected value for a field. It may be a secret where the value is only read. */
export function nastyJson({ dice, secrets }: ValueSources, name: string): string {
  switch (dice.below(12)) {
    case 0:
      return dice.pick([
        'null',
        'true',
        'false',
        '[]',
        '{}',
        '[[]]',
        '[null]',
        '{"":null}',
        '{"__proto__":{"a":1}}',
      ]);
    case 1:
      return dice.pick([
        '0',
        '-0',
        '-1',
        '1.5',
        '1e308',
        '1e309',
        '-1e309',
        '9007199254740993',
        '1e-7',
        '123456789012345678901234567890',
        '2147483648',
        '4294967296',
        '253402300800000',
      ]);
    case 2:
      return dice.pick([
        'NaN',
        'Infinity',
        'undefined',
        "'a'",
        '01',
        '+1',
        '.5',
        '1.',
        '0x1',
        '"\\ud800"',
        '"\\u0000"',
        '"\\x41"',
        '"\t"',
        '"unterminated',
      ]);
    case 3:
      return dice.chance(0.1)
        ? `${'['.repeat(DEEP)}${']'.repeat(DEEP)}`
        : `${'{"a":'.repeat(500)}1${'}'.repeat(500)}`;
    case 4:
      return JSON.stringify('x'.repeat(dice.pick([201, 513, 640, 8001, 20_001, 100_001])));
    case 5:
      return JSON.stringify(
        Array.from({ length: dice.pick([101, 1000, 5000]) }, () => dice.below(10)),
      );
    case 6:
      return JSON.stringify(SHOWN_AGAIN.test(name) ? nastyText(dice) : dice.pick(secrets));
    default:
      return JSON.stringify(nastyText(dice));
  }
}
