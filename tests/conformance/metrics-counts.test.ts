import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import packageJson from '../../package.json';
import { ROUTES } from '../../src/http/routes/index.ts';
import { metricsReader } from '../support/metrics-reader.ts';
import { expectError } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { test } from './node-test.ts';
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

const PLANTED = 'planted-secret-credential';
const { scrape, series, value } = metricsReader(() => world.baseUrl);

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
      // A request is counted when it has been answered, so this is the reading before.
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
    // On real nodes earlier files have left payments that a new sidecar reads first.
    for (const wallet of [undefined, world.bob]) {
      await world.put('/v2/node/sync_payments', {}, wallet);
    }
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
    const looked = Promise.withResolvers<number>();
    hooks.answerWith(500, looked.promise);
    const { index } = await world.post('/v2/node/create_invoice', { amount: '2' });
    await world.post('/v2/node/cancel_payment', { index });
    const name = (outcome: string) => `wallet_sidecar_webhook_attempts_total{outcome="${outcome}"}`;
    await until(async () => changes(before, await attempts())[name('refused')] === 1);
    expect(await value('wallet_sidecar_outbox_deliveries{state="pending"}')).toBe(1);
    looked.resolve(200);
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
  // The reader is kept until the end, because garbage collection closes a stream that has no reader.
  const reader = stream.body?.getReader();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toStartWith(': open');
  await until(async () => (await opened()).feeds === before.feeds + 1);
  expect(await opened()).toEqual({
    // The wallet was opened when it was created.
    wallets: before.wallets,
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
