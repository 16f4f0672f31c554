import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Body } from '../support/requests.ts';
import { SLOW_TEST_MS, until, waitUntil } from '../support/until.ts';
import { settlesUnpaid, succeedsFalsely } from './hostile-lnd/lies.ts';
import { type HostileLnd, startHostileLnd } from './hostile-lnd.ts';
import { type SidecarOnFake, startSidecarOnFake } from './sidecar-on-fake.ts';

setDefaultTimeout(SLOW_TEST_MS);

/**
 * A Lightning payment completes only with proof (docs/decisions.md 43): the node shows it settled, its preimage hashes
 * to the payment hash, and an inbound one has at least the invoiced amount.
 */

const LONG_MS = 90_000;
const WRONG = 'ab'.repeat(32);
let node: HostileLnd;
let sidecar: SidecarOnFake;

beforeAll(async () => {
  node = await startHostileLnd();
  sidecar = await startSidecarOnFake(node);
}, LONG_MS);
afterAll(async () => {
  await sidecar?.close();
  await node?.stop();
}, LONG_MS);
afterEach(() => node.misbehave());

const invoice = (amount: string): Promise<Body> =>
  sidecar.post('/v2/node/create_invoice', { amount });
const payment = (index: string): Promise<Body> => sidecar.get('/v2/node/payment', { index });

/** Resolves when the sidecar has applied everything that the node's streams showed before the call. */
async function caughtUp(): Promise<void> {
  const made = await invoice('1');
  node.paysInvoice(made.payment_hash);
  await waitUntil('it is applied', async () => (await payment(made.index)).status === 'completed');
}

/** Makes a pay call that waits for at most 2 seconds. */
async function pay(bolt11: string, credentials?: string): Promise<Body> {
  const answer = await sidecar.call('POST', '/v2/node/pay_invoice', {
    body: { invoice: bolt11 },
    headers: { prefer: 'wait=2' },
    credentials,
  });
  return answer.body;
}

test(
  'an invoice that is settled with a preimage that does not fit is not completed',
  async () => {
    const made = await invoice('7');
    node.paysInvoice(made.payment_hash, { preimage: WRONG });
    await caughtUp();
    expect(await payment(made.index)).toMatchObject({ status: 'pending', preimage: null });
  },
  LONG_MS,
);

test(
  'an invoice that nothing has paid is not completed because the node says so',
  async () => {
    const made = await invoice('7');
    node.misbehave(settlesUnpaid());
    const seen = await payment(made.index);
    expect(node.misdone).toBeGreaterThan(0);
    expect(seen).toMatchObject({ status: 'pending', preimage: null });
  },
  LONG_MS,
);

test(
  'an invoice that received less than it asks for is not completed',
  async () => {
    const made = await invoice('7');
    node.paysInvoice(made.payment_hash, { amountMsat: 6_999n });
    await caughtUp();
    expect(await payment(made.index)).toMatchObject({ status: 'pending' });
  },
  LONG_MS,
);

test(
  'an invoice that received more than it asks for is completed with what was received',
  async () => {
    const made = await invoice('7');
    node.paysInvoice(made.payment_hash, { amountMsat: 8_000n });
    await caughtUp();
    expect(await payment(made.index)).toMatchObject({ status: 'completed', amount: '8' });
  },
  LONG_MS,
);

test(
  'an outgoing payment whose preimage does not fit stays pending and shows none',
  async () => {
    const out = node.payments.foreignInvoice({ amountMsat: 5_000n });
    node.payments.decide(out.hash, { end: 'succeed', preimage: WRONG });
    const seen = await pay(out.invoice);
    await until(() => node.payments.attempts.has(out.hash));
    expect(node.payments.get(out.hash).status).toBe('SUCCEEDED');
    await caughtUp();
    expect(await payment(seen.index)).toMatchObject({ status: 'pending', preimage: null });
  },
  LONG_MS,
);

test(
  'a held payment that the node calls settled stays pending, and completes when its preimage is there',
  async () => {
    const out = node.payments.foreignInvoice({ amountMsat: 5_000n });
    node.payments.decide(out.hash, { end: 'hold' });
    node.misbehave(succeedsFalsely());
    const seen = await pay(out.invoice);
    await until(() => node.misdone > 0);
    expect(await payment(seen.index)).toMatchObject({ status: 'pending', preimage: null });
    node.misbehave();
    node.payments.resolve(out.hash, { end: 'succeed' });
    await waitUntil('it fits', async () => (await payment(seen.index)).preimage === out.preimage);
    expect(await payment(seen.index)).toMatchObject({ status: 'completed' });
  },
  LONG_MS,
);

test(
  'a preimage that does not fit keeps the budget, and shows in health and in the log',
  async () => {
    const { client_credentials } = await sidecar.post('/v2/node/create_client', {
      scopes: ['send'],
      budget: { amount: '100', period: 'total' },
    });
    const out = node.payments.foreignInvoice({ amountMsat: 80_000n });
    node.payments.decide(out.hash, { end: 'succeed', preimage: WRONG });
    await pay(out.invoice, client_credentials);
    await caughtUp();
    const second = node.payments.foreignInvoice({ amountMsat: 80_000n });
    expect(await pay(second.invoice, client_credentials)).toMatchObject({ code: 109 });
    expect((await sidecar.get('/v2/health')).status).not.toBe('ok');
    expect(sidecar.log()).toMatch(/preimage/);
  },
  LONG_MS,
);
