import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { DIALECTS, openPaidService } from '../conformance/paid-services.ts';
import { startDevSidecar } from '../support/dev-sidecar.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/ports.ts';
import { randomFrom } from '../support/random.ts';
import { type Body, send, sendOk, succeedingCalls } from '../support/requests.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { ROUNDS, SEED } from './seed.ts';

setDefaultTimeout(SLOW_TEST_MS);

const folder = temporaryFolder('paid-kill');
afterAll(() => removeFolder(folder));

test(`killed ${ROUNDS} times between a resource's challenge and its answer (seed ${SEED}): nothing is paid twice, and every resource that was paid is given`, async () => {
  const random = randomFrom(SEED);
  const port = freePort();
  const start = () => startDevSidecar({ dataDir: join(folder, 'data'), port });
  let sidecar = await start();
  const { baseUrl } = sidecar;
  const calls = succeedingCalls((method, path, options) => send(baseUrl, method, path, options));
  const { client_credentials: bob } = await calls.post('/sandbox/wallets');
  const services = DIALECTS.map((dialect) => openPaidService({ ...calls, bob }, dialect));
  const balances = async () => {
    const both = [
      await calls.get('/v2/node/node_info'),
      await calls.get('/v2/node/node_info', {}, bob),
    ];
    return both.map(({ lightning_balance }) => Number(lightning_balance));
  };
  const [payerBefore = 0, payeeBefore = 0] = await balances();
  let fees = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const service = services[round % services.length];
    if (!service) throw new Error('There is no service.');
    // A token that was paid for in an earlier round must not spare this one its payment.
    const { client_credentials: credentials, client_pk } = await calls.post(
      '/v2/node/create_client',
      { scopes: ['send'] },
    );
    const ask = (): Promise<Body> =>
      sendOk(baseUrl, 'POST', '/v2/node/fetch', {
        body: { url: `${service.url}/${round}`, max_cost: '100' },
        headers: { 'idempotency-key': `round ${round}` },
        credentials,
      });
    const challenged = service.challenged();
    const first = ask().catch(() => null);
    await challenged;
    await Bun.sleep(Math.floor(random() * 40));
    await sidecar.kill();
    await first;
    sidecar = await start();
    const { body, payment } = await ask();
    expect(body).toBe(`the resource /${round}`);
    expect(payment).toMatchObject({ status: 'completed', amount: '25' });
    fees += Number(payment.fees);
    // A wallet has at most 100 clients.
    await calls.post('/v2/node/revoke_client', { client_pk });
  }
  const [payerAfter = 0, payeeAfter = 0] = await balances();
  expect(payeeAfter - payeeBefore).toBe(25 * ROUNDS);
  expect(payerBefore - payerAfter).toBeCloseTo(25 * ROUNDS + fees, 3);
  for (const service of services) service.stop();
  await sidecar.stop();
});
