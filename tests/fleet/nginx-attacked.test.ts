import { afterEach, expect, setDefaultTimeout, test } from 'bun:test';
import type { ServerResponse } from 'node:http';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { type Come, FIGURES, fakeSidecar, raw, SILENT, statusOf } from './fake-sidecar.ts';
import { NGINX, type Nginx, startNginx } from './nginx-world.ts';

setDefaultTimeout(SLOW_TEST_MS);
const testNginx = test.skipIf(NGINX === null);

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const holds = () => undefined;

async function sidecar(...given: Parameters<typeof fakeSidecar>) {
  const one = await fakeSidecar(...given);
  closing.push(one.stop);
  return one;
}

async function open(a: { port: number }, b: { port: number }): Promise<Nginx> {
  const nginx = await startNginx(a.port, b.port);
  closing.push(nginx.stop);
  return nginx;
}

testNginx('figures are refused, however their path is written', async () => {
  const [a, b] = [await sidecar(200), await sidecar(503)];
  const nginx = await open(a, b);
  for (const target of FIGURES) {
    expect([400, 403]).toContain(await statusOf(nginx.port, target));
  }
  expect([...a.come, ...b.come].map(({ path }) => path)).toEqual([]);
  expect(await statusOf(nginx.port, '/v2/metrics?a=\\')).toBe(200);
});

testNginx('no Host of a caller decides what is asked, or whom it calls', async () => {
  const [a, b] = [await sidecar(200), await sidecar(503)];
  const nginx = await open(a, b);
  for (const host of ['stranger.example', 'pay.example', `[::1]:${nginx.port}`]) {
    await statusOf(nginx.port, '/v2/health', host);
    expect(a.come.at(-1)?.host).toBe(host);
  }
  expect(b.come).toEqual([]);
  expect(new Set(a.asked.map(({ host }) => host))).toEqual(new Set([`localhost:${a.port}`]));
});

testNginx('one that says nothing is not waited for by each request', async () => {
  const [a, b] = [await sidecar(SILENT), await sidecar(200)];
  const nginx = await open(a, b);
  for (let count = 0; count < 30; count++) await statusOf(nginx.port, '/v2/health');
  expect(b.come.length).toBeGreaterThanOrEqual(30);
  expect(a.come).toEqual([]);
  expect(a.asked.length).toBeLessThan(10);
});

testNginx('a wait without a beginning, and a POST, are never sent again; reads are', async () => {
  const breaks = (_: Come, response: ServerResponse) => void response.socket?.destroy();
  const [a, b] = [await sidecar(200, breaks), await sidecar(503)];
  const nginx = await open(a, b);
  expect(await statusOf(nginx.port, '/v2/node/wait_for_next_payment?timeout_secs=9')).toBe(502);
  const posted = await fetch(`${nginx.baseUrl}/v2/node/pay_invoice`, {
    method: 'POST',
    body: '{}',
  });
  expect(posted.status).toBe(502);
  expect(b.come).toEqual([]);
  expect(a.come.map(({ request }) => request.method)).toEqual(['GET', 'POST']);
  expect(await statusOf(nginx.port, '/v2/node/node_info')).toBe(200);
  expect(b.come).toHaveLength(1);
});

testNginx('as many waits as one address may have leave room for those of others', async () => {
  const [a, b] = [await sidecar(200, holds), await sidecar(503)];
  const nginx = await open(a, b);
  const wait = `GET /v2/node/wait_for_payment HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;
  for (let count = 0; count < 256; count++) void raw(nginx.port, wait);
  await until(() => a.come.length === 256, 'those of the first address wait');
  for (let count = 0; count < 64; count++) void raw(nginx.port, wait, '127.0.0.2');
  await until(() => a.come.length === 256 + 64, 'all of them wait');
  // One more of the first address is refused.
  expect(await statusOf(nginx.port, '/v2/health')).toBe(503);
});

testNginx('a body that a sidecar takes is not written to the disk', async () => {
  const [a, b] = [await sidecar(200, holds), await sidecar(503)];
  const nginx = await open(a, b);
  const body = 'a'.repeat(256 * 1024);
  const head = `POST /v2/node/create_client HTTP/1.1\r\nHost: 127.0.0.1\r\n`;
  const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n40000\r\n${body}\r\n0\r\n\r\n`;
  void raw(nginx.port, `${head}Content-Length: ${body.length}\r\n\r\n${body}`);
  void raw(nginx.port, chunked);
  await until(() => a.come.length === 2, 'both have come');
  expect(nginx.log()).not.toContain('temporary file');
});
