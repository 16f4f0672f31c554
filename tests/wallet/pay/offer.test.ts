import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createHash, randomBytes } from 'node:crypto';
import { type Bolt12Invoice, decodeInvoice } from '../../../src/codecs/bolt12/index.ts';
import { ApiError, type ErrorName, refused } from '../../../src/model/errors.ts';
import { idOf } from '../../../src/model/payment.ts';
import type {
  FetchInvoiceCommand,
  NodeOffers,
  PayFetchedCommand,
  SendReport,
} from '../../../src/nodes/node.ts';
import { planOfferPayment } from '../../../src/wallet/pay/offer.ts';
import { send } from '../../../src/wallet/pay/send.ts';
import { type EffectNames, randomNames } from '../../../src/wallet/session/effect-names.ts';
import type { Session } from '../../../src/wallet/session/session.ts';
import { makeInvoice, makeOffer, makeRequest } from '../../support/bolt12-fixtures.ts';
import { WALLET } from '../../support/store-steps.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';
import { unreachable } from '../fake-node.ts';
import { type WalletWorld, walletWorld } from '../wallet-world.ts';
import { contextOf, shown } from './plan.ts';
import { errorOf, turns } from './send-world.ts';

setDefaultTimeout(SLOW_TEST_MS);

const FEES = { ppm: 10_000, leastMsat: 10_000n };
const OFFER = makeOffer();
const REQUEST = {
  offer: OFFER,
  amountMsat: 5000n,
  maxFeeMsat: null,
  message: 'thank you',
  personalNote: 'mine',
  externalId: null,
  viaName: 'satoshi@example.com',
};
/** Names that a key gives: a repeat has the same. */
const KEYED: EffectNames = {
  ...randomNames,
  isKeyed: true,
  bytes: () => new Uint8Array(32).fill(7),
};

let world: WalletWorld;
let owner: Session;
/** What the issuer answers, and what the node reports of the payment. */
let issue: (wish: FetchInvoiceCommand) => Promise<string>;
let pay: (command: PayFetchedCommand) => Promise<SendReport>;
let wishes: FetchInvoiceCommand[];
/** The caller's, and the one that the node was given. */
let caller: AbortController;
let given: AbortSignal | null;
let orders: PayFetchedCommand[];
let preimages: Map<string, string>;

beforeEach(async () => {
  world = await walletWorld();
  [wishes, orders, preimages] = [[], [], new Map()];
  [caller, given] = [new AbortController(), null];
  issue = async (wish) => invoiceFor(wish).text;
  pay = silence;
  const offers: NodeOffers = {
    kind: 'fetched',
    createOffer: () => Promise.reject(new Error('this was not to be called')),
    fetchInvoice(wish, signal) {
      wishes.push(wish);
      given = signal;
      return issue(wish);
    },
    payFetched(command) {
      orders.push(command);
      return pay(command);
    },
  };
  Object.assign(world.fake.node, { offers });
  ({ owner } = await world.start());
});
afterEach(() => world.close());

const silence = async (): Promise<SendReport> => ({ state: 'unknown', error: unreachable() });
const unfinished = () => world.store.spends.unfinished(WALLET);
const key = () =>
  world.store.idempotency.begin({ walletId: WALLET, caller: 'owner', key: 'k' }, 'print', 1);

/** The issuer's invoice, each with a preimage of its own. */
function invoiceFor({ offer, amountMsat, message }: FetchInvoiceCommand): Bolt12Invoice {
  const preimage = randomBytes(32);
  const paymentHash = createHash('sha256').update(preimage).digest('hex');
  preimages.set(paymentHash, preimage.toString('hex'));
  const note = message === null ? {} : { payerNote: message };
  const asked = amountMsat === null ? {} : { amountMsat };
  return makeInvoice(makeRequest(offer, { ...asked, ...note }), { paymentHash });
}

const planned = (names: EffectNames) =>
  planOfferPayment({ ...REQUEST, signal: caller.signal }, owner, FEES, names);
const context = (names: EffectNames) =>
  contextOf(owner, { names, idempotencyKey: names.isKeyed ? 'k' : null });
const sendOffer = (names: EffectNames = randomNames) => send(context(names), planned(names));
const failure = (names: EffectNames = randomNames) => errorOf(context(names), planned(names));

async function expectNothingLeft(): Promise<void> {
  expect(orders).toEqual([]);
  expect(await unfinished()).toEqual([]);
  expect(await world.store.watches.has(WALLET)).toBe(false);
  expect(await world.store.journal.tip(WALLET)).toBeNull();
}

/** The end of a payment that the node completed. */
async function completed({ index, createdAtMs, invoice }: PayFetchedCommand): Promise<SendReport> {
  const { payment } = (await world.store.spends.get(WALLET, index)) ?? {};
  if (payment === undefined) throw new Error('the payment is not stored');
  const preimage = preimages.get(invoice.paymentHash) ?? '';
  const end = { status: 'completed', statusMsg: 'completed', preimage, finalizedAtMs: 9 } as const;
  return shown({ ...payment, createdAtMs, ...end });
}

describe('the payment of an offer', () => {
  test('has its invoice and hash in its row before the node is asked to pay', async () => {
    await key();
    pay = async ({ index, invoice }) => {
      const [spend] = await unfinished();
      expect(spend).toMatchObject({
        state: 'asked',
        fetchedInvoice: invoice.text,
        payment: { index, hash: invoice.paymentHash, offerId: OFFER.offerId, invoice: null },
      });
      expect(await world.store.journal.get(WALLET, index)).toMatchObject({
        status: 'pending',
        hash: invoice.paymentHash,
      });
      expect(await key()).toMatchObject({ state: 'running', index });
      return silence();
    };
    const { payment } = await sendOffer(KEYED);
    const { amountMsat, offer, message, viaName } = REQUEST;
    expect(wishes).toEqual([{ offer, amountMsat, message, viaName }]);
    expect(orders).toMatchObject([
      { index: payment.index, maxFeeMsat: 10_000n, personalNote: 'mine' },
    ]);
    expect(idOf(payment)).not.toContain(payment.hash ?? '');
  });

  test('keeps its invoice once it is completed, and not when it failed', async () => {
    pay = completed;
    const done = (await sendOffer()).payment;
    expect(done).toMatchObject({ status: 'completed', message: 'thank you', personalNote: 'mine' });
    const kept = await world.store.spends.fetchedInvoice(WALLET, done.index);
    expect(decodeInvoice(kept ?? '').paymentHash).toBe(done.hash ?? '');
    pay = async (command) => {
      const report = await completed(command);
      if (report.state !== 'known') return report;
      return shown({ ...report.payment, status: 'failed', statusMsg: 'no route', preimage: null });
    };
    const failed = (await sendOffer()).payment;
    expect(failed.status).toBe('failed');
    expect(await world.store.spends.fetchedInvoice(WALLET, failed.index)).toBeNull();
  });
});

describe('an invoice that cannot be fetched leaves nothing behind and says so', () => {
  test.each<[ErrorName, string]>([
    ['refused', 'The issuer says: sold out.'],
    ['timeout', 'The issuer does not answer: try again later.'],
    ['unreachable', 'The node is out of reach: try again later.'],
  ])('%s', async (kind, message) => {
    await key();
    issue = () => Promise.reject(new ApiError(kind, message));
    expect(await failure(KEYED)).toMatchObject({ kind, message, data: { sent: 'no' } });
    await expectNothingLeft();
    // The same key may try again.
    expect(await key()).toMatchObject({ index: null });
    issue = async (wish) => invoiceFor(wish).text;
    expect((await sendOffer(KEYED)).begun).toBe(true);
  });

  test('when the caller goes away or loses the permission while the issuer takes its time', async () => {
    const gone = new AbortController();
    issue = async (wish) => {
      await turns(1);
      gone.abort(new ApiError('forbidden', 'The permission is gone.'));
      return invoiceFor(wish).text;
    };
    const call = contextOf(owner, { signal: gone.signal });
    const error = await errorOf(call, planned(randomNames));
    expect(error).toMatchObject({ kind: 'forbidden', data: { sent: 'no' } });
    await expectNothingLeft();
  });
});

describe('an invoice that does not fit is not paid', () => {
  const others: [string, (wish: FetchInvoiceCommand) => string, RegExp][] = [
    ['no invoice', () => 'lni1qq', /not valid/],
    ['another amount', (wish) => invoiceFor({ ...wish, amountMsat: 5001n }).text, /5000 millisat/],
    [
      'another offer',
      (wish) => invoiceFor({ ...wish, offer: makeOffer({ description: 'coffee' }) }).text,
      /fields of the offer/,
    ],
    ['another message', (wish) => invoiceFor({ ...wish, message: 'hi' }).text, /payer_note/],
  ];
  test.each(others)('%s', async (_what, text, reason) => {
    issue = async (wish) => text(wish);
    const error = await failure();
    expect(error).toMatchObject({ kind: 'refused', data: { sent: 'no' } });
    expect(error.message).toMatch(reason);
    await expectNothingLeft();
  });

  test('one that expired on its way', async () => {
    issue = async (wish) => {
      const invoice = invoiceFor(wish);
      world.fake.nowMs = invoice.expiresAtSecs * 1000 + 1000;
      return invoice.text;
    };
    expect(await failure()).toMatchObject({ message: expect.stringContaining('expired') });
    await expectNothingLeft();
  });
});

describe('cut off', () => {
  const restart = async () => {
    world.kill();
    ({ owner } = await world.start());
    await owner.resolver.ready();
  };

  test('while the invoice is fetched, nothing is left, and a repeat fetches another', async () => {
    const fetching = Promise.withResolvers<string>();
    issue = () => fetching.promise;
    const lost = sendOffer(KEYED).catch(() => null);
    await until(() => wishes.length === 1);
    await restart();
    await expectNothingLeft();
    issue = async (wish) => invoiceFor(wish).text;
    expect((await sendOffer(KEYED)).begun).toBe(true);
    expect(wishes).toHaveLength(2);
    fetching.reject(unreachable());
    await lost;
  });

  test('a caller who goes away while it is fetched takes the question along', async () => {
    const asked = Promise.withResolvers<string>();
    issue = () => asked.promise;
    const lost = failure();
    await until(() => wishes.length === 1);
    caller.abort();
    expect(given?.aborted).toBe(true);
    asked.reject(refused('the caller has gone'));
    expect(await lost).toMatchObject({ data: { sent: 'no' } });
    await expectNothingLeft();
  });

  test('once it is stored, a repeat goes on with that invoice, and the node is asked about its hash', async () => {
    const first = await sendOffer(KEYED);
    await restart();
    const again = await sendOffer(KEYED);
    expect([again.begun, again.payment.index]).toEqual([false, first.payment.index]);
    expect([wishes.length, orders.length]).toEqual([1, 1]);
    await until(() => world.fake.questions.length >= 2);
    const invoice = orders[0]?.invoice;
    for (const { payment, fetched, signed } of world.fake.questions) {
      expect(payment).toMatchObject({
        index: first.payment.index,
        hash: invoice?.paymentHash ?? '',
      });
      expect([fetched?.text, signed]).toEqual([invoice?.text, null]);
    }
    const report = await completed(orders[0] as PayFetchedCommand);
    if (report.state === 'known') world.fake.sendOutcome = async () => report;
    await until(async () => (await unfinished()).length === 0);
    const stored = await world.store.journal.get(WALLET, first.payment.index);
    expect(stored).toMatchObject({ status: 'completed', hash: invoice?.paymentHash ?? '' });
  });

  test('by a lost answer, the same invoice is sent again after 20 seconds, and no other is fetched', async () => {
    Object.assign(world.fake.node, { repeatsSafely: true });
    const { payment } = await sendOffer();
    world.elapsedMs = 20_000;
    await until(() => orders.length >= 2);
    const [first, second] = orders;
    expect(second).toMatchObject({ index: payment.index, isRepeat: true, maxFeeMsat: 10_000n });
    expect(second?.invoice.text).toBe(first?.invoice.text ?? '');
    expect(wishes).toHaveLength(1);
  });

  test('another invoice is fetched only when the attempt is known to have failed, under another id', async () => {
    const first = await sendOffer(KEYED);
    world.fake.sendOutcome = async () => ({ state: 'never', reason: 'the invoice expired' });
    await until(async () => (await unfinished()).length === 0);
    const again = await sendOffer(KEYED);
    expect(again).toMatchObject({ begun: false, payment: { status: 'failed' } });
    expect(again.payment.index).toBe(first.payment.index);
    expect(wishes).toHaveLength(1);
    expect((await sendOffer()).begun).toBe(true);
    expect(wishes).toHaveLength(2);
  });

  test('by a refusal to pay, nothing is left, and a repeat fetches another invoice', async () => {
    pay = async () => ({ state: 'refused', error: refused('no funds') });
    expect(await failure(KEYED)).toMatchObject({ kind: 'refused', data: { sent: 'no' } });
    expect(await unfinished()).toEqual([]);
    const [{ index } = { index: null }] = orders;
    if (index) expect(await world.store.spends.fetchedInvoice(WALLET, index)).toBeNull();
    pay = completed;
    expect((await sendOffer(KEYED)).payment.status).toBe('completed');
    expect(new Set(orders.map(({ invoice }) => invoice.paymentHash)).size).toBe(2);
  });
});
