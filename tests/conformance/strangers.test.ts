import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { rawExchange } from '../resources/raw-exchange.ts';
import { type DevSidecar, startDevSidecar } from '../support/dev-sidecar.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { metricsReader } from '../support/metrics-reader.ts';
import { freePort } from '../support/ports.ts';
import { type Body, type CallOptions, expectError } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { request } from './request.ts';

setDefaultTimeout(SLOW_TEST_MS);

const TIMEOUT_MS = 120_000;
const PROOF = '/v2/node/verify_payer_proof';
const port = freePort();
let folder: string;
let sidecar: DevSidecar;
beforeAll(async () => {
  folder = temporaryFolder('strangers');
  sidecar = await startDevSidecar({ dataDir: join(folder, 'data'), port });
}, TIMEOUT_MS);
afterAll(async () => {
  await sidecar?.stop();
  removeFolder(folder);
});

const call = (method: string, path: string, options: CallOptions = {}) =>
  request(sidecar.baseUrl, method, path, options);

const send = (rawBody: string, path = PROOF, headers = {}) =>
  call('POST', path, { rawBody, headers });

describe('bodies of public routes', () => {
  test('are at most 16 KiB, by their length or by their chunks', async () => {
    expectError(await send(`{"proof":"${'x'.repeat(16_400)}"}`), 'rejected', /16 KiB/, 413);
    expect((await send(`{"proof":"${'x'.repeat(15_900)}"}`)).status).toBe(200);
    const chunk = 'x'.repeat(17_000);
    const chunked = await rawExchange(
      port,
      `${head(PROOF)}transfer-encoding: chunked\r\n\r\n${chunk.length.toString(16)}\r\n${chunk}\r\n0\r\n\r\n`,
    );
    expect(chunked.status).toBe(413);
  });

  test(
    'are read within 5 seconds, however steadily they come, and the connection ends',
    async () => {
      const slow = trickle(PROOF, {});
      const more = setInterval(() => slow.write('x'), 200);
      await until(async () => slow.isClosed());
      clearInterval(more);
      expect(slow.received()).toMatch(/^HTTP\/1\.1 408 /);
      expect(slow.received()).toContain('"code":7');
      expect(slow.openMs()).toBeGreaterThan(4000);
      expect(slow.openMs()).toBeLessThan(20_000);
    },
    TIMEOUT_MS,
  );

  test('are read only where the page of this sidecar sends them, at the sign-in', async () => {
    for (const path of ['/v2/console/session', '/v2/console/sign_out']) {
      const slow = trickle(path, {});
      // A body that is waited for ends with code 7.
      await until(() => slow.received().includes('"code":'));
      expect(slow.received()).toContain('"code":112');
      slow.end();
    }
  });
});

test('of callers without credentials one address has 64 bodies on their way; others and the owner go on', async () => {
  const slow = await seventyAtOnce();
  // Another address of this machine is another source.
  const other = await elsewhere('{"proof":"x"}');
  expect(other).toMatch(/^HTTP\/1\.1 200 /);
  const cookie = readFileSync(join(folder, 'data', 'cookie'), 'utf8');
  for (const path of ['/v2/node/signup', '/v2/node/provision']) {
    const { status } = await call('PUT', path, { body: {}, credentials: cookie });
    expect([path, status]).toEqual([path, 200]);
    expect([path, (await call('PUT', path, { body: {} })).status]).toEqual([path, 200]);
  }
  expect((await call('POST', '/v2/node/create_invoice', { body: {} })).status).toBe(200);
  expect(slow.filter(({ status }) => status() === '503')).toHaveLength(6);
  for (const one of slow) one.end();
});

describe('malformed JSON', () => {
  const placeOf = ({ body }: { body: Body }) => /line \d+, column \d+/.test(body.msg);

  test('is told with its place in a body of up to 4 KiB, and without it in a longer one', async () => {
    const invoice = '/v2/node/create_invoice';
    const body = (length: number) => `{"description":"${'x'.repeat(length - 18)}",`;
    for (const [length, isTold] of [
      [4096, true],
      [4098, false],
    ] as const) {
      const answer = await send(body(length), invoice);
      expectError(answer, 'rejected', /not JSON/);
      expect([length, placeOf(answer)]).toEqual([length, isTold]);
    }
  });

  test('a flood of it does not hold up the owner', async () => {
    const bad = `[${',,'.repeat(120_000)}`;
    const flood = Array.from({ length: 60 }, () => send(bad, '/v2/node/create_invoice'));
    const answers = Promise.all(flood);
    // Time would count what this machine does besides.
    const { value } = metricsReader(() => sidecar.baseUrl);
    const usedSecs = () => value('process_cpu_seconds_total');
    let [mostSecs, beforeSecs] = [0, await usedSecs()];
    let isOver = false;
    void answers.finally(() => {
      isOver = true;
    });
    while (!isOver) {
      expect((await call('GET', '/v2/node/node_info')).status).toBe(200);
      const nowSecs = await usedSecs();
      [mostSecs, beforeSecs] = [Math.max(mostSecs, nowSecs - beforeSecs), nowSecs];
    }
    expect(mostSecs).toBeLessThan(1);
    for (const answer of await answers) expectError(answer, 'rejected', /not JSON/);
  });
});

/** The beginning of a request with a JSON body. */
function head(path: string): string {
  return `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\n`;
}

/** Begins to send a body, and does not finish it. */
function trickle(path: string, { localAddress = '127.0.0.1' }: { localAddress?: string }) {
  const beganMs = performance.now();
  let closedMs: number | null = null;
  let text = '';
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  socket.on('data', (chunk) => {
    text += chunk.toString();
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    closedMs = performance.now();
  });
  socket.write(`${head(path)}content-length: 5000\r\n\r\n{`);
  return {
    received: () => text,
    status: () => text.split(' ')[1],
    isClosed: () => closedMs !== null,
    openMs: () => (closedMs ?? performance.now()) - beganMs,
    write: (more: string) => void socket.write(more),
    end: () => void socket.destroy(),
  };
}

/**
 * Begins to send 70 bodies, and resolves to them once 6 were refused. A body has 5 seconds, so they are begun anew when
 * one of them ran out of its time before the last was refused.
 */
function seventyAtOnce() {
  return until(async () => {
    const all = Array.from({ length: 70 }, () => trickle(PROOF, {}));
    const have = (wanted: string) => all.filter(({ status }) => status() === wanted).length;
    await until(() => have('503') >= 6 || have('408') > 0, 'six are refused');
    if (have('503') >= 6) return all;
    await until(() => all.every(({ isClosed }) => isClosed()), 'all are over');
    return null;
  });
}

/** Resolves to the answer to a whole body that comes from another address of this machine. */
async function elsewhere(body: string): Promise<string> {
  let text = '';
  const socket = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.9' });
  socket.on('data', (chunk) => {
    text += chunk.toString();
  });
  socket.write(`${head(PROOF)}content-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`);
  await new Promise((resolve) => socket.once('close', resolve));
  return text;
}
