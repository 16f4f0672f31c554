import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { startDevSidecar } from '../support/dev-sidecar.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/ports.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { hangingReceiver } from './hanging-receiver.ts';

setDefaultTimeout(SLOW_TEST_MS);

const folder = temporaryFolder('endpoints');
afterAll(() => removeFolder(folder));
const PAYMENTS = 3;

test('what endpoints are owed survives a SIGKILL: each gets every payment, under one webhook-id, and a deleted one nothing', async () => {
  const [one, other, deleted] = [hangingReceiver(), hangingReceiver(), hangingReceiver()];
  const port = freePort();
  const start = () => startDevSidecar({ dataDir: join(folder, 'data'), port });
  let sidecar = await start();
  const post = async <T>(path: string, body: unknown) =>
    (await sidecar.call('POST', path, { body })) as T;
  const add = (url: string) => post<{ id: string }>('/v2/webhooks/endpoints', { url });
  await add(one.url);
  await add(other.url);
  const { id } = await add(deleted.url);
  for (let count = 0; count < PAYMENTS; count++) {
    const { invoice } = await post<{ invoice: string }>('/v2/node/create_invoice', { amount: '5' });
    await post('/sandbox/pay', { payable: invoice });
  }
  for (const receiver of [one, other, deleted]) {
    await until(() => receiver.held().length === PAYMENTS);
  }
  expect(await post('/v2/webhooks/endpoints/delete', { id })).toEqual({
    canceled: PAYMENTS,
  } as never);
  await sidecar.kill();
  for (const receiver of [one, other, deleted]) receiver.behave();
  sidecar = await start();
  for (const receiver of [one, other]) {
    await until(() => receiver.accepted().length === PAYMENTS);
    expect(receiver.accepted().toSorted()).toEqual(receiver.held().toSorted());
  }
  expect(one.accepted().toSorted()).toEqual(other.accepted().toSorted());
  expect(deleted.accepted()).toEqual([]);
  expect(await sidecar.stop()).toBe(0);
  for (const receiver of [one, other, deleted]) await receiver.stop();
});
