import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { freePorts } from '../support/ports.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { NGINX, type Nginx, startNginx } from './nginx-world.ts';

setDefaultTimeout(SLOW_TEST_MS);

type Name = 'a' | 'b';

let leader: Name = 'a';
/** How often each was asked whether it leads, and called. */
const asked = { a: 0, b: 0 };
const called = { a: 0, b: 0 };
const [portA = 0, portB = 0] = freePorts(2);
const sidecars = { a: sidecar('a', portA), b: sidecar('b', portB) };

/** Says what a sidecar says to such a proxy, and counts. */
function sidecar(name: Name, at: number) {
  return Bun.serve({
    hostname: '127.0.0.1',
    port: at,
    fetch(request) {
      if (new URL(request.url).pathname !== '/v2/leader') {
        called[name] += 1;
        return new Response(name);
      }
      asked[name] += 1;
      const headers = { 'cache-control': 'no-store' };
      return Response.json({}, { status: leader === name ? 200 : 503, headers });
    },
  });
}

/** Calls the proxy; returns the name of the sidecar that answered. */
async function call(method = 'GET'): Promise<string> {
  const response = await fetch(`${nginx?.baseUrl}/v2/health`, { method });
  return response.text();
}

let nginx: Nginx | null = null;
beforeAll(async () => {
  if (NGINX !== null) nginx = await startNginx(portA, portB);
});
afterAll(async () => {
  await nginx?.stop();
  await Promise.all([sidecars.a.stop(true), sidecars.b.stop(true)]);
});

test.skipIf(NGINX === null)('the one that leads is called, and asked far less often', async () => {
  const before = { ...called, asked: asked.a };
  for (let at = 0; at < 200; at++) expect(await call(at % 2 === 0 ? 'GET' : 'POST')).toBe('a');
  expect(called).toEqual({ a: before.a + 200, b: before.b });
  expect(asked.a - before.asked).toBeLessThan(100);
});

test.skipIf(NGINX === null)('the next one that leads is found, in both directions', async () => {
  leader = 'b';
  await until(async () => (await call()) === 'b', 'the other one is called');
  leader = 'a';
  await until(async () => (await call()) === 'a', 'the first one is called again');
});

test.skipIf(NGINX === null)(
  'the other one is called at once where the first is not there',
  async () => {
    expect(await call()).toBe('a');
    await sidecars.a.stop(true);
    for (let at = 0; at < 20; at++) expect(await call('POST')).toBe('b');
  },
);
