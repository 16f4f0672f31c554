import { beforeEach, describe, expect, test } from 'bun:test';
import type { Passing } from '../../src/fleet/stand-by.ts';
import { ROUTES } from '../../src/http/routes/index.ts';
import { metricsRoutes } from '../../src/http/routes/metrics.ts';
import { createStandByApp } from '../../src/http/stand-by-app.ts';
import { openLog } from '../../src/lib/log.ts';
import { openMetrics } from '../../src/lib/metrics.ts';
import { ApiError } from '../../src/model/errors.ts';

const HOST = 'wallet.example';
const log = openLog({ level: 'silent', format: 'text', write: () => undefined });
let passed: Passing[];
beforeEach(() => {
  passed = [];
});

function app({ requireAuth = false, leads = true } = {}) {
  return createStandByApp({
    routes: [...ROUTES, ...metricsRoutes],
    allowedHosts: new Set([HOST]),
    domainHosts: new Set(),
    trustedProxies: new Set(['10.0.0.9']),
    requireAuth,
    log,
    stopping: new AbortController().signal,
    startId: 'a',
    commit: '0123456789ab',
    metrics: openMetrics(),
    standBy: {
      async pass(passing) {
        passed.push(passing);
        if (!leads) throw new ApiError('overCapacity', 'No sidecar leads.');
        return Response.json({ from: 'the one that leads' });
      },
    },
  });
}
const ask = async (
  one: ReturnType<typeof app>,
  method: string,
  path: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: string } = {},
) => {
  const request = new Request(`http://${HOST}${path}`, {
    method,
    headers: { host: HOST, ...headers },
    ...(body === undefined ? {} : { body }),
  });
  const answer = await one.fetch(request, { peer: () => '10.0.0.9' });
  const text = await answer.text();
  return { status: answer.status, body: text.startsWith('{') ? JSON.parse(text) : text };
};

describe('a sidecar that stands by', () => {
  test('passes a request on with its body, the Host and the source that it saw', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.5, 198.51.100.7', 'idempotency-key': 'k' };
    const answer = await ask(app(), 'POST', '/v2/node/pay?a=1', { headers, body: '{"a":1}' });
    expect(answer).toEqual({ status: 200, body: { from: 'the one that leads' } });
    const [one] = passed;
    expect(new TextDecoder().decode(one?.body ?? undefined)).toBe('{"a":1}');
    expect(one?.facts).toEqual({ host: HOST, source: '198.51.100.7' });
    expect(one).toMatchObject({ mayRepeat: true, movesMoney: true, withinMs: null });
  });

  test('checks Host, Origin, sizes, paths and methods itself', async () => {
    const one = app();
    const statuses = [
      await ask(one, 'GET', '/v2/node/node_info', { headers: { host: 'evil.example' } }),
      await ask(one, 'GET', '/v2/node/node_info', { headers: { origin: 'https://evil.example' } }),
      await ask(one, 'POST', '/v2/node/pay', { body: 'x'.repeat(256 * 1024 + 1) }),
      await ask(one, 'GET', '/nowhere'),
      await ask(one, 'DELETE', '/v2/node/pay'),
      await ask(one, 'HEAD', '/v2/node/events'),
      await ask(one, 'GET', `/v2/node/node_info?a=${'x'.repeat(70_000)}`),
    ].map(({ status }) => status);
    expect(statuses).toEqual([403, 403, 413, 404, 405, 405, 414]);
    expect(passed).toEqual([]);
  });

  test('asks for credentials where it needs them, also when the one that leads does not', async () => {
    const closed = app({ requireAuth: true });
    expect((await ask(closed, 'GET', '/v2/node/node_info')).body).toMatchObject({ code: 104 });
    expect((await ask(closed, 'PUT', '/v2/node/signup')).body).toMatchObject({ code: 104 });
    const basic = { authorization: 'Basic a' };
    expect((await ask(closed, 'GET', '/v2/node/node_info', { headers: basic })).status).toBe(401);
    expect(passed).toEqual([]);
    for (const headers of [{ authorization: 'Bearer a' }, { 'console-key': 'a' }]) {
      expect((await ask(closed, 'GET', '/v2/node/node_info', { headers })).status).toBe(200);
    }
    expect((await ask(closed, 'GET', '/v2/health')).status).toBe(200);
    expect((await ask(app(), 'GET', '/v2/node/node_info')).status).toBe(200);
  });

  test('shows its own metrics', async () => {
    expect((await ask(app(), 'GET', '/metrics')).status).toBe(200);
    expect(passed).toEqual([]);
  });

  test('says itself that it does not lead, at once and to everybody', async () => {
    const { status, body } = await ask(app({ requireAuth: true }), 'GET', '/v2/leader');
    expect([status, body.code]).toEqual([503, 8]);
    expect(passed).toEqual([]);
  });

  test('answers for health with 200 also when no sidecar leads, and does not wait', async () => {
    const { status, body } = await ask(app({ leads: false }), 'GET', '/v2/health');
    expect(status).toBe(200);
    expect(body).toEqual({
      status: 'This sidecar stands by. No sidecar leads.',
      commit: '0123456789ab',
    });
    expect(passed[0]?.withinMs).toBe(2000);
    expect((await ask(app({ leads: false }), 'GET', '/v2/node/node_info')).status).toBe(503);
  });
});
