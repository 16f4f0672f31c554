import { type Schema, schemaProblem } from './json-schema.ts';
import { nearValues } from './near-values.ts';
import type { Operation } from './operations.ts';
import { fittingMembers, fittingValue, type ValueSources } from './values.ts';

/** A request made from a schema, and what is wrong with it by that schema. */
export interface VerdictRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** The body; undefined: an empty one. */
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
  /** The first thing that is wrong by the schema; null where it accepts the request. */
  readonly problem: string | null;
  /** Every text in it. */
  readonly texts: readonly string[];
}

/** Returns a request that fits the schema; most have one value at a limit of the schema or just beyond it. */
export function verdictRequest(sources: ValueSources, operation: Operation): VerdictRequest {
  const { dice } = sources;
  const query = queryOf(sources, operation);
  const body = operation.body === null ? undefined : bodyOf(sources, operation.body);
  const headers = headersOf(sources, operation);
  const places = [
    ...(operation.body ? ['body', 'body', 'body'] : []),
    ...(operation.query.length > 0 ? ['query', 'query'] : []),
    ...(Object.keys(headers).length > 0 ? ['header'] : []),
  ];
  const place = dice.chance(0.8) && places.length > 0 ? dice.pick(places) : 'none';
  const drawn = {
    query: place === 'query' ? nearQuery(sources, operation, query) : query,
    body: place === 'body' ? nearBody(sources, operation.body ?? {}, body) : body,
    headers: place === 'header' ? nearHeader(sources, operation, headers) : headers,
  };
  return {
    ...drawn,
    method: operation.method,
    path: operation.path.replace(/\{\w+\}/, 'satoshi'),
    problem: problemOf(sources.document, operation, drawn),
    texts: textsIn([drawn.query, drawn.body]),
  };
}

type Drawn = Pick<VerdictRequest, 'query' | 'body' | 'headers'>;

function bodyOf(sources: ValueSources, schema: Schema): unknown {
  return Object.fromEntries(fittingMembers(sources, schema));
}

function nearBody(sources: ValueSources, schema: Schema, body: unknown): unknown {
  const { dice } = sources;
  if (dice.chance(0.06)) return dice.pick([undefined, null, [], 'x', 7, {}]);
  const members = Object.entries((schema.properties ?? {}) as Readonly<Record<string, Schema>>);
  const [name, member = {}] = dice.pick([...members, ['unknown_member', {}] as const]);
  const { [name]: _, ...without } = body as Record<string, unknown>;
  if (dice.chance(0.1)) return without;
  return { ...without, [name]: dice.pick(nearValues(sources, member, name)) };
}

function queryOf(sources: ValueSources, { query }: Operation): Record<string, string> {
  const { dice } = sources;
  const given = query.filter(
    // Without `timeout_secs` a wait has no end (docs/api.md, Waiting), so every wait gets one here.
    ({ name, required }) => required || name === 'timeout_secs' || dice.chance(0.3),
  );
  return Object.fromEntries(
    given.map(({ name, schema }) => [name, String(fittingValue(sources, schema, name))]),
  );
}

function nearQuery(
  sources: ValueSources,
  { query }: Operation,
  given: Readonly<Record<string, string>>,
): Record<string, string> {
  const { dice } = sources;
  const { name, schema } = dice.pick(query);
  const { [name]: _, ...without } = given;
  if (dice.chance(0.15)) return without;
  const value = dice.pick(nearValues(sources, schema, name));
  return { ...without, [name]: typeof value === 'object' ? '' : String(value).toWellFormed() };
}

function headersOf({ dice }: ValueSources, { headers }: Operation): Record<string, string> {
  const keyed = headers.some(({ name }) => name === 'Idempotency-Key') && dice.chance(0.2);
  return keyed ? { 'Idempotency-Key': Buffer.from(dice.bytes(8)).toString('hex') } : {};
}

function nearHeader(
  { dice }: ValueSources,
  { headers }: Operation,
  given: Readonly<Record<string, string>>,
): Record<string, string> {
  const { name, schema } = dice.pick(headers.filter((one) => one.name in given));
  const most = Number(schema.maxLength ?? 10);
  return { ...given, [name]: dice.pick(['', 'x'.repeat(most), 'x'.repeat(most + 1), 'caf\xe9']) };
}

function problemOf(document: Schema, operation: Operation, drawn: Drawn): string | null {
  for (const { name, required, schema } of operation.query) {
    const text = drawn.query[name];
    if (text === undefined && required) return `the query lacks ${name}`;
    const problem = text === undefined ? null : textProblem(text, schema, document);
    if (problem) return `query ${name}: ${problem}`;
  }
  for (const { name, schema } of operation.headers) {
    const text = drawn.headers[name];
    const problem = text === undefined ? null : schemaProblem(text, schema, document);
    if (problem) return `header ${name}: ${problem}`;
  }
  if (operation.body === null) return null;
  if (drawn.body === undefined) return operation.bodyRequired ? 'the body is missing' : null;
  return schemaProblem(drawn.body, operation.body, document);
}

/** Returns the value of a parameter for its schema: a text of digits is a number if the schema requires one. */
function textProblem(text: string, schema: Schema, document: Schema): string | null {
  const asText = schemaProblem(text, schema, document);
  if (asText === null || !/^-?\d{1,16}$/.test(text)) return asText;
  return schemaProblem(Number(text), schema, document);
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
