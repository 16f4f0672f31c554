import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/binary.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { freePorts } from '../support/ports.ts';
import { SLOW_TEST_MS, until, waitUntil } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const NGINX = Bun.which('nginx', { PATH: `${process.env.PATH}:/usr/sbin` });
if (NGINX === null)
  console.warn('SKIPPED: nginx was not found, so docs/fleet/nginx.conf is NOT checked.');

type Name = 'a' | 'b';

let leader: Name = 'a';
/** How often each was asked whether it leads, and called. */
const asked = { a: 0, b: 0 };
const called = { a: 0, b: 0 };
const folder = temporaryFolder('nginx');
const [port = 0, portA = 0, portB = 0] = freePorts(3);
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

/** The file of the docs, with addresses and folders of this test. */
function configuration(): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  );
  // The folder is this user's alone, and nginx would work as another one where it is started by root.
  const mine = process.getuid?.() === 0 ? 'user root;' : '';
  return readFileSync(join(ROOT, 'docs/fleet/nginx.conf'), 'utf8')
    .replace('events {}', `${mine} events {} daemon off; pid ${join(folder, 'pid')};`)
    .replace('http {', `http { access_log off; ${temporary.join(' ')}`)
    .replace('proxy_cache_path /var/cache/nginx', `proxy_cache_path ${folder}`)
    .replace('listen 8080', `listen 127.0.0.1:${port}`)
    .replaceAll('sidecar-a:5393', `127.0.0.1:${portA}`)
    .replaceAll('sidecar-b:5393', `127.0.0.1:${portB}`);
}

/** Calls the proxy; returns the name of the sidecar that answered. */
async function call(method = 'GET'): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/v2/health`, { method });
  return response.text();
}

const file = join(folder, 'nginx.conf');
let nginx: Bun.Subprocess | null = null;
beforeAll(async () => {
  if (NGINX === null) return;
  writeFileSync(file, configuration());
  nginx = Bun.spawn([NGINX, '-e', join(folder, 'errors'), '-c', file], { stderr: 'ignore' });
  await waitUntil('nginx listens', async () => (await call()) !== '');
});
afterAll(async () => {
  nginx?.kill();
  await nginx?.exited;
  await Promise.all([sidecars.a.stop(true), sidecars.b.stop(true)]);
  removeFolder(folder);
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
