import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { BARE_ENV, startBinary } from '../support/binary.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { send } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { hangingReceiver } from './hanging-receiver.ts';

setDefaultTimeout(SLOW_TEST_MS);

const folder = temporaryFolder('held');
afterAll(() => removeFolder(folder));
/** A lease that is not given back ends after 30 seconds. */
const FAR_BELOW_A_LEASE_MS = 15_000;

test('a delivery that was in flight at a SIGKILL comes at once after the restart, under the same id', async () => {
  const receiver = hangingReceiver();
  const start = () =>
    startBinary(
      [
        ...['dev', '--data-dir', join(folder, 'data'), '--listen-addr', '127.0.0.1:0'],
        ...['--webhook-url', receiver.url],
      ],
      {
        env: {
          ...BARE_ENV,
          SERVICE_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 3).toString('base64')}`,
        },
      },
    );
  const first = start();
  const baseUrl = await first.ready();
  const { body } = await send(baseUrl, 'POST', '/v2/node/create_invoice', {
    body: { amount: '5' },
  });
  await send(baseUrl, 'POST', '/sandbox/pay', { body: { payable: body.invoice } });
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
  expect(await second.stop()).toBe(0);
  await receiver.stop();
}, 120_000);
