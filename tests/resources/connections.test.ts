import { afterAll, afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type DevSidecar, startDevSidecar } from '../support/dev-sidecar.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/ports.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { type Flood, startFlood } from './flood.ts';
import { type HeldConnection, holdConnection } from './held-connection.ts';

setDefaultTimeout(SLOW_TEST_MS);

const OPEN_FILES = 256;
const CONNECTIONS = 400;

const folder = temporaryFolder('connections');
const port = freePort();
const delivered: string[] = [];
const receiver = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    delivered.push(await request.text());
    return new Response();
  },
});
let sidecar: DevSidecar;
let flood: Flood | null = null;
let held: HeldConnection;

beforeEach(async () => {
  delivered.length = 0;
  const webhookUrl = `${receiver.url}`;
  sidecar = await startDevSidecar({
    dataDir: join(folder, crypto.randomUUID()),
    port,
    webhookUrl,
    openFiles: OPEN_FILES,
  });
  held = await holdConnection(port);
}, 30_000);
afterEach(async () => {
  flood?.stop();
  held.close();
  await sidecar.kill();
});
afterAll(async () => {
  await receiver.stop(true);
  removeFolder(folder);
});

const descriptors = () => readdirSync(`/proc/${sidecar.pid}/fd`).length;

/** Lets the outside world pay an invoice. All requests go over the held connection. */
async function receivePayment(): Promise<string> {
  const request = { amount: '10', expiration_secs: 3600 };
  const created = await held.ask('POST', '/v2/node/create_invoice', request);
  expect(created.status).toBe(200);
  const { invoice } = JSON.parse(created.body);
  expect((await held.ask('POST', '/sandbox/pay', { payable: invoice })).status).toBe(200);
  return invoice;
}

for (const [what, sent] of [
  ['that send nothing', ''],
  ['that send the first byte of a request', 'G'],
] as const) {
  test.skipIf(process.platform !== 'linux')(
    `a flood of 400 connections ${what} leaves a held one its place, and takes no notice (docs/decisions.md 177)`,
    async () => {
      expect((await held.ask('GET', '/v2/health')).status).toBe(200);
      const before = descriptors();
      flood = startFlood(port, CONNECTIONS, sent);
      await until(() => descriptors() === OPEN_FILES);

      const invoice = await receivePayment();
      await until(() => sidecar.log().includes('Webhooks wait'));
      expect(delivered).toEqual([]);
      expect((await held.ask('GET', '/v2/health')).status).toBe(200);

      flood.stop();
      await until(() => delivered.length > 0);
      expect(JSON.parse(delivered[0] ?? '{}')).toMatchObject({ invoice });
      await until(() => descriptors() < before + 20);
      expect((await fetch(`${sidecar.baseUrl}/v2/health`)).status).toBe(200);
      expect(await sidecar.stop()).toBe(0);
    },
    120_000,
  );
}

for (const [what, sent, drop] of [
  ['are silent', '', ''],
  ['go on with the head of a request', 'GET / HTTP/1.1\r\nX: ', 'x'],
] as const) {
  test.skipIf(process.platform !== 'linux')(
    `connections without a whole request end soon, such as those that ${what}`,
    async () => {
      const before = descriptors();
      flood = startFlood(port, 20, sent, drop);
      await until(() => descriptors() === before + 20);
      flood.stay();
      await until(() => descriptors() <= before, 'every one of them was ended');
    },
    120_000,
  );
}
