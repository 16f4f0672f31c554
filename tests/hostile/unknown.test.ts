import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Answer, Body } from '../support/requests.ts';
import { SLOW_TEST_MS, until, waitUntil } from '../support/until.ts';
import { type FakeLnd, startFakeLnd } from './fake-lnd.ts';
import { type Fault, type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import { type SidecarOnFake, startSidecarOnFake } from './sidecar-on-fake.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** Decisions section 5: unknown is not failed. */

const LONG_MS = 120_000;
let fake: FakeLnd;
let proxy: FaultProxy;
let sidecar: SidecarOnFake;

beforeAll(async () => {
  fake = await startFakeLnd({ onchainSat: 5_000_000n });
  proxy = await startFaultProxy(fake);
  const { adminMacaroon } = fake;
  sidecar = await startSidecarOnFake({ url: proxy.url, cert: proxy.cert, adminMacaroon });
}, LONG_MS);
afterAll(async () => {
  await sidecar?.close();
  await proxy?.stop();
  await fake?.stop();
}, LONG_MS);
afterEach(() => proxy.rules());

const SEND = { method: 'POST', path: /^\/v2\/router\/send/, nth: 1 } as const;

const pay = (invoice: string, key?: string): Promise<Answer> =>
  sidecar.call('POST', '/v2/node/pay_invoice', {
    body: { invoice },
    headers: { prefer: 'wait=2', ...(key === undefined ? {} : { 'idempotency-key': key }) },
  });

/** The index in an answer that says only that something may have been sent. */
function pendingIndex({ status, body }: Answer): string {
  if (status === 202) {
    expect(body.status).toBe('pending');
    return body.index;
  }
  expect([3, 4]).toContain(body.code);
  expect(body.data).toMatchObject({ sent: 'unknown', index: expect.any(String) });
  return body.data.index;
}

const payment = (index: string): Promise<Body> => sidecar.get('/v2/node/payment', { index });
const ended = (index: string) =>
  waitUntil('the payment has ended', async () => (await payment(index)).status !== 'pending');

const AFTER: readonly Fault[] = [
  { kind: 'cut-after' },
  { kind: 'page', status: 502 },
  { kind: 'page', status: 504 },
  { kind: 'unavailable' },
  { kind: 'garble' },
  { kind: 'cut-stream', afterItems: 0 },
  { kind: 'cut-stream', afterItems: 1 },
];

test.each(AFTER.map((fault) => [JSON.stringify(fault), fault] as const))(
  'a send that the node has is pending until the node shows its end, and is sent once: %s',
  async (_, fault) => {
    const { invoice, hash, preimage } = fake.payments.foreignInvoice({ amountMsat: 5_000n });
    fake.payments.decide(hash, { end: 'hold' });
    proxy.rules({ ...SEND, fault });
    const fired = proxy.fired.length;
    const index = pendingIndex(await pay(invoice));
    await until(() => proxy.fired.length > fired);
    expect(proxy.fired.length).toBe(fired + 1);
    expect((await payment(index)).status).toBe('pending');
    fake.payments.resolve(hash, { end: 'succeed' });
    await ended(index);
    expect(await payment(index)).toMatchObject({ status: 'completed', preimage });
    // Paying the same invoice again returns that payment.
    expect((await pay(invoice)).body).toMatchObject({ index, status: 'completed' });
    expect(fake.payments.attempts.get(hash)).toBe(1);
  },
  LONG_MS,
);

test(
  'a 202 is not final for its key: a repeat is answered as the payment then stands',
  async () => {
    const { invoice, hash } = fake.payments.foreignInvoice({ amountMsat: 5_000n });
    fake.payments.decide(hash, { end: 'hold' });
    proxy.rules({ ...SEND, fault: { kind: 'cut-after' } });
    const index = pendingIndex(await pay(invoice, 'key'));
    fake.payments.resolve(hash, { end: 'succeed' });
    await ended(index);
    expect((await pay(invoice, 'key')).body).toMatchObject({ index, status: 'completed' });
    expect(fake.payments.attempts.get(hash)).toBe(1);
  },
  LONG_MS,
);

test(
  'a send that never reached the node is pending too: the sidecar cannot know it',
  async () => {
    const { invoice, hash } = fake.payments.foreignInvoice({ amountMsat: 5_000n });
    proxy.rules({ ...SEND, fault: { kind: 'cut-before' } });
    const index = pendingIndex(await pay(invoice));
    expect(['pending', 'completed']).toContain((await payment(index)).status);
    expect(fake.payments.attempts.get(hash) ?? 0).toBeLessThanOrEqual(1);
  },
  LONG_MS,
);

test(
  'a request that the node got twice pays once',
  async () => {
    const { invoice, hash, preimage } = fake.payments.foreignInvoice({ amountMsat: 5_000n });
    proxy.rules({ ...SEND, fault: { kind: 'twice' } });
    const { body } = await pay(invoice);
    await ended(body.index);
    expect(await payment(body.index)).toMatchObject({ status: 'completed', preimage });
    expect(fake.payments.attempts.get(hash)).toBe(1);
  },
  LONG_MS,
);

test(
  "a node's refusal is an error that says that nothing was sent",
  async () => {
    const { invoice } = fake.payments.foreignInvoice({ amountMsat: 5_000n, expirySecs: 3600 });
    fake.advanceClock(7200);
    try {
      const { status, body } = await pay(invoice);
      expect(status).toBe(400);
      expect(body).toMatchObject({ code: 106, data: { sent: 'no' } });
    } finally {
      fake.advanceClock(-7200);
    }
  },
  LONG_MS,
);

const ONCHAIN: readonly Fault[] = [
  { kind: 'cut-after' },
  { kind: 'cut-before' },
  { kind: 'page', status: 504 },
  { kind: 'garble' },
];

test.each(ONCHAIN.map((fault) => [fault.kind, fault] as const))(
  'an on-chain send whose answer was lost is one transaction, whatever is repeated: %s',
  async (kind, fault) => {
    const { address, script } = fake.wallet.newAddress();
    proxy.rules({ method: 'POST', path: /^\/v1\/transactions$|^\/v2\/wallet\/tx$/, nth: 1, fault });
    const fired = proxy.fired.length;
    const send = () =>
      sidecar.call('POST', '/v2/node/pay_onchain', {
        body: { address, amount: '30000', client_payment_id: idOf(kind) },
        headers: { 'idempotency-key': `onchain-${kind}` },
      });
    const first = await send();
    expect(proxy.fired.length).toBe(fired + 1);
    expect([200, 202, 502, 503, 504]).toContain(first.status);
    await waitUntil('the txid is known', async () => Boolean((await send()).body.txid), 20_000);
    const paying = () =>
      fake.wallet.list().filter(({ outputs }) => outputs.some((one) => one.script === script));
    await waitUntil('the node has it', async () => paying().length > 0, 20_000);
    const again = await send();
    expect(paying().map(({ txid }) => txid)).toEqual([again.body.txid]);
    expect(again.body.status).toBe('pending');
    fake.wallet.mine(6);
    await ended(again.body.index);
    expect(await payment(again.body.index)).toMatchObject({ status: 'completed' });
  },
  LONG_MS,
);

/** 64 hex characters derived from a word. */
function idOf(word: string): string {
  return Buffer.from(word).toString('hex').padEnd(64, '0');
}
