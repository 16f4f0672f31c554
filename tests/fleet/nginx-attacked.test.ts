import { afterEach, expect, setDefaultTimeout, test } from 'bun:test';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { freePort } from '../support/ports.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { NGINX, type Nginx, startNginx } from './nginx-world.ts';

setDefaultTimeout(SLOW_TEST_MS);
const testNginx = test.skipIf(NGINX === null);

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A request that came to a sidecar; `path` is what it takes the target for. */
interface Come {
  readonly path: string;
  readonly host: string | undefined;
  readonly request: IncomingMessage;
}

/** Stands for a sidecar: keeps what comes, but questions who leads, and does with it what a test says. */
async function sidecar(
  status: number,
  behave: (come: Come, response: ServerResponse) => void = (_, response) => response.end('{}'),
) {
  const come: Come[] = [];
  const asked: Come[] = [];
  const server = createServer((request, response) => {
    // As the runtime and the router of the sidecar read it.
    const { pathname } = new URL(`http://sidecar${request.url}`);
    const one = { path: decodeURI(pathname), host: request.headers.host, request };
    if (one.path !== '/v2/leader') {
      come.push(one);
      return behave(one, response);
    }
    asked.push(one);
    if (status === SILENT) return;
    response.writeHead(status).end('{}');
  });
  const port = freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port, come, asked };
}

/** It takes connections, and says nothing, as one that is stopped. */
const SILENT = 0;
const holds = () => undefined;

async function open(a: { port: number }, b: { port: number }): Promise<Nginx> {
  const nginx = await startNginx(a.port, b.port);
  closing.push(nginx.stop);
  return nginx;
}

/** Sends a request as it is written, from an address of this machine. Returns the text that comes back first. */
function raw(nginx: Nginx, text: string, localAddress = '127.0.0.1'): Promise<string> {
  const socket = connect({ port: nginx.port, host: '127.0.0.1', localAddress });
  closing.push(() => socket.destroy());
  return new Promise((resolve) => {
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(''));
    socket.on('data', (bytes) => resolve(bytes.toString()));
    socket.write(text);
  });
}

/** The status of the answer to a request whose target nothing has changed on its way. */
async function statusOf(nginx: Nginx, target: string, host = '127.0.0.1:8080'): Promise<number> {
  const head = `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
  return Number(/^HTTP\/1.1 (\d+)/.exec(await raw(nginx, head))?.[1]);
}

testNginx('figures are refused, however their path is written', async () => {
  const [a, b] = [await sidecar(200), await sidecar(503)];
  const nginx = await open(a, b);
  const targets = [
    ...['/metrics', '//metrics', '/metrics?a', '/%6detrics', '/%2fmetrics', '/./metrics'],
    ...['/v2/../metrics', '/v2/%2e%2e/metrics', '/v2%2f..%2fmetrics', '/metrics#a'],
    ...['/.\\metrics', '/%2e\\metrics', '/v2\\..\\metrics', '/v2/..\\metrics', '/.\\.\\metrics'],
    ...['/metrics\\..\\metrics', '/\\..\\metrics', '/v2\\%2e%2e\\metrics'],
  ];
  for (const target of targets) {
    expect([400, 403]).toContain(await statusOf(nginx, target));
  }
  expect([...a.come, ...b.come].map(({ path }) => path)).toEqual([]);
  expect(await statusOf(nginx, '/v2/metrics?a=\\')).toBe(200);
});

testNginx('no Host of a caller decides what is asked, or whom it calls', async () => {
  const [a, b] = [await sidecar(200), await sidecar(503)];
  const nginx = await open(a, b);
  for (const host of ['stranger.example', 'pay.example', `[::1]:${nginx.port}`]) {
    await statusOf(nginx, '/v2/health', host);
    expect(a.come.at(-1)?.host).toBe(host);
  }
  expect(b.come).toEqual([]);
  expect(new Set(a.asked.map(({ host }) => host))).toEqual(new Set([`localhost:${a.port}`]));
});

testNginx('one that says nothing is not waited for by each request', async () => {
  const [a, b] = [await sidecar(SILENT), await sidecar(200)];
  const nginx = await open(a, b);
  for (let count = 0; count < 30; count++) await statusOf(nginx, '/v2/health');
  expect(b.come.length).toBeGreaterThanOrEqual(30);
  expect(a.come).toEqual([]);
  expect(a.asked.length).toBeLessThan(10);
});

testNginx('a wait without a beginning, and a POST, are never sent again; reads are', async () => {
  const breaks = (_: Come, response: ServerResponse) => void response.socket?.destroy();
  const [a, b] = [await sidecar(200, breaks), await sidecar(503)];
  const nginx = await open(a, b);
  expect(await statusOf(nginx, '/v2/node/wait_for_next_payment?timeout_secs=9')).toBe(502);
  const posted = await fetch(`${nginx.baseUrl}/v2/node/pay_invoice`, {
    method: 'POST',
    body: '{}',
  });
  expect(posted.status).toBe(502);
  expect(b.come).toEqual([]);
  expect(a.come.map(({ request }) => request.method)).toEqual(['GET', 'POST']);
  expect(await statusOf(nginx, '/v2/node/node_info')).toBe(200);
  expect(b.come).toHaveLength(1);
});

testNginx('as many waits as one address may have leave room for those of others', async () => {
  const [a, b] = [await sidecar(200, holds), await sidecar(503)];
  const nginx = await open(a, b);
  const wait = `GET /v2/node/wait_for_payment HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;
  for (let count = 0; count < 256; count++) void raw(nginx, wait);
  await until(() => a.come.length === 256, 'those of the first address wait');
  for (let count = 0; count < 64; count++) void raw(nginx, wait, '127.0.0.2');
  await until(() => a.come.length === 256 + 64, 'all of them wait');
  // One more of the first address is refused.
  expect(await statusOf(nginx, '/v2/health')).toBe(503);
});

testNginx('a body that a sidecar takes is not written to the disk', async () => {
  const [a, b] = [await sidecar(200, holds), await sidecar(503)];
  const nginx = await open(a, b);
  const body = 'a'.repeat(256 * 1024);
  const head = `POST /v2/node/create_client HTTP/1.1\r\nHost: 127.0.0.1\r\n`;
  const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n40000\r\n${body}\r\n0\r\n\r\n`;
  void raw(nginx, `${head}Content-Length: ${body.length}\r\n\r\n${body}`);
  void raw(nginx, chunked);
  await until(() => a.come.length === 2, 'both have come');
  expect(nginx.log()).not.toContain('temporary file');
});
