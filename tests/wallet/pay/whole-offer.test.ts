import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createHash, randomBytes } from 'node:crypto';
import { refused } from '../../../src/model/errors.ts';
import type { NodeOffers, PayOfferCommand, SendReport } from '../../../src/nodes/node.ts';
import { planOfferPayment } from '../../../src/wallet/pay/offer.ts';
import { send } from '../../../src/wallet/pay/send.ts';
import { type EffectNames, randomNames } from '../../../src/wallet/session/effect-names.ts';
import type { Session } from '../../../src/wallet/session/session.ts';
import { makeOffer } from '../../support/bolt12-fixtures.ts';
import { WALLET } from '../../support/store-steps.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';
import { unreachable } from '../fake-node.ts';
import { type WalletWorld, walletWorld } from '../wallet-world.ts';
import { contextOf } from './plan.ts';
import { errorOf } from './send-world.ts';

setDefaultTimeout(SLOW_TEST_MS);

const FEES = { ppm: 10_000, leastMsat: 10_000n };
const OFFER = makeOffer();
const REQUEST = {
  ...{ offer: OFFER, amountMsat: 5000n, maxFeeMsat: null, message: 'thank you' },
  ...{ personalNote: 'mine', externalId: null, viaName: null },
};
/** Names that a key gives: a repeat has the same. */
const KEYED: EffectNames = {
  ...randomNames,
  isKeyed: true,
  bytes: () => new Uint8Array(32).fill(7),
};

describe('an offer that the node pays in one step', () => {
  let world: WalletWorld;
  let owner: Session;
  let pay: (command: PayOfferCommand) => Promise<SendReport>;
  let orders: PayOfferCommand[];

  beforeEach(async () => {
    world = await walletWorld();
    orders = [];
    pay = async () => ({ state: 'unknown', error: unreachable() });
    const offers: NodeOffers = {
      kind: 'whole',
      createOffer: () => Promise.reject(new Error('this was not to be called')),
      payOffer(command) {
        orders.push(command);
        return pay(command);
      },
    };
    Object.assign(world.fake.node, { offers, repeatsSafely: true });
    ({ owner } = await world.start());
  });
  afterEach(() => world.close());

  const planned = (names: EffectNames, request: Partial<typeof REQUEST> = {}) => {
    const { signal } = new AbortController();
    return planOfferPayment({ ...REQUEST, ...request, signal }, owner, FEES, names);
  };
  const sendOffer = (names: EffectNames = randomNames) =>
    send(contextOf(owner, { names, idempotencyKey: null }), planned(names));
  const unfinished = () => world.store.spends.unfinished(WALLET);

  test('is in its row with its terms before the node is asked', async () => {
    pay = async ({ index }) => {
      const [spend] = await unfinished();
      expect(spend).toMatchObject({
        ...{ state: 'asked', fetchedInvoice: null },
        plan: `{"maxFeeMsat":"10000","offer":"${OFFER.text}"}`,
        payment: { index, hash: null, offerId: OFFER.offerId, message: 'thank you' },
      });
      return { state: 'unknown', error: unreachable() };
    };
    await sendOffer();
    expect(orders).toMatchObject([
      { offer: OFFER, amountMsat: 5000n, maxFeeMsat: 10_000n, message: 'thank you' },
    ]);
  });

  test('has its hash once the node tells its end, which proves it', async () => {
    const { payment } = await sendOffer();
    const preimage = randomBytes(32);
    const hash = createHash('sha256').update(preimage).digest('hex');
    const end = { status: 'completed', statusMsg: 'completed', finalizedAtMs: 9 } as const;
    const told = { ...payment, ...end, hash, preimage: preimage.toString('hex') };
    world.fake.sendOutcome = async () => ({ state: 'known', payment: told, attempt: 3 });
    await until(async () => (await unfinished()).length === 0);
    const stored = await world.store.journal.get(WALLET, payment.index);
    expect(stored).toMatchObject({ status: 'completed', hash });
  });

  test('is asked for again under its index when the answer was lost, and once for a key', async () => {
    const { payment } = await sendOffer(KEYED);
    expect((await sendOffer(KEYED)).payment.index).toBe(payment.index);
    expect(orders).toHaveLength(1);
    world.elapsedMs = 20_000;
    await until(() => orders.length >= 2);
    const { index } = payment;
    expect(orders[1]).toMatchObject({ index, isRepeat: true, offer: OFFER, maxFeeMsat: 10_000n });
  });

  test('leaves nothing where the node refuses it', async () => {
    pay = async () => ({ state: 'refused', error: refused('no funds') });
    const context = contextOf(owner, { names: randomNames, idempotencyKey: null });
    expect(await errorOf(context, planned(randomNames))).toMatchObject({ data: { sent: 'no' } });
    expect(await unfinished()).toEqual([]);
  });

  test('with a price in a currency cannot be paid', () => {
    const offer = makeOffer({ currency: 'USD', amount: 5n });
    expect(() => planned(randomNames, { offer })).toThrow('a price in USD');
    expect(orders).toEqual([]);
  });
});
