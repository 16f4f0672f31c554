import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { decodeBolt11 } from '../../src/codecs/bolt11/index.ts';
import { type Answer, type Body, expectError } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { test } from './node-test.ts';
import { type ConformanceWorld, openConformanceWorld } from './world.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: ConformanceWorld;
beforeAll(async () => {
  world = await openConformanceWorld();
});
afterAll(() => world.close());

/** Words of the validation library, none of which may reach a caller. */
const VALIDATORS_WORDS = /invalid|expected|received|undefined|too (small|big)|\bzod\b|\/\^/i;

interface BodyRoute {
  readonly method: string;
  readonly path: string;
  readonly example: Body;
  /** The body's schema in the OpenAPI document. */
  readonly schema: Body;
}

/** Resolves to the endpoints with a body in the OpenAPI document. */
async function bodyRoutes(): Promise<BodyRoute[]> {
  const { paths, components } = await world.get('/v2/openapi.json');
  const resolved = (schema: Body): Body =>
    schema?.$ref ? components.schemas[schema.$ref.split('/').at(-1)] : schema;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods as Body).flatMap(([method, operation]) => {
      const content = (operation as Body).requestBody?.content['application/json'];
      if (!content) return [];
      return [{ method, path, example: content.example ?? {}, schema: resolved(content.schema) }];
    }),
  );
}

function ask({ method, path }: BodyRoute, body: unknown): Promise<Answer> {
  return world.call(method.toUpperCase(), path, { body });
}

/** Returns the part of an answer that must be equal for two equal requests. */
function verdict({ status, body }: Answer): unknown {
  return status === 200 || status === 202 ? 'good' : { status, code: body.code, data: body.data };
}

function optionalFields(schema: Body): string[] {
  const required = new Set<string>(schema.required ?? []);
  return Object.keys(schema.properties ?? {}).filter((name) => !required.has(name));
}

describe('null is absent', () => {
  test('as the whole body, which generated clients send in the place of none', async () => {
    for (const route of await bodyRoutes()) {
      const [none, empty] = [await ask(route, null), await ask(route, {})];
      expect([route.path, verdict(none)]).toEqual([route.path, verdict(empty)]);
    }
  });

  test('for every optional field of every endpoint', async () => {
    let tried = 0;
    for (const route of await bodyRoutes()) {
      const optional = optionalFields(route.schema).filter((name) => !(name in route.example));
      const nulls = Object.fromEntries(optional.map((name) => [name, null]));
      const plain = await ask(route, route.example);
      const withNulls = await ask(route, { ...route.example, ...nulls });
      expect({ path: route.path, verdict: verdict(withNulls) }).toEqual({
        path: route.path,
        verdict: verdict(plain),
      });
      tried += optional.length;
    }
    expect(tried).toBeGreaterThan(40);
  });

  test('in update_client, which changes nothing by it', async () => {
    const { client_pk } = await world.post('/v2/node/create_client', {
      label: 'Shop',
      scopes: ['read_info'],
      permissions: null,
      expires_at: null,
      budget: null,
    });
    const { client } = await world.put('/v2/node/update_client', {
      client_pk,
      label: null,
      clear_label: null,
      expires_at: null,
      clear_expiration: null,
      scopes: null,
      permissions: null,
      budget: null,
      clear_budget: null,
    });
    expect(client).toMatchObject({ label: 'Shop', scopes: ['read_info'] });
  });

  test('but clears a personal note, and is missing where a field is required', async () => {
    const { index } = await world.post('/v2/node/create_invoice', { personal_note: 'Lunch' });
    await world.post('/v2/node/update_personal_note', { index, personal_note: null });
    expect((await world.get('/v2/node/payment', { index })).personal_note).toBeNull();
    const answer = await world.call('POST', '/v2/node/update_personal_note', {
      body: { index: null, personal_note: null },
    });
    expectError(answer, 'rejected', /^index: is required$/);
  });

  test('for the idempotency of a request', async () => {
    const headers = { 'idempotency-key': 'null-is-absent' };
    const create = async (body: unknown) =>
      (await world.call('POST', '/v2/node/create_invoice', { body, headers })).body.index;
    expect(await create({ amount: '5' })).toBe(await create({ amount: '5', description: null }));
  });
});

describe('unknown fields are ignored, and named in X-Ignored-Fields', () => {
  const named = (answer: Answer) => answer.headers.get('x-ignored-fields');

  test('in body and query, nested ones by path, never with their values', async () => {
    const answer = await world.call('POST', '/v2/node/create_invoice', {
      query: { 'a b': 'value-1' },
      body: { amt: 'value-2', amount: '1' },
    });
    expect(answer.status).toBe(200);
    expect(named(answer)).toBe('"a%20b", "amt"');
    const nested = await world.call('POST', '/v2/node/create_payer_proof', {
      body: { disclosures: { offer_isuer: true } },
    });
    expectError(nested, 'rejected', /^index: is required$/);
    expect(named(nested)).toBe('"disclosures.offer_isuer"');
  });

  test('where the endpoint takes no input, and not where nothing is unknown', async () => {
    expect(named(await world.call('GET', '/v2/health', { query: { verbose: '1' } }))).toBe(
      '"verbose"',
    );
    expect(named(await world.call('GET', '/v2/health'))).toBeNull();
    expect(
      named(await world.call('GET', '/v2/node/list_payments', { query: { filter: 'all' } })),
    ).toBeNull();
  });

  test('on errors too, and a name that is too long hides no other', async () => {
    const query = { [`${'x'.repeat(1100)}`]: '1', amt: '2' };
    const unknown = await world.call('GET', '/v2/node/node_info', {
      query,
      credentials: 'unknown',
    });
    expectError(unknown, 'unauthenticated');
    expect(named(unknown)).toBe('"amt"');
    const twice = await world.call('GET', '/v2/node/payment?index=a&index=b&foo=1');
    expectError(twice, 'rejected');
    expect(named(twice)).toBe('"foo"');
    const long = await world.call('GET', '/v2/health', { query: { ['x'.repeat(1100)]: '1' } });
    expect(named(long)).toBeNull();
  });

  test('but an unknown field of a client or a budget is error 7: a misspelled limit would be no limit', async () => {
    const create = (body: unknown) => world.call('POST', '/v2/node/create_client', { body });
    expectError(
      await create({ scopes: ['read_info'], expiresat: 1 }),
      'rejected',
      /^expiresat: is not a known field/,
    );
    const budget = { amount: '1', period: 'day', maxpayment: '1' };
    const answer = await create({ scopes: ['read_info'], budget });
    expectError(answer, 'rejected', /^budget\.maxpayment: is not a known field/);
    expect(answer.body.data.issues).toHaveLength(1);
    const update = { client_pk: '00'.repeat(32), lable: 'x' };
    expectError(
      await world.call('PUT', '/v2/node/update_client', { body: update }),
      'rejected',
      /^lable: /,
    );
  });
});

test('a query parameter of a grant is an unknown field: no limit in it is passed over', async () => {
  const answer = await world.call('POST', '/v2/node/create_client', {
    query: { expires_at: '4102444800000' },
    body: { scopes: ['read_info'] },
  });
  expectError(answer, 'rejected', /^expires_at: is not a known field/);
});

test('a query parameter given twice is error 7', async () => {
  expectError(await world.call('GET', '/v2/health?x=1&x=2'), 'rejected', /^x: appears twice/);
  expectError(
    await world.call('GET', '/v2/node/list_payments?filter=all&filter=pending'),
    'rejected',
    /^filter: appears twice in the query/,
  );
  expectError(
    await world.call('POST', '/v2/node/pay?amount=1&amount=1', { body: {} }),
    'rejected',
    /^amount: appears twice in the query/,
  );
});

describe('every rejection speaks in our words', () => {
  test('and names the fields of the caller, at every endpoint', async () => {
    for (const route of await bodyRoutes()) {
      const names = Object.keys(route.schema.properties ?? {});
      const wrong = [
        {},
        ...names.flatMap((name) =>
          [[], {}, true, -1, 1.5, '', 'x'.repeat(30_000)].map((value) => ({
            ...route.example,
            [name]: value,
          })),
        ),
      ];
      for (const body of wrong) {
        const { status, body: told } = await ask(route, body);
        if (status === 200 || told.code !== 7) continue;
        const message: string = told.msg;
        expect(message).not.toMatch(VALIDATORS_WORDS);
        for (const { path, message: words } of told.data.issues) {
          expect({ route: route.path, words }).toEqual({
            route: route.path,
            words: expect.not.stringMatching(VALIDATORS_WORDS),
          });
          const headers = route.path === '/v2/node/fetch' ? ['Idempotency-Key'] : [];
          expect(['', ...names, ...headers]).toContain(path.split('.')[0]);
        }
      }
    }
  });

  test('for query parameters too', async () => {
    const answer = await world.call('GET', '/v2/node/list_payments', {
      query: { limit: 'ten', order: 'up' },
    });
    expect(answer.body.data.issues).toEqual([
      { path: 'filter', message: 'is required' },
      { path: 'order', message: 'must be "desc" or "asc"' },
      { path: 'limit', message: 'must be a whole number from 1 to 1000' },
    ]);
  });

  test('a body that is no object, and malformed JSON with its place', async () => {
    const post = (rawBody: string) => world.call('POST', '/v2/node/create_invoice', { rawBody });
    expectError(await post('[]'), 'rejected', /^The body must be an object, not a list$/);
    expectError(await post('"a"'), 'rejected', /^The body must be an object, not a string$/);
    const secret = await post('{"amount": "1",\n  "secret-word"}');
    expectError(secret, 'rejected', /^The body is not JSON: line 2, column 16: a colon is missing/);
    expect(JSON.stringify(secret.body)).not.toContain('secret-word');
  });
});

test('one sentence tells what is wrong with a field', async () => {
  const { body } = await world.call('POST', '/v2/node/create_invoice', {
    rawBody: '{"expiration_secs":1e20,"amount":1e400,"description":["x"]}',
  });
  expect(body.data.issues).toEqual([
    { path: 'expiration_secs', message: 'must be at most 604800' },
    { path: 'amount', message: 'is a number out of all range' },
    { path: 'description', message: 'must be a string, not a list' },
  ]);
  const negative = await world.call('GET', '/v2/node/list_payments', {
    query: { filter: 'all', since: '-1' },
  });
  expectError(negative, 'rejected', /^since: must be a whole number, 0 or more$/);
});

test('an amount that would be rounded is rejected', async () => {
  const answer = await world.call('POST', '/v2/node/create_invoice', {
    rawBody: '{"amount":1000000000000000.01}',
  });
  expectError(answer, 'rejected', /too many digits/);
});

test('a body is JSON in UTF-8, not compressed, wherever there is one', async () => {
  const post = async (body: Uint8Array, headers: Record<string, string>) => {
    const answer = await fetch(`${world.baseUrl}/v2/node/create_invoice`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
    });
    return { status: answer.status, body: (await answer.json()) as Body };
  };
  const latin = await post(Buffer.from('{"description":"caf\xe9"}', 'latin1'), {});
  expect(latin).toMatchObject({
    status: 400,
    body: { code: 7, msg: expect.stringContaining('UTF-8') },
  });
  const plain = Buffer.from('{}');
  for (const headers of [
    { 'content-type': 'application/json; charset=latin1' },
    { 'content-encoding': 'gzip' },
  ]) {
    expect(await post(plain, headers as Record<string, string>)).toMatchObject({
      status: 415,
      body: { code: 7 },
    });
  }
  const utf8 = { 'content-type': 'application/json; charset="UTF-8"' };
  expect((await post(plain, utf8)).status).toBe(200);
  expectError(
    await world.call('PUT', '/v2/node/sync_payments', { rawBody: 'x' }),
    'rejected',
    /not JSON/,
  );
  const synced = await world.call('PUT', '/v2/node/sync_payments', { body: { a: 1 } });
  expect(synced.headers.get('x-ignored-fields')).toBe('"a"');
});

describe('an error of a spend says that nothing was sent', () => {
  const PAY = '/v2/node/pay_invoice';
  for (const [what, path, options] of [
    ['of a wrong type', PAY, { body: { invoice: 5 } }],
    ['with malformed JSON', PAY, { rawBody: '{bad' }],
    ['without valid credentials', PAY, { body: {}, credentials: 'unknown' }],
    ['with a query parameter twice', `${PAY}?a=1&a=2`, { body: {} }],
  ] as const) {
    test(what, async () => {
      const { body } = await world.call('POST', path, options);
      expect(body.data).toMatchObject({ sent: 'no' });
    });
  }

  for (const path of [
    '/v2/node/pay_spontaneous',
    '/v2/node/bump_fee',
    '/v2/node/open_channel',
    '/v2/node/close_channel',
    '/v2/node/withdraw_lnurl',
  ]) {
    test(`also of ${path}, which is rejected before it is understood`, async () => {
      const { status, body } = await world.call('POST', path, { rawBody: '{bad' });
      expect({ status, sent: body.data.sent }).toEqual({ status: 400, sent: 'no' });
    });
  }
});

describe('headers of errors', () => {
  test('a 405 names the methods of its path in Allow', async () => {
    const { paths } = await world.get('/v2/openapi.json');
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods as Body).map((method) => ({ method, path })),
    );
    expect(described.length).toBeGreaterThan(40);
    for (const { method, path } of described) {
      const answer = await fetch(`${world.baseUrl}${path.replace(/\{\w+\}/g, 'x')}`, {
        method: 'DELETE',
      });
      const allow = answer.headers.get('allow')?.split(', ') ?? [];
      expect({
        path,
        status: answer.status,
        allowed: allow.includes(method.toUpperCase()),
      }).toEqual({ path, status: 405, allowed: true });
      // HEAD would begin what is made while it is read.
      const isStream = ['/v2/node/events', '/v2/node/export'].includes(path);
      expect(allow.includes('HEAD')).toBe(allow.includes('GET') && !isStream);
      await answer.arrayBuffer();
    }
  });

  test('a 401 says how to authenticate', async () => {
    const answer = await world.call('GET', '/v2/node/node_info', { credentials: 'unknown' });
    expectError(answer, 'unauthenticated');
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  });
});

describe('a whole number in the query', () => {
  test('beyond every bound names its field', async () => {
    for (const number of ['9007199254740992', '9999999999999999', '1'.repeat(40)]) {
      const ask = (name: string) =>
        world.call('GET', '/v2/node/list_payments', { query: { filter: 'all', [name]: number } });
      expectError(await ask('since'), 'rejected', /^since: must be at most 9007199254740991$/);
      expectError(await ask('limit'), 'rejected', /^limit: must be a whole number from 1 to 1000$/);
    }
    for (const number of ['', '-1', '1.5', '1e3', 'x']) {
      const query = { filter: 'all', since: number };
      const answer = await world.call('GET', '/v2/node/list_payments', { query });
      expectError(answer, 'rejected', /^since: must be a whole number, 0 or more$/);
    }
  });

  test('that is a wait longer than a timer counts is a wait without end', async () => {
    for (const timeout_secs of ['2000000', '2000001', '9007199254740992', '9'.repeat(400)]) {
      const { index } = await world.post('/v2/node/create_invoice', { amount: '1' });
      const query = { index, timeout_secs };
      const waiting = world.call('GET', '/v2/node/wait_for_payment', { query });
      await world.post('/v2/node/cancel_payment', { index });
      const { status, body } = await waiting;
      expect([timeout_secs, status, body.status]).toEqual([timeout_secs, 200, 'failed']);
    }
    const { index } = await world.post('/v2/node/create_invoice', { amount: '1' });
    const bad = { index, timeout_secs: '-1' };
    expectError(
      await world.call('GET', '/v2/node/wait_for_payment', { query: bad }),
      'rejected',
      /^timeout_secs: must be a whole number, 0 or more$/,
    );
  });
});

describe('an ignored field', () => {
  test('is ignored whatever it holds', async () => {
    const long = '123456789012345678901234567890.5';
    for (const held of [long, `[${long}]`, `{"amount":${long}}`, '1e999', '"\\ud800"', '[[[]]]']) {
      const answer = await world.call('POST', '/v2/node/create_invoice', {
        rawBody: `{"amount":"5","unknown":${held},"__proto__":${held}}`,
      });
      expect([held, answer.status]).toEqual([held, 200]);
      expect(answer.headers.get('x-ignored-fields')).toBe('"unknown", "__proto__"');
      expect(answer.body.amount).toBe('5');
    }
  });

  test('does not let a long number through in a field that is known', async () => {
    const answer = await world.call('POST', '/v2/node/create_invoice', {
      rawBody: '{"unknown":123456789012345678901,"amount":123456789012345678901}',
    });
    expectError(answer, 'rejected', /^amount: is a number with too many digits/);
  });
});

describe('what may stand in body or query', () => {
  const text = { message: 'from the query', personal_note: 'mine' };

  test('message and personal_note of the pay calls are read from the query', async () => {
    const payable = (await world.post('/sandbox/offer', {})).offer;
    const paid = await world.call('POST', '/v2/node/pay', {
      query: { payable, amount: '3', ...text },
      body: {},
    });
    expect(paid.headers.get('x-ignored-fields')).toBeNull();
    expect(paid.body).toMatchObject({ status: 'completed', ...text });
    const { invoice } = await world.post('/sandbox/invoice', { amount: '4' });
    const { offer } = await world.post('/sandbox/offer', {});
    const { node_pk } = await world.get('/v2/node/node_info', {}, world.bob);
    const { address } = await world.post('/v2/node/get_next_unused_address', {}, world.bob);
    const { lnurl } = await world.post('/sandbox/lnurl', {
      tag: 'payRequest',
      min_amount: '1',
      max_amount: '100',
      comment_length: 100,
    });
    for (const [path, body, takesMessage] of [
      ['pay_invoice', { invoice }, false],
      ['pay_offer', { offer, amount: '3' }, true],
      ['pay_lnurl', { lnurl, amount: '3' }, true],
      ['pay_spontaneous', { node_pk, amount: '3' }, true],
      ['pay_onchain', { address, amount: '2000' }, false],
    ] as const) {
      const query = takesMessage ? text : { personal_note: text.personal_note };
      const answer = await world.call('POST', `/v2/node/${path}`, { query, body });
      expect([path, answer.status]).toEqual([path, 200]);
      expect(answer.body).toMatchObject(query);
      expect([path, answer.headers.get('x-ignored-fields')]).toEqual([path, null]);
      const differing = await world.call('POST', `/v2/node/${path}`, {
        query,
        body: { ...body, personal_note: 'another' },
      });
      expectError(differing, 'rejected', /^personal_note: the body and the query give different/);
      expect(differing.body.data.sent).toBe('no');
    }
  });

  test('description of a withdrawal is read from the query', async () => {
    const { lnurl } = await world.post('/sandbox/lnurl', {
      tag: 'withdrawRequest',
      min_amount: '1',
      max_amount: '100',
    });
    const withdraw = (query: Record<string, string>, body: object) =>
      world.call('POST', '/v2/node/withdraw_lnurl', { query, body });
    expectError(
      await withdraw({ lnurl, description: 'one' }, { description: 'another' }),
      'rejected',
      /^description: the body and the query give different/,
    );
    const done = await withdraw({ lnurl, amount: '5', description: 'from the query' }, {});
    expect(done.body.status).toBe('completed');
    expect(decodeBolt11(done.body.invoice).description).toBe('from the query');
  });

  test('analyze takes payable as another name of payment_string', async () => {
    const { invoice } = await world.post('/sandbox/invoice', { amount: '4' });
    const analyze = (query: Record<string, string>) =>
      world.call('GET', '/v2/node/analyze', { query });
    const { body } = await analyze({ payment_string: invoice });
    expect((await analyze({ payable: invoice })).body).toEqual(body);
    expect(
      (await analyze({ payable: invoice.toUpperCase(), payment_string: invoice })).status,
    ).toBe(200);
    expectError(
      await analyze({ payable: 'a', payment_string: invoice }),
      'rejected',
      /^payable: payment_string and payable give different values/,
    );
    expectError(await analyze({}), 'rejected', /^payment_string: is required$/);
    expectError(await analyze({ payable: 'nonsense' }), 'rejected', /^payable: /);
  });
});

test('every answer with money or credentials is kept by nobody: Cache-Control says so', async () => {
  for (const [method, path] of [
    ['GET', '/v2/node/node_info'],
    ['GET', '/v2/node/list_payments?filter=all'],
    ['GET', '/v2/node/list_payments'],
    ['POST', '/v2/node/create_invoice'],
    ['POST', '/v2/console/link'],
    ['GET', '/v2/health'],
    ['GET', '/nowhere'],
  ] as const) {
    const { headers } = await world.call(method, path, method === 'POST' ? { body: {} } : {});
    expect([path, headers.get('cache-control')]).toEqual([path, 'no-store']);
  }
  const made = await world.call('POST', '/v2/node/create_client', { body: { scopes: ['full'] } });
  expect(made.headers.get('cache-control')).toBe('no-store');
  const gone = new AbortController();
  const stream = await fetch(`${world.baseUrl}/v2/node/events`, { signal: gone.signal });
  expect(stream.headers.get('cache-control')).toBe('no-store');
  gone.abort();
});

test('hex is taken in capitals wherever it is taken', async () => {
  const upper = (index: string) => index.replace(/[0-9a-f]{64}$/, (text) => text.toUpperCase());
  const { index } = await world.post('/v2/node/create_invoice', { amount: '7' });
  for (const [method, path, given] of [
    ['GET', '/v2/node/payment', { query: { index: upper(index) } }],
    ['POST', '/v2/node/update_personal_note', { body: { index: upper(index), note: 'x' } }],
    ['POST', '/v2/node/cancel_payment', { body: { index: upper(index) } }],
  ] as const) {
    const answer = await world.call(method, path, given);
    expect([path, answer.status]).toEqual([path, 200]);
  }
  // A real node's feed tells of it.
  await until(async () => (await world.get('/v2/node/payment', { index })).status === 'failed');
  // On a real node other tests have made payments too, more than one page of them.
  let last = '';
  const page = (start_index: string) =>
    world.get('/v2/node/updated_payments', start_index === '' ? {} : { start_index });
  for (let next = await page(''); next.updated_index !== null; next = await page(last))
    last = next.updated_index;
  const query = { start_index: upper(last) };
  expect((await world.get('/v2/node/updated_payments', query)).payments).toEqual([]);
  const next = { ...query, timeout_secs: '0' };
  expectError(
    await world.call('GET', '/v2/node/wait_for_next_payment', { query: next }),
    'timeout',
  );
  const client = await world.post('/v2/node/create_client', { scopes: ['read_info'] });
  const client_pk = client.client_pk.toUpperCase();
  expect((await world.post('/v2/node/revoke_client', { client_pk })).client.client_pk).toBe(
    client.client_pk,
  );
  const { token } = await world.post('/v2/console/link', {});
  const entered = await world.call('POST', '/v2/console/session', {
    body: { link: token.toUpperCase() },
    headers: { origin: world.baseUrl },
  });
  expect(entered.status).toBe(200);
});
