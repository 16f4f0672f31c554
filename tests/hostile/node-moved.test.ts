import { afterEach, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { startFakeLnd } from './fake-lnd.ts';
import { startFaultProxy } from './fault-proxy.ts';
import { credentialsOf, startSidecarOnFake } from './sidecar-on-fake.ts';

setDefaultTimeout(SLOW_TEST_MS);

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
}, SLOW_TEST_MS);

test('a node with a new URL and certificate is found again by its file, and its clients go on', async () => {
  const fake = await startFakeLnd();
  cleanups.push(() => fake.stop());
  const before = await startFaultProxy(fake);
  const { adminMacaroon } = fake;
  const sidecar = await startSidecarOnFake({ ...before, adminMacaroon });
  cleanups.push(() => sidecar.close());
  const { client_credentials } = await sidecar.post('/v2/node/create_client', {
    scopes: ['receive'],
  });
  const create = () =>
    sidecar.call('POST', '/v2/node/create_invoice', {
      body: { amount: '7' },
      credentials: client_credentials,
    });
  expect((await create()).status).toBe(200);

  await before.stop();
  expect((await create()).status).toBe(503);
  const after = await startFaultProxy(fake);
  cleanups.push(() => after.stop());
  writeFileSync(sidecar.credentialsPath, `${await credentialsOf({ ...after, adminMacaroon })}\n`);

  await until(async () => (await create()).status === 200, 'the client goes on');
  const health = async () => (await sidecar.get('/v2/health')).status;
  await until(async () => (await health()) === 'ok', 'health is ok');
});
