import { afterAll, beforeAll, describe, expect } from 'bun:test';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import packageJson from '../../package.json';
import { ROUTES, SANDBOX_ROUTES } from '../../src/http/routes/index.ts';
import { freePort } from '../faults/sidecar.ts';
import { type Family, parseExposition } from '../lib/exposition.ts';
import { test } from './node-test.ts';
import { expectError } from './request.ts';
import { type ConformanceWorld, openConformanceWorld } from './world.ts';

const BINARY = join(import.meta.dir, '..', '..', 'dist', 'wallet-sidecar');
const SECRET = Buffer.alloc(32, 5).toString('base64');
const PLANTED = 'planted-secret-credential';

let world: ConformanceWorld;
let answerWith = 200;
const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: () => new Response(null, { status: answerWith }),
});

beforeAll(async () => {
  process.env.SERVICE_WEBHOOK_SECRET = `whsec_${SECRET}`;
  world = await openConformanceWorld(receiver.url.href);
});
afterAll(async () => {
  delete process.env.SERVICE_WEBHOOK_SECRET;
  await world.close();
  await receiver.stop(true);
});

describe('the endpoint', () => {
  test('answers in the text format 0.0.4 without credentials, and with useless ones', async () => {
    for (const headers of [{}, { authorization: `Bearer ${PLANTED}` }]) {
      const response = await fetch(`${world.baseUrl}/metrics`, { headers });
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
      expect(parseExposition(await response.text()).size).toBeGreaterThan(10);
    }
  });

  test('stands behind the Host and Origin guard', async () => {
    for (const headers of [
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ]) {
      expectError(await world.call('GET', '/metrics', { headers }), 'hostNotAllowed');
    }
    expect(await rawStatus('GET', '/metrics', { host: 'evil.example' })).toBe(403);
  });

  test('is documented as an addition, with its own media type', async () => {
    const { get } = (await world.get('/v2/openapi.json')).paths['/metrics'];
    expect(get['x-addition']).toBe(true);
    expect(Object.keys(get.responses[200].content)).toEqual([
      'text/plain; version=0.0.4; charset=utf-8',
    ]);
  });

  test('is off on addresses beyond loopback and on there when told, and off on loopback when told', async () => {
    expect(await servedBy('0.0.0.0')).toEqual({ status: 404, documented: false });
    expect(await servedBy('0.0.0.0', '--metrics', 'on')).toEqual({
      status: 200,
      documented: true,
    });
    expect(await servedBy('127.0.0.1', '--metrics', 'off')).toEqual({
      status: 404,
      documented: false,
    });
  });
});

describe('counts', () => {
  test('of requests go up by exactly what was asked, by route, method and status', async () => {
    const requests = () => series('wallet_sidecar_http_requests_total');
    const before = await requests();
    for (let n = 0; n < 3; n++) await world.get('/v2/health');
    await world.get('/v2/node/node_info');
    await world.post('/v2/node/create_invoice', { amount: '5' });
    await world.call('POST', '/v2/node/create_invoice', { body: { amount: 'x' } });
    await world.call('POST', '/v2/node/create_invoice', { rawBody: '{' });
    await world.call('GET', '/v2/node/node_info', { credentials: PLANTED });
    await world.call('GET', '/v2/node/list_payments', { headers: { origin: 'https://x.example' } });
    await world.call('DELETE', '/v2/node/pay');
    await world.call('GET', '/nothing');
    const name = (route: string, method: string, status: number) =>
      `wallet_sidecar_http_requests_total{route="${route}",method="${method}",status="${status}"}`;
    expect(changes(before, await requests())).toEqual({
      // The reading before; one is counted when it has been answered.
      [name('/metrics', 'GET', 200)]: 1,
      [name('/v2/health', 'GET', 200)]: 3,
      [name('/v2/node/node_info', 'GET', 200)]: 1,
      [name('/v2/node/node_info', 'GET', 401)]: 1,
      [name('/v2/node/create_invoice', 'POST', 200)]: 1,
      [name('/v2/node/create_invoice', 'POST', 400)]: 2,
      [name('/v2/node/list_payments', 'GET', 403)]: 1,
      [name('unmatched', 'any', 405)]: 1,
      [name('unmatched', 'any', 404)]: 1,
    });
  });

  test('of durations go with those of requests', async () => {
    const families = await scrape();
    const durations = families.get('wallet_sidecar_http_request_duration_seconds')?.series;
    const byRoute = new Map<string, number>();
    for (const [key, count] of families.get('wallet_sidecar_http_requests_total')?.series ?? []) {
      const labels = /\{(.*),status=/.exec(key)?.[1] ?? '';
      byRoute.set(labels, (byRoute.get(labels) ?? 0) + count);
    }
    expect(byRoute.size).toBeGreaterThan(ROUTES.length);
    for (const [labels, count] of byRoute) {
      const key = `wallet_sidecar_http_request_duration_seconds_count{${labels}}`;
      expect([labels, durations?.get(key)]).toEqual([labels, count]);
    }
  });

  test('of finalized payments go up once a payment, on both sides, and not when a note changes', async () => {
    const finalized = () => series('wallet_sidecar_payments_finalized_total');
    const before = await finalized();
    const name = (rail: string, direction: string, status: string) =>
      `wallet_sidecar_payments_finalized_total{rail="${rail}",direction="${direction}",status="${status}"}`;
    const made = await world.post('/v2/node/create_invoice', { amount: '5' });
    await world.post('/v2/node/pay_invoice', { invoice: made.invoice }, world.bob);
    const payment = { index: made.index, personal_note: 'noted' };
    await until(
      async () => changes(before, await finalized())[name('invoice', 'inbound', 'completed')] === 1,
    );
    await world.post('/v2/node/update_personal_note', payment);
    const failing = await world.post('/sandbox/invoice', { amount: '7', behavior: 'fail' });
    const failed = await world.post('/v2/node/pay_invoice', { invoice: failing.invoice });
    expect(failed.status).toBe('failed');
    const { offer } = await world.post('/v2/node/create_offer');
    await world.post('/v2/node/pay_offer', { offer, amount: '3' }, world.bob);
    await until(
      async () => changes(before, await finalized())[name('offer', 'inbound', 'completed')] === 1,
    );
    expect(changes(before, await finalized())).toEqual({
      [name('invoice', 'inbound', 'completed')]: 1,
      [name('invoice', 'outbound', 'completed')]: 1,
      [name('invoice', 'outbound', 'failed')]: 1,
      [name('offer', 'inbound', 'completed')]: 1,
      [name('offer', 'outbound', 'completed')]: 1,
    });
  });

  test('of webhook attempts go up with each, and the outbox shows what became of the deliveries', async () => {
    await until(
      async () => (await value('wallet_sidecar_outbox_deliveries{state="pending"}')) === 0,
    );
    const attempts = () => series('wallet_sidecar_webhook_attempts_total');
    const delivered = () => value('wallet_sidecar_outbox_deliveries{state="delivered"}');
    const [before, deliveredBefore] = [await attempts(), await delivered()];
    answerWith = 500;
    const { index } = await world.post('/v2/node/create_invoice', { amount: '2' });
    await world.post('/v2/node/cancel_payment', { index });
    const name = (outcome: string) => `wallet_sidecar_webhook_attempts_total{outcome="${outcome}"}`;
    await until(async () => changes(before, await attempts())[name('refused')] === 1);
    expect(await value('wallet_sidecar_outbox_deliveries{state="pending"}')).toBe(1);
    answerWith = 200;
    await until(async () => (await delivered()) === deliveredBefore + 1);
    expect(changes(before, await attempts())).toEqual({
      [name('refused')]: 1,
      [name('delivered')]: 1,
    });
    expect(await value('wallet_sidecar_outbox_deliveries{state="pending"}')).toBe(0);
  });

  test('of node calls go up with each call, and errors by their code', async () => {
    const calls = () => series('wallet_sidecar_node_call_duration_seconds');
    const errors = () => series('wallet_sidecar_node_errors_total');
    const [callsBefore, errorsBefore] = [await calls(), await errors()];
    for (let n = 0; n < 2; n++) await world.get('/v2/node/node_info');
    const body = { channel_id: 'ab'.repeat(32) };
    expectError(await world.call('POST', '/v2/node/close_channel', { body }), 'notFound');
    const made = changes(callsBefore, await calls());
    const count = (method: string) =>
      made[`wallet_sidecar_node_call_duration_seconds_count{method="${method}"}`];
    expect([count('info'), count('channels.closeChannel'), count('payInvoice')]).toEqual([
      2,
      1,
      undefined,
    ]);
    expect(changes(errorsBefore, await errors())).toEqual({
      'wallet_sidecar_node_errors_total{code="107"}': 1,
    });
  });
});

test('open wallets, sessions and feeds are shown while they are open', async () => {
  const { client_credentials: credentials } = await world.post('/sandbox/wallets');
  const opened = async () => ({
    wallets: await value('wallet_sidecar_open_wallets'),
    sessions: await value('wallet_sidecar_open_sessions'),
    feeds: await value('wallet_sidecar_open_feeds{state="caught_up"}'),
  });
  const before = await opened();
  const stream = await fetch(`${world.baseUrl}/v2/node/events`, {
    headers: { authorization: `Bearer ${credentials}` },
  });
  // Held until the end: a stream that nobody reads any more is closed by the client's garbage collector.
  const reader = stream.body?.getReader();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toStartWith(': open');
  await until(async () => (await opened()).feeds === before.feeds + 1);
  expect(await opened()).toEqual({
    wallets: before.wallets + 1,
    sessions: before.sessions + 1,
    feeds: before.feeds + 1,
  });
  expect(await value('wallet_sidecar_feed_lag_seconds')).toBe(0);
  await reader?.cancel();
  await until(async () => (await opened()).feeds === before.feeds);
});

test('the build, its node and the process are shown', async () => {
  const build = `wallet_sidecar_build_info{version="${packageJson.version}",node="sandbox"}`;
  expect(await value(build)).toBe(1);
  const nowSecs = Date.now() / 1000;
  expect(Math.abs((await value('process_start_time_seconds')) - nowSecs)).toBeLessThan(3600);
  expect(await value('process_resident_memory_bytes')).toBeGreaterThan(10_000_000);
  expect(await value('process_cpu_seconds_total')).toBeGreaterThan(0);
  expect(await value('wallet_sidecar_last_update_timestamp_seconds')).toBeLessThanOrEqual(
    nowSecs + 1,
  );
  if (process.platform === 'linux') expect(await value('process_open_fds')).toBeGreaterThan(3);
});

describe('what a client says', () => {
  const hostile = [
    '/v2/node/%22%7D%201%0Aforged_total%201',
    '/v2/node/"}{route="forged"',
    `/v2/${PLANTED}`,
    `/v2/health/${PLANTED}`,
    '//v2/health',
    '/metrics/',
    `/sandbox/lnurl/${PLANTED}`,
    `/.well-known/lnurlp/${PLANTED}`,
    `/v2/health?${PLANTED}=1`,
  ];

  test('makes no series: paths that no route answers are one label, and so are their methods', async () => {
    for (const method of ['GET', 'POST', 'PATCH', 'OPTIONS', 'PROPFIND']) {
      await rawStatus(method, '/first');
    }
    await rawStatus('GET', hostile[6] ?? '');
    await rawStatus('GET', hostile[7] ?? '');
    await rawStatus('POST', '/v2/health');
    const before = await keys();
    for (const path of hostile) {
      for (const method of ['GET', 'PATCH', 'PROPFIND']) {
        const headers = { authorization: `Bearer ${PLANTED}`, 'user-agent': PLANTED };
        await rawStatus(method, path, headers);
      }
    }
    expect(await keys()).toEqual(before);
  });

  test('is in no label: routes are those of the reference', async () => {
    const known = new Set<string>([...ROUTES, ...SANDBOX_ROUTES].map(({ path }) => path));
    for (const own of ['/metrics', '/docs', '/v2/openapi.json', 'unmatched']) known.add(own);
    const routes = [...((await scrape()).get('wallet_sidecar_http_requests_total')?.series ?? [])]
      .map(([key]) => /route="([^"]*)"/.exec(key)?.[1] ?? '')
      .filter((route) => !known.has(route));
    expect(routes).toEqual([]);
  });

  test('and what is secret or names a wallet, client or payment never appears', async () => {
    const { user_pk, node_pk } = await world.get('/v2/node/node_info');
    const { clients } = await world.get('/v2/node/list_clients', {}, world.bob);
    await world.put('/v2/node/sync_payments');
    const { payments } = await world.get('/v2/node/list_payments', { filter: 'all' });
    const ids = Object.keys(clients);
    expect([ids.length > 0, payments.length > 0]).toEqual([true, true]);
    const text = await (
      await fetch(`${world.baseUrl}/metrics?${PLANTED}`, {
        headers: { authorization: `Bearer ${PLANTED}` },
      })
    ).text();
    const seed = readFileSync(join(world.dataDir, 'dev-root-seed'), 'utf8').trim();
    const told = [PLANTED, world.bob, SECRET, seed, user_pk, node_pk, receiver.url.host, ...ids];
    for (const { index, hash } of payments) told.push(index, ...(hash ? [hash] : []));
    expect(told.filter((secret) => secret.length < 8 || text.includes(secret))).toEqual([]);
  });
});

async function scrape(baseUrl = world.baseUrl): Promise<ReadonlyMap<string, Family>> {
  return parseExposition(await (await fetch(`${baseUrl}/metrics`)).text());
}

/** The series of one family, which must exist. */
async function series(name: string): Promise<ReadonlyMap<string, number>> {
  const family = (await scrape()).get(name);
  if (!family) throw new Error(`${name} is missing`);
  return family.series;
}

/** One series, which must exist. */
async function value(key: string): Promise<number> {
  const found = (await series(key.replace(/\{.*/, ''))).get(key);
  if (found === undefined) throw new Error(`${key} is missing`);
  return found;
}

/** Every series there is. */
async function keys(): Promise<string[]> {
  return [...(await scrape()).values()].flatMap((family) => [...family.series.keys()]);
}

function changes(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): Record<string, number> {
  return Object.fromEntries(
    [...after]
      .map(([key, count]) => [key, count - (before.get(key) ?? 0)] as const)
      .filter(([, more]) => more !== 0),
  );
}

/** What a sidecar on that address, started with the flags, answers for the metrics. */
async function servedBy(
  host: string,
  ...flags: string[]
): Promise<{ status: number; documented: boolean }> {
  const port = freePort();
  const child = Bun.spawn(
    [BINARY, 'serve', '--data-dir', ':memory:', '--listen-addr', `${host}:${port}`, ...flags],
    { stdout: 'ignore', stderr: 'ignore' },
  );
  const baseUrl = `http://127.0.0.1:${port}`;
  try {
    await until(async () => (await fetch(`${baseUrl}/v2/health`).catch(() => null))?.ok === true);
    const { status } = await fetch(`${baseUrl}/metrics`);
    const { paths } = (await (await fetch(`${baseUrl}/v2/openapi.json`)).json()) as {
      paths: Record<string, unknown>;
    };
    return { status, documented: '/metrics' in paths };
  } finally {
    child.kill();
    await child.exited;
  }
}

/** fetch sends neither another Host header nor a path as it is. */
function rawStatus(
  method: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<number> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port: world.port, method, path, headers }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    })
      .on('error', reject)
      .end();
  });
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let round = 0; round < 500; round++) {
    if (await holds()) return;
    await Bun.sleep(20);
  }
  throw new Error('it did not happen within 10 seconds');
}
