import {
  afterAll,
  afterEach,
  beforeAll,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import { encodeWitnessAddress } from '../../src/codecs/address.ts';
import { type Bolt11Fields, decodeBolt11, encodeBolt11 } from '../../src/codecs/bolt11/index.ts';
import type { Body } from '../support/requests.ts';
import { SLOW_TEST_MS, until, waitUntil } from '../support/until.ts';
import { hashOf } from './fake-lnd/invoices.ts';
import { base64Of } from './fake-lnd/rpc.ts';
import { claimsIdentity, makesAddress, makesInvoice, tellsPayment } from './hostile-lnd/lies.ts';
import { type HostileLnd, startHostileLnd } from './hostile-lnd.ts';
import { type SidecarOnFake, startSidecarOnFake } from './sidecar-on-fake.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** The wallet's own facts come before what a node says (docs/decisions.md 159, 160). */

const PREIMAGE = '5e'.repeat(32);
const OTHER = { payment_hash: hashOf(PREIMAGE), payment_preimage: PREIMAGE };
let node: HostileLnd;
let sidecar: SidecarOnFake;

beforeAll(async () => {
  node = await startHostileLnd();
  sidecar = await startSidecarOnFake(node);
}, SLOW_TEST_MS);
afterAll(async () => {
  await sidecar?.close();
  await node?.stop();
}, SLOW_TEST_MS);
afterEach(() => node.misbehave());

const payment = (index: string): Promise<Body> => sidecar.get('/v2/node/payment', { index });
const health = async (): Promise<string> => (await sidecar.get('/v2/health')).status;

async function clientWithBudget(): Promise<string> {
  const made = await sidecar.post('/v2/node/create_client', {
    scopes: ['send'],
    budget: { amount: '100', period: 'total' },
  });
  return made.client_credentials;
}

async function pay(invoice: string, credentials: string, waitSecs = 2): Promise<Body> {
  const answer = await sidecar.call('POST', '/v2/node/pay_invoice', {
    body: { invoice },
    headers: { prefer: `wait=${waitSecs}` },
    credentials,
  });
  return answer.body;
}

describe('an outgoing payment', () => {
  test('is not completed by the hash and preimage of another one, and keeps its budget', async () => {
    const credentials = await clientWithBudget();
    const out = node.payments.foreignInvoice({ amountMsat: 80_000n });
    node.payments.decide(out.hash, { end: 'succeed' });
    node.misbehave(tellsPayment(OTHER));
    const seen = await pay(out.invoice, credentials);
    await until(() => node.misdone > 0);
    expect(await payment(seen.index)).toMatchObject({
      status: 'pending',
      hash: out.hash,
      preimage: null,
    });
    expect(await health()).toMatch('another hash');
    expect(sidecar.log()).toMatch('another payment hash');
    const { payments } = await sidecar.get('/v2/node/updated_payments', {});
    const listed = payments.find(({ index }: Body) => index === seen.index);
    expect(listed).toMatchObject({ status: 'pending', hash: out.hash, preimage: null });
    const second = node.payments.foreignInvoice({ amountMsat: 80_000n });
    expect(await pay(second.invoice, credentials)).toMatchObject({ code: 109 });
    node.misbehave();
    await waitUntil('the truth is known', async () => {
      return (await payment(seen.index)).preimage === out.preimage;
    });
  });

  test('costs at least its invoice, and no fees below 0, whatever the node says of it', async () => {
    const credentials = await clientWithBudget();
    const out = node.payments.foreignInvoice({ amountMsat: 60_000n });
    node.payments.decide(out.hash, { end: 'succeed' });
    node.misbehave(tellsPayment({ value_msat: '0', fee_msat: '-999' }));
    const seen = await pay(out.invoice, credentials, 30);
    expect(await payment(seen.index)).toMatchObject({
      status: 'completed',
      amount: '60',
      fees: '0',
      preimage: out.preimage,
    });
    const second = node.payments.foreignInvoice({ amountMsat: 60_000n });
    expect(await pay(second.invoice, credentials)).toMatchObject({ code: 109 });
    expect(await health()).toMatch('lower cost');
  });
});

describe('what the node makes for receiving is handed out only if it is what was asked for', () => {
  /** The invoice with other terms, signed with the wallet's own key unless another is given. */
  const rewritten = (change: Partial<Bolt11Fields>, key = node.secretKey) =>
    makesInvoice(({ payment_request }) => {
      const made = decodeBolt11(String(payment_request));
      const fields: Bolt11Fields = {
        network: made.network,
        amountMsat: made.amountMsat,
        timestampSecs: made.timestampSecs,
        paymentHash: made.paymentHash,
        paymentSecret: made.paymentSecret,
        description: made.description ?? '',
        expirySecs: made.expirySecs,
        features: [8, 14, 17],
      };
      return { payment_request: encodeBolt11({ ...fields, ...change }, key) };
    });

  test.each([
    ['payee', () => rewritten({}, new Uint8Array(32).fill(9))],
    ['network', () => rewritten({ network: 'bitcoin' })],
    ['payment hash', () => rewritten({ paymentHash: 'aa'.repeat(32) })],
    ['amount', () => rewritten({ amountMsat: 1000n })],
    ['description', () => rewritten({ description: 'coffee' })],
    ['expiry', () => rewritten({ expirySecs: 7 })],
    ['not the one it speaks of', () => makesInvoice(() => ({ payment_addr: base64Of('aa') }))],
    ['cannot be read', () => makesInvoice(() => ({ payment_request: '<script>' }))],
  ])('an invoice: %s', async (what, lie) => {
    node.misbehave(lie());
    const body = { amount: '7', description: 'tea', expiration_secs: 90 };
    for (const more of [
      {},
      { payment_hash: crypto.getRandomValues(Buffer.alloc(32)).toString('hex') },
    ]) {
      const answer = await sidecar.call('POST', '/v2/node/create_invoice', {
        body: { ...body, ...more },
      });
      expect(answer.status).toBe(502);
      expect(answer.body).toMatchObject({ code: 5, msg: expect.stringMatching(what) });
    }
    expect(await health()).toMatch(what);
    node.misbehave();
    expect(await sidecar.post('/v2/node/create_invoice', body)).toMatchObject({ amount: '7' });
  });

  test('an address: what is none, of another network or of another type', async () => {
    const elsewhere = encodeWitnessAddress(0, new Uint8Array(20), 'bitcoin') ?? '';
    const taproot = encodeWitnessAddress(1, new Uint8Array(32).fill(2), 'regtest') ?? '';
    for (const lie of ['<script>', elsewhere, taproot]) {
      node.misbehave(makesAddress(lie));
      const answer = await sidecar.call('POST', '/v2/node/get_next_unused_address', {
        body: { type: 'segwit' },
      });
      expect(node.misdone).toBeGreaterThan(0);
      expect(answer.body).toMatchObject({ code: 5 });
      expect(JSON.stringify(answer.body)).not.toContain(lie);
    }
    expect(await health()).toMatch('no address');
  });
});

test('a node that claims another key is not believed', async () => {
  const claimed = `02${'22'.repeat(32)}`;
  node.misbehave(claimsIdentity(claimed));
  const answer = await sidecar.call('GET', '/v2/node/node_info', {});
  expect(answer.body).toMatchObject({ code: 5 });
  expect(JSON.stringify(answer.body)).not.toContain(claimed);
  expect(await health()).toMatch('another node key');
});
