import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { type FakeLnd, startFakeLnd } from './fake-lnd.ts';
import { type SidecarOnFake, startSidecarOnFake } from './sidecar-on-fake.ts';

setDefaultTimeout(SLOW_TEST_MS);

const LONG_MS = 60_000;
let fake: FakeLnd;
let sidecar: SidecarOnFake;

beforeAll(async () => {
  fake = await startFakeLnd();
  sidecar = await startSidecarOnFake(fake);
}, LONG_MS);
afterAll(async () => {
  await sidecar?.close();
  await fake?.stop();
}, LONG_MS);

test(
  'on a fake that behaves well the sidecar receives, pays and shows the node',
  async () => {
    const info = await sidecar.get('/v2/node/node_info');
    expect(info.node_pk).toBe(fake.pubkey);
    const made = await sidecar.post('/v2/node/create_invoice', { amount: '7' });
    fake.paysInvoice(made.payment_hash);
    await until(async () => {
      const payment = await sidecar.get('/v2/node/payment', { index: made.index });
      return payment.status === 'completed' && payment.amount === '7';
    });
    const { invoice, preimage, hash } = fake.payments.foreignInvoice({ amountMsat: 5_000n });
    fake.payments.decide(hash, { end: 'succeed', feeMsat: 1_000n });
    expect(await sidecar.post('/v2/node/pay_invoice', { invoice })).toMatchObject({
      ...{ status: 'completed', amount: '5', fees: '1', preimage },
    });
    const address = fake.wallet.newAddress().address;
    const sent = await sidecar.post('/v2/node/pay_onchain', { address, amount: '30000' });
    expect(fake.wallet.get(sent.txid).height).toBeNull();
  },
  LONG_MS,
);

test(
  'on a fake a client of the sidecar can do what it was granted',
  async () => {
    const made = await sidecar.post('/v2/node/create_client', { scopes: ['read_info'] });
    await sidecar.get('/v2/node/node_info', {}, made.client_credentials);
    await sidecar.post('/v2/node/revoke_client', { client_pk: made.client_pk });
    const after = await sidecar.call('GET', '/v2/node/node_info', {
      credentials: made.client_credentials,
    });
    expect(after.status).toBe(401);
  },
  LONG_MS,
);
