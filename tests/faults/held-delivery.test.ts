import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hangingReceiver } from './hanging-receiver.ts';
import { call, startProcess, until } from './process.ts';

const folder = mkdtempSync(join(tmpdir(), 'wallet-sidecar-held-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
/** Less than the 30 seconds after which a lease ends by itself. */
const FAR_BELOW_A_LEASE_MS = 15_000;

test('a delivery that was in flight at a SIGKILL comes at once after the restart, under the same id', async () => {
  const receiver = hangingReceiver();
  const start = () =>
    startProcess(
      [
        ...['dev', '--data-dir', join(folder, 'data'), '--listen-addr', '127.0.0.1:0'],
        ...['--webhook-url', receiver.url],
      ],
      { env: { SERVICE_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 3).toString('base64')}` } },
    );
  const first = start();
  const baseUrl = await first.ready();
  const { json } = await call(`${baseUrl}/v2/node/create_invoice`, { body: { amount: '5' } });
  await call(`${baseUrl}/sandbox/pay`, { body: { payable: json.invoice } });
  await until(() => receiver.held().length === 1);
  first.signal('SIGKILL');
  await first.exit();
  receiver.behave();
  const second = start();
  await second.ready();
  const readyMs = performance.now();
  await until(() => receiver.accepted().length === 1);
  expect(performance.now() - readyMs).toBeLessThan(FAR_BELOW_A_LEASE_MS);
  expect(receiver.accepted()).toEqual(receiver.held());
  expect((await second.terminate()).code).toBe(0);
  await receiver.stop();
}, 120_000);
