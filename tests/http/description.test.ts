import { describe, expect, test } from 'bun:test';
import { openApiDocument } from '../../src/http/openapi/document.ts';
import { responsesOf } from '../../src/http/openapi/responses.ts';
import type { Route } from '../../src/http/route.ts';
import { ROUTES, SANDBOX_ROUTES } from '../../src/http/routes/index.ts';
import { SCOPE_NAMES, SCOPES } from '../../src/model/clients/permissions.ts';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly [keyword: string]: unknown;
}
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description: string;
  readonly schema: Schema;
}
interface Operation {
  readonly operationId: string;
  readonly description: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly headers?: object;
        readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
      }
    >
  >;
}

const routes = [...ROUTES, ...SANDBOX_ROUTES];
const document = openApiDocument(routes, {
  version: '0',
  serverUrl: 'http://127.0.0.1:5393',
}) as unknown as {
  readonly info: { readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

function operation(method: string, path: string): Operation {
  const found = document.paths[path]?.[method];
  if (!found) throw new Error(`${method} ${path} is described`);
  return found;
}

function bodyOf(method: string, path: string): Schema {
  return operation(method, path).requestBody?.content['application/json']?.schema ?? {};
}

function headersOf(method: string, path: string): string[] {
  const { parameters = [] } = operation(method, path);
  return parameters.filter((one) => one.in === 'header').map(({ name }) => name);
}

function query(path: string, name: string): Schema | undefined {
  return operation('get', path).parameters?.find((one) => one.name === name)?.schema;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null;
}

/** Returns the names of members without a description, in a schema and everything inside it. */
function unexplained(schema: Schema | undefined, path: string): string[] {
  const { properties = {}, items, anyOf = [], oneOf = [], additionalProperties } = schema ?? {};
  const members = Object.entries(properties).flatMap(([name, member]) => [
    // The schema that is referred to has a description of its own.
    ...(member.description || member.$ref ? [] : [`${path}.${name}`]),
    ...unexplained(member, `${path}.${name}`),
  ]);
  const inside = [items, additionalProperties, ...anyOf, ...oneOf].filter(isSchema);
  return [...members, ...inside.flatMap((one) => unexplained(one, path))];
}

describe('the OpenAPI document', () => {
  test('says which permissions each scope grants, to a program that reads nothing else', () => {
    const words = document.info.description;
    for (const scope of SCOPE_NAMES) {
      const granted = SCOPES[scope].map((name) => `\`${name}\``).join(', ');
      expect(words).toContain(`\`${scope}\` grants ${scope === 'full' ? 'all' : granted}`);
    }
  });

  test('says of every field what it means', () => {
    const { schemas } = document.components;
    const missing = [
      ...Object.entries(schemas).flatMap(([name, schema]) => [
        ...(schema.description ? [] : [name]),
        ...unexplained(schema, name),
      ]),
      ...operations.flatMap(({ path, operation: { parameters = [], requestBody, responses } }) => [
        ...parameters.filter((one) => !one.description).map(({ name }) => `${path}?${name}`),
        ...unexplained(requestBody?.content['application/json']?.schema, path),
        ...Object.values(responses).flatMap(({ content = {} }) =>
          Object.values(content).flatMap(({ schema }) => unexplained(schema, path)),
        ),
      ]),
    ];
    expect(missing).toEqual([]);
  });

  test('has error 7 for every endpoint, which a query parameter given twice gets everywhere', () => {
    const without = routes.filter(
      (route) => !route.answersAtDomain && !('400' in responsesOf(route, new Map())),
    );
    expect(without.map(({ path }) => path)).toEqual([]);
  });

  test('says of additions in a whole sentence that other servers may not have them', () => {
    const sentence = /\.\s+An addition: other servers of this API may not have it\./;
    const { properties = {} } = bodyOf('post', '/v2/node/create_invoice');
    expect(properties.payment_hash?.description).toMatch(sentence);
    expect(properties.description?.description).not.toMatch(sentence);
    const rail = operation('get', '/v2/node/list_payments').parameters?.find(
      ({ name }) => name === 'rail',
    );
    expect(rail?.description).toMatch(sentence);
    expect(document.components.schemas.Budget?.description).toMatch(sentence);
    expect(operation('post', '/v2/node/settle_invoice').description).toMatch(sentence);
    expect(document.webhooks['payment.held']?.post.description).toMatch(sentence);
    // The mark of a field becomes that sentence, and is no keyword of its schema.
    expect(JSON.stringify(document)).not.toMatch(/"addition":|Addition\./);
  });

  test('names every operation once', () => {
    const ids = operations.map(({ operation: { operationId } }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('says of whole numbers in the query that they are, with bounds and default', () => {
    const limit = query('/v2/node/list_payments', 'limit');
    expect(limit).toEqual({
      type: 'integer',
      format: 'int64',
      minimum: 1,
      maximum: 1000,
      default: 100,
    });
    expect(query('/v2/node/wait_for_payment', 'timeout_secs')).toEqual({
      type: 'integer',
      format: 'int64',
      minimum: 0,
    });
    expect(query('/v2/node/list_payments', 'since')).toMatchObject({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
    });
  });

  test('says of amounts that they are text or a whole number, above zero where zero is rejected', () => {
    const { properties } = bodyOf('post', '/v2/node/pay_invoice');
    const [text, whole, none] = properties?.fallback_amount?.anyOf ?? [];
    expect(text).toMatchObject({ type: 'string', not: { pattern: expect.any(String) } });
    expect(whole).toEqual({
      type: 'integer',
      format: 'int64',
      minimum: 1,
      maximum: 2_100_000_000_000_000,
    });
    expect(none).toEqual({ type: 'null' });
    const [anyText, anyWhole] = properties?.max_fee?.anyOf ?? [];
    expect(anyText).not.toHaveProperty('not');
    expect(anyWhole).toMatchObject({ minimum: 0 });
    const purchase = bodyOf('post', '/v2/node/buy_with_payment_app').properties?.amount?.anyOf;
    expect(purchase?.[1]).toMatchObject({ minimum: 5000 });
  });

  test('has the lengths of texts, and the limits in bytes', () => {
    const { properties } = bodyOf('post', '/v2/node/create_invoice');
    expect(properties?.personal_note).toMatchObject({
      type: ['string', 'null'],
      minLength: 1,
      maxLength: 200,
      'x-max-bytes': 512,
    });
    expect(properties?.description).toMatchObject({ maxLength: 639, 'x-max-bytes': 639 });
    expect(properties?.expiration_secs).toMatchObject({ default: 86_400, maximum: 604_800 });
  });

  test('lets every optional field of a body be null, and no other', () => {
    let compared = 0;
    for (const { path, operation: described } of operations) {
      const { properties = {}, required = [] } =
        described.requestBody?.content['application/json']?.schema ?? {};
      for (const [name, { type, anyOf = [] }] of Object.entries(properties)) {
        const nullable = [type].flat().includes('null') || anyOf.some((one) => one.type === 'null');
        expect(`${path} ${name} ${nullable}`).toBe(
          `${path} ${name} ${!(required as string[]).includes(name)}`,
        );
        compared++;
      }
    }
    expect(compared).toBeGreaterThan(100);
  });

  test('requires a body exactly where an empty one is rejected', () => {
    const needed = operations
      .filter(({ operation: { requestBody } }) => requestBody?.required)
      .map(({ path }) => path);
    expect(needed).toContain('/v2/node/pay_invoice');
    expect(needed).toContain('/v2/webhooks/redeliver');
    expect(needed).not.toContain('/v2/node/create_invoice');
    // The body of `pay` needs nothing, because the query may hold it.
    expect(needed).not.toContain('/v2/node/pay');
  });

  test('has the headers that requests take', () => {
    expect(headersOf('post', '/v2/node/pay')).toEqual(['Idempotency-Key', 'Prefer']);
    expect(headersOf('post', '/v2/node/create_client')).toEqual(['Idempotency-Key']);
    expect(headersOf('get', '/v2/node/events')).toEqual(['Last-Event-ID']);
    expect(headersOf('put', '/v2/node/update_client')).toEqual([]);
  });

  test('has every status that an endpoint can be answered with, and the headers of each', () => {
    const { responses } = operation('post', '/v2/node/pay');
    expect(Object.keys(responses)).toEqual(
      '200 202 400 401 403 404 405 413 414 415 422 431 500 501 502 503 504'.split(' '),
    );
    expect(Object.keys(responses['401']?.headers ?? {})).toContain('WWW-Authenticate');
    expect(Object.keys(responses['503']?.headers ?? {})).toContain('Retry-After');
    expect(Object.keys(responses['200']?.headers ?? {})).toEqual(['X-Ignored-Fields']);
    const health = operation('get', '/v2/health');
    expect(Object.keys(health.responses)).toEqual('200 400 403 405 414 431 500'.split(' '));
  });

  test('is told by a route only of errors that do not follow from the rest of it', () => {
    const responses = (route: Route) => JSON.stringify(responsesOf(route, new Map()));
    const idle = routes.flatMap((route) =>
      (route.errors ?? [])
        .filter((name) => {
          const errors = route.errors?.filter((other) => other !== name) ?? [];
          return responses({ ...route, errors }) === responses(route);
        })
        .map((name) => `${route.path} ${name}`),
    );
    expect(idle).toEqual([]);
  });

  test('describes the webhook with its signing headers and its payload', () => {
    const { post } = document.webhooks['payment.finalized'] ?? {};
    expect(post?.parameters?.map(({ name }) => name)).toEqual([
      'webhook-id',
      'webhook-timestamp',
      'webhook-signature',
    ]);
    expect(post?.requestBody?.content['application/json']?.schema).toEqual({
      $ref: '#/components/schemas/PaymentFinalized',
    });
  });
});
