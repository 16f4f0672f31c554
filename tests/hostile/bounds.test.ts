import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { SLOW_TEST_MS, waitUntil } from '../support/until.ts';
import { type Invoice, invoiceJson } from './fake-lnd/invoices.ts';
import {
  answers,
  breaksOff,
  endlessBody,
  endlessList,
  type Flood,
  html,
  nests,
  silent,
  trickle,
} from './hostile-lnd/bytes.ts';
import { type HostileLnd, type Misdeed, startHostileLnd } from './hostile-lnd.ts';
import { type SidecarOnFake, startSidecarOnFake } from './sidecar-on-fake.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** Rules for every connector of real money: answers are bounded in size and time, and read field by field. */

const LONG_MS = 120_000;
/** More than any genuine answer of LND has, and small enough to do no harm. */
const MOST_BYTES = 128 * 2 ** 20;
/** A call is answered within this time, whatever the node does. */
const PATIENCE_MS = 40_000;
const INFO = /GetInfo|WalletBalance|ListChannels/;

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
afterEach(async () => {
  node.misbehave();
  // After each test the sidecar must work with the node again.
  await waitUntil('the node serves again', async () => (await info()).status === 200);
}, LONG_MS);

const info = () =>
  sidecar.call('GET', '/v2/node/node_info', { signal: AbortSignal.timeout(PATIENCE_MS) });

/** Creates an invoice with the sidecar, which then follows the node's streams for it. */
async function watched(): Promise<Invoice> {
  const { payment_hash } = await sidecar.post('/v2/node/create_invoice', { amount: '5' });
  return node.invoices.get(payment_hash);
}

/** The code of the error that node_info answers while the node misbehaves. */
async function codeDuring(misdeed: Misdeed): Promise<number> {
  node.misbehave(misdeed);
  const { body } = await info();
  expect(node.misdone).toBeGreaterThan(0);
  return body.code;
}

test(
  'an answer without an end is given up after a bounded number of bytes',
  async () => {
    const flood = endlessBody(INFO);
    expect(await codeDuring(flood)).toBe(5);
    expect(flood.largest()).toBeLessThan(MOST_BYTES);
  },
  LONG_MS,
);

test(
  'a list page without an end is given up after a bounded number of bytes',
  async () => {
    const item = invoiceJson(await watched());
    const flood = endlessList(/ListInvoices/, 'invoices', item);
    node.misbehave(flood);
    await node.restart();
    await over(flood);
    expect(flood.largest()).toBeLessThan(MOST_BYTES);
  },
  LONG_MS,
);

test(
  'a stream line without an end is given up after a bounded number of bytes',
  async () => {
    await watched();
    const flood = endlessBody(/SubscribeInvoices/);
    node.misbehave(flood);
    await node.restart();
    await over(flood);
    expect(flood.largest()).toBeLessThan(MOST_BYTES);
  },
  LONG_MS,
);

test(
  'a silent node is error 4, in bounded time',
  async () => {
    expect(await codeDuring(silent(INFO))).toBe(4);
  },
  LONG_MS,
);

test(
  'a node that trickles bytes is error 4, in bounded time',
  async () => {
    expect(await codeDuring(trickle(INFO))).toBe(4);
  },
  LONG_MS,
);

test(
  'a pay call on a silent node answers when its Prefer says, and says that it may have been sent',
  async () => {
    node.misbehave(silent(/SendPaymentV2/));
    const { invoice } = node.payments.foreignInvoice({ amountMsat: 1000n });
    const answer = await sidecar.call('POST', '/v2/node/pay_invoice', {
      body: { invoice },
      headers: { prefer: 'wait=2' },
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    expect(node.misdone).toBeGreaterThan(0);
    expect(answer).toMatchObject({ status: 202, body: { status: 'pending' } });
  },
  LONG_MS,
);

test(
  'wrong shapes are error 5',
  async () => {
    const wrong = [
      [],
      {},
      null,
      'text',
      { identity_pubkey: 7 },
      { channels: {} },
      { channels: [{ active: 'yes' }], total_balance: 12, confirmed_balance: {} },
    ];
    for (const value of wrong) expect(await codeDuring(answers(value, INFO))).toBe(5);
    expect(await codeDuring(html(200, INFO))).toBe(5);
    expect(await codeDuring(nests(200_000, INFO))).toBe(5);
  },
  LONG_MS,
);

test(
  "a proxy's page or a broken body is never a refusal nor an end of credentials",
  async () => {
    for (const misdeed of [html(502, INFO), html(504, INFO), breaksOff(INFO)]) {
      expect([3, 4, 5]).toContain(await codeDuring(misdeed));
    }
  },
  LONG_MS,
);

/** Resolves when the sidecar has ended the flood, or has read more of it than it may. */
async function over(flood: Flood): Promise<void> {
  const isOver = async () => flood.ended() > 0 || flood.largest() >= MOST_BYTES;
  await waitUntil('the flood is given up', isOver);
}
