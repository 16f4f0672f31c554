import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { SLOW_TEST_MS, until, waitUntil } from '../support/until.ts';
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

interface Place {
  readonly node: HostileLnd;
  readonly sidecar: SidecarOnFake;
}
let shared: Place;

async function open(): Promise<Place> {
  const node = await startHostileLnd();
  return { node, sidecar: await startSidecarOnFake(node) };
}
async function close({ node, sidecar }: Place): Promise<void> {
  await sidecar.close();
  await node.stop();
}
/** Ends what the node does wrong; the sidecar must work with it again. */
async function recovered(place: Place): Promise<void> {
  place.node.misbehave();
  await waitUntil('the node serves again', async () => (await info(place)).status === 200);
}
/** Tests that wait for a limit run side by side, each in a place of its own. */
async function apart(use: (place: Place) => Promise<void>): Promise<void> {
  const place = await open();
  try {
    await use(place);
    await recovered(place);
  } finally {
    await close(place);
  }
}

beforeAll(async () => {
  shared = await open();
}, LONG_MS);
afterAll(() => close(shared), LONG_MS);
afterEach(() => recovered(shared), LONG_MS);

const info = ({ sidecar }: Place) =>
  sidecar.call('GET', '/v2/node/node_info', { signal: AbortSignal.timeout(PATIENCE_MS) });

/** Creates an invoice with the sidecar, which then follows the node's streams for it. */
async function watched(): Promise<Invoice> {
  const { node, sidecar } = shared;
  const { payment_hash } = await sidecar.post('/v2/node/create_invoice', { amount: '5' });
  return node.invoices.get(payment_hash);
}

/** The code of the error that node_info answers while the node misbehaves. */
async function codeDuring(misdeed: Misdeed, place = shared): Promise<number> {
  place.node.misbehave(misdeed);
  const { body } = await info(place);
  expect(place.node.misdone).toBeGreaterThan(0);
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
    shared.node.misbehave(flood);
    await shared.node.restart();
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
    shared.node.misbehave(flood);
    await shared.node.restart();
    await over(flood);
    expect(flood.largest()).toBeLessThan(MOST_BYTES);
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

for (const [what, misdeed] of [
  ['a silent node', silent(INFO)],
  ['a node that trickles bytes', trickle(INFO)],
] as const) {
  test.concurrent(
    `${what} is error 4, in bounded time`,
    () => apart(async (place) => expect(await codeDuring(misdeed, place)).toBe(4)),
    LONG_MS,
  );
}

test.concurrent(
  'a pay call on a silent node answers when its Prefer says, and says that it may have been sent',
  () =>
    apart(async ({ node, sidecar }) => {
      node.misbehave(silent(/SendPaymentV2/));
      const { invoice } = node.payments.foreignInvoice({ amountMsat: 1000n });
      const answer = await sidecar.call('POST', '/v2/node/pay_invoice', {
        body: { invoice },
        headers: { prefer: 'wait=2' },
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      expect(answer).toMatchObject({ status: 202, body: { status: 'pending' } });
      await until(() => node.misdone > 0);
    }),
  LONG_MS,
);

/** Resolves when the sidecar has ended the flood, or has read more of it than it may. */
async function over(flood: Flood): Promise<void> {
  const isOver = async () => flood.ended() > 0 || flood.largest() >= MOST_BYTES;
  await waitUntil('the flood is given up', isOver);
}
