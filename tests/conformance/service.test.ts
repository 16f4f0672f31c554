import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { ROUTES, SANDBOX_ROUTES } from '../../src/http/routes/index.ts';
import { runBinary } from '../support/binary.ts';
import { type Body, expectError } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { test } from './node-test.ts';
import { rawStatus } from './raw-status.ts';
import { fullClient, underWay } from './wallet-steps.ts';
import { openWebhookWorld, type WebhookWorld } from './webhook-world.ts';
import type { ConformanceWorld } from './world.ts';

setDefaultTimeout(SLOW_TEST_MS);

let hooks: WebhookWorld;
let world: ConformanceWorld;
beforeAll(async () => {
  hooks = await openWebhookWorld();
  world = hooks.world;
});
afterAll(() => hooks.close());

describe('health and errors', () => {
  test('health is 200, ok once the node has answered, and names the commit as --version does', async () => {
    const health = await until(async () => {
      const { status, body } = await world.call('GET', '/v2/health');
      expect(status).toBe(200);
      return !/ has not been asked yet: /.test(body.status) && body;
    }, 'the node has answered');
    const { stdout } = await runBinary(['--version']);
    const [, commit = ''] = /\(commit (\S+)\)/.exec(stdout) ?? [];
    expect(health).toEqual({ status: 'ok', commit });
  });

  test('a sidecar that is alone leads', async () => {
    const answer = await fetch(`${world.baseUrl}/v2/leader`);
    expect([answer.status, await answer.json()]).toEqual([200, {}]);
  });

  test('an unknown path is 404 with code 107, a wrong method 405 with code 7', async () => {
    expectError(await world.call('GET', '/v2/node/nothing'), 'notFound');
    expectError(
      await world.call('POST', '/v2/node/node_info', { body: {} }),
      'rejected',
      /POST/,
      405,
    );
    expectError(await world.call('DELETE', '/v2/node/pay'), 'rejected', /DELETE/, 405);
  });

  test('malformed JSON, other content types, JSON that is not an object and bodies over 256 KiB are rejected', async () => {
    const post = (rawBody: string, headers = {}) =>
      world.call('POST', '/v2/node/create_invoice', { rawBody, headers });
    expectError(await post('{'), 'rejected', /JSON/);
    expectError(
      await post('{}', { 'content-type': 'text/plain' }),
      'rejected',
      /application\/json/,
      415,
    );
    expectError(
      await post('a=b', { 'content-type': 'application/x-www-form-urlencoded' }),
      'rejected',
      /json/,
      415,
    );
    for (const raw of ['[]', '"x"', '1', 'true']) expectError(await post(raw), 'rejected');
    expectError(
      await post(JSON.stringify({ description: 'x'.repeat(262_200) })),
      'rejected',
      /256 KiB/,
      413,
    );
    expect((await post('{}', { 'content-type': 'application/json; charset=utf-8' })).status).toBe(
      200,
    );
  });

  test('data of a rejected request names path and message of each issue', async () => {
    const answer = await world.call('POST', '/v2/node/create_invoice', {
      body: { amount: 'x', expiration_secs: 0 },
    });
    expect(answer.body.data.issues.map(({ path }: Body) => path).toSorted()).toEqual([
      'amount',
      'expiration_secs',
    ]);
  });

  test('a foreign Host, Origin or Sec-Fetch-Site is error 112, and no CORS header is ever sent', async () => {
    for (const headers of [
      { host: 'evil.example' },
      { host: `127.0.0.1.evil.example:${world.port}` },
    ]) {
      expect(await rawStatus(world.port, 'GET', '/v2/node/node_info', headers)).toBe(403);
    }
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ]) {
      const answer = await world.call('GET', '/v2/node/node_info', { headers });
      expectError(answer, 'hostNotAllowed');
      expect(
        [...answer.headers.keys()].filter((name) => name.startsWith('access-control')),
      ).toEqual([]);
    }
    const own = await world.call('GET', '/v2/node/node_info', {
      headers: { origin: world.baseUrl, 'sec-fetch-site': 'same-origin' },
    });
    expect(own.status).toBe(200);
  });

  test('the log names each request that got an error by an id and shows no secret', async () => {
    await world.call('GET', '/v2/node/node_info', { credentials: 'not-a-credential-marker' });
    const log = world.sidecar().log();
    expect(log).toMatch(/request_id=[0-9a-f]{6}-\d+/);
    expect(log).not.toContain('not-a-credential-marker');
    expect(log).not.toContain(world.bob);
    expect(log).not.toContain(hooks.secret);
  });
});

test('a stop ends waits with error 8 and Retry-After', async () => {
  const { index } = await world.post('/v2/node/create_invoice', { amount: '1' });
  const waiting = await underWay(world, await fullClient(world), (credentials) =>
    world.call('GET', '/v2/node/wait_for_payment', { query: { index }, credentials }),
  );
  await world.restart();
  const answer = await waiting.answer;
  expectError(answer, 'overCapacity');
  expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
});

test('the documentation is served, and lists every endpoint', async () => {
  const document = await world.get('/v2/openapi.json');
  expect(document.openapi).toBe('3.1.0');
  for (const route of [...ROUTES, ...SANDBOX_ROUTES]) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    expect(document.paths[path]?.[route.method]?.summary).toBe(route.summary);
  }
  const page = await fetch(`${world.baseUrl}/docs`);
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(await page.text()).toContain('/v2/node/pay_offer');
});

test('every example of the documentation fits its schemas', () => {
  for (const route of [...ROUTES, ...SANDBOX_ROUTES]) {
    if (!route.path.includes('lnurl')) route.response.parse(route.example.response);
    if (route.query && route.example.query) route.query.parse(route.example.query);
    if (route.body) route.body.parse(route.example.body ?? {});
  }
});
