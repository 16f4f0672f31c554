import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startBinary } from '../support/binary.ts';
import { parseExposition } from '../support/exposition.ts';
import { metricsReader } from '../support/metrics-reader.ts';
import { freePort } from '../support/ports.ts';
import { expectError } from '../support/requests.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { test } from './node-test.ts';
import { rawStatus } from './raw-status.ts';
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
const { scrape } = metricsReader(() => world.baseUrl);

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
    expect(await rawStatus(world.port, 'GET', '/metrics', { host: 'evil.example' })).toBe(403);
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
      await rawStatus(world.port, method, '/first');
    }
    await rawStatus(world.port, 'GET', hostile[6] ?? '');
    await rawStatus(world.port, 'GET', hostile[7] ?? '');
    await rawStatus(world.port, 'POST', '/v2/health');
    const before = await keys();
    for (const path of hostile) {
      for (const method of ['GET', 'PATCH', 'PROPFIND']) {
        const headers = { authorization: `Bearer ${PLANTED}`, 'user-agent': PLANTED };
        await rawStatus(world.port, method, path, headers);
      }
    }
    expect(await keys()).toEqual(before);
  });

  test('is in no label: routes are those of the reference', async () => {
    const { paths } = await world.get('/v2/openapi.json');
    const described = Object.keys(paths).map((path) => path.replace(/\{(\w+)\}/g, ':$1'));
    const known = new Set([...described, 'unmatched']);
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
    const told = [
      PLANTED,
      world.bob,
      hooks.secret,
      seed,
      user_pk,
      node_pk,
      hooks.receiverHost,
      ...ids,
    ];
    for (const { index, hash } of payments) told.push(index, ...(hash ? [hash] : []));
    expect(told.filter((secret) => secret.length < 8 || text.includes(secret))).toEqual([]);
  });
});

/** Resolves to the keys of all series. */
async function keys(): Promise<string[]> {
  return [...(await scrape()).values()].flatMap((family) => [...family.series.keys()]);
}

/** Starts a sidecar with this address and these flags. Resolves to its answer for the metrics. */
async function servedBy(
  host: string,
  ...flags: string[]
): Promise<{ status: number; documented: boolean }> {
  const port = freePort();
  const child = startBinary(
    ['serve', '--data-dir', ':memory:', '--listen-addr', `${host}:${port}`, ...flags],
    { env: process.env },
  );
  const baseUrl = `http://127.0.0.1:${port}`;
  try {
    await child.ready();
    const { status } = await fetch(`${baseUrl}/metrics`);
    const { paths } = (await (await fetch(`${baseUrl}/v2/openapi.json`)).json()) as {
      paths: Record<string, unknown>;
    };
    return { status, documented: '/metrics' in paths };
  } finally {
    await child.stop();
  }
}
