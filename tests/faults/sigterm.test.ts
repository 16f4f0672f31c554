import { afterAll, afterEach, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { BARE_ENV, type SidecarProcess, startBinary } from '../support/binary.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { CERT } from '../support/raw-server.ts';
import { send } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { hangingReceiver } from './hanging-receiver.ts';

setDefaultTimeout(SLOW_TEST_MS);

const folder = temporaryFolder('sigterm');
afterAll(() => removeFolder(folder));
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});
const TEST_LIMIT_MS = 120_000;
/** The time after SIGTERM at which a container is killed. */
const KILLED_AFTER_MS = 10_000;

function dev(name: string, ...args: string[]): SidecarProcess {
  const dataDir = join(folder, name);
  const process = startBinary(
    ['dev', '--data-dir', dataDir, '--listen-addr', '127.0.0.1:0', ...args],
    {
      env: {
        ...BARE_ENV,
        SERVICE_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 3).toString('base64')}`,
      },
    },
  );
  cleanups.push(() => process.signal('SIGKILL'));
  return process;
}

async function expectGoodEnd(process: SidecarProcess): Promise<void> {
  const startedMs = performance.now();
  expect(await process.stop()).toBe(0);
  expect(performance.now() - startedMs).toBeLessThan(KILLED_AFTER_MS);
}

test(
  'SIGTERM while a webhook receiver hangs: the attempt is due at the next start, does not count, and keeps its id',
  async () => {
    const receiver = hangingReceiver();
    cleanups.push(receiver.stop);
    const first = dev('webhook', '--webhook-url', receiver.url);
    const baseUrl = await first.ready();
    await send(baseUrl, 'POST', '/sandbox/wallets', { body: {} });
    const { body } = await send(baseUrl, 'POST', '/v2/node/create_invoice', {
      body: { amount: '5' },
    });
    await send(baseUrl, 'POST', '/sandbox/pay', { body: { payable: body.invoice } });
    await until(() => receiver.held().length === 1);
    await expectGoodEnd(first);
    receiver.behave();
    const second = dev('webhook', '--webhook-url', receiver.url);
    const again = await second.ready();
    await until(() => receiver.accepted().length === 1);
    expect(receiver.accepted()).toEqual(receiver.held());
    await until(async () => {
      const { body } = await send(again, 'GET', '/v2/webhooks/deliveries');
      const [delivery] = body.deliveries as { state: string; attempts: number }[];
      expect(delivery?.attempts).toBeLessThanOrEqual(1);
      return delivery?.state === 'delivered';
    });
    await expectGoodEnd(second);
  },
  TEST_LIMIT_MS,
);

test(
  'SIGTERM while clients read neither a stream nor a list ends all the same',
  async () => {
    const process = dev('unread');
    const baseUrl = await process.ready();
    const made = Array.from({ length: 300 }, () =>
      send(baseUrl, 'POST', '/v2/node/create_invoice', { body: { amount: '5' } }),
    );
    await Promise.all(made);
    await fetch(`${baseUrl}/v2/node/sync_payments`, { method: 'PUT' });
    const list = 'GET /v2/node/list_payments?filter=all&limit=1000';
    await unreadRequest(baseUrl, list, 60);
    await unreadRequest(baseUrl, 'GET /v2/node/events?start_index=u0000000000000000000-ln_0', 1);
    await unreadRequest(baseUrl, 'GET /v2/node/events', 1);
    await expectGoodEnd(process);
  },
  TEST_LIMIT_MS,
);

test(
  'SIGTERM ends a stream that is read with the event end, and the process with code 0',
  async () => {
    const process = dev('stream');
    const baseUrl = await process.ready();
    const response = await fetch(`${baseUrl}/v2/node/events`);
    const text = response.text();
    await expectGoodEnd(process);
    expect(await text).toMatch(/event: end\ndata: \{"code":8,/);
  },
  TEST_LIMIT_MS,
);

test(
  'SIGTERM while a payment is on its way: the call is told that it may be sent, and the payment stays pending',
  async () => {
    const first = dev('paying');
    const baseUrl = await first.ready();
    const { body } = await send(baseUrl, 'POST', '/sandbox/invoice', {
      body: { amount: '5', behavior: 'hold' },
    });
    const paying = send(baseUrl, 'POST', '/v2/node/pay_invoice', {
      body: { invoice: body.invoice },
    });
    const hash = String(body.payment_hash);
    const pending = async (url: string) => {
      const { body } = await send(url, 'GET', '/v2/node/updated_payments');
      return (body.payments as { hash: string; status: string; index: string }[]).find(
        (payment) => payment.hash === hash && payment.status === 'pending',
      );
    };
    await until(async () => (await pending(baseUrl)) !== undefined);
    const index = (await pending(baseUrl))?.index;
    await expectGoodEnd(first);
    expect(await paying).toMatchObject({
      status: 503,
      body: { code: 8, data: { sent: 'unknown', index } },
    });
    const second = dev('paying');
    expect((await pending(await second.ready()))?.index).toBe(index);
    await expectGoodEnd(second);
  },
  TEST_LIMIT_MS,
);

test(
  'SIGTERM while the node hangs ends all the same',
  async () => {
    const [seed, cert] = [join(folder, 'seed'), join(folder, 'cert')];
    writeFileSync(seed, '07'.repeat(32), { mode: 0o600 });
    writeFileSync(cert, CERT);
    let connections = 0;
    const node = createServer((socket) => {
      connections++;
      socket.on('error', () => undefined);
    });
    await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve));
    cleanups.push(() => node.close());
    const { port } = node.address() as AddressInfo;
    const process = startBinary([
      ...['serve', '--data-dir', join(folder, 'node'), '--listen-addr', '127.0.0.1:0'],
      ...['--root-seed-path', seed, '--node-url', `https://127.0.0.1:${port}`],
      ...['--node-cert-path', cert],
    ]);
    cleanups.push(() => process.signal('SIGKILL'));
    const baseUrl = await process.ready();
    const asked = send(baseUrl, 'GET', '/v2/node/node_info').catch(() => null);
    await until(() => connections > 0);
    await expectGoodEnd(process);
    await asked;
  },
  TEST_LIMIT_MS,
);

/** Sends the request `times` times on one connection, waits for the first bytes, and reads no more. */
async function unreadRequest(baseUrl: string, request: string, times: number): Promise<void> {
  const { hostname, port, host } = new URL(baseUrl);
  const socket = connect({ host: hostname, port: Number(port) });
  cleanups.push(() => socket.destroy());
  socket.on('error', () => undefined);
  const began = new Promise<void>((resolve) => {
    socket.once('data', () => {
      socket.pause();
      resolve();
    });
  });
  socket.write(`${request} HTTP/1.1\r\nhost: ${host}\r\n\r\n`.repeat(times));
  await began;
}
