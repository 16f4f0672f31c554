import { afterEach, beforeEach, expect, test } from 'bun:test';
import { decodeBolt11 } from '../../src/codecs/bolt11/index.ts';
import type { Rate } from '../../src/model/prices/price.ts';
import { planInvoicePayment } from '../../src/wallet/pay/invoice.ts';
import { amountToPay, pricedAmount } from '../../src/wallet/read/prices.ts';
import { createHoldInvoice } from '../../src/wallet/receive/hold-invoice.ts';
import { type EffectNames, randomNames } from '../../src/wallet/session/effect-names.ts';
import type { Session } from '../../src/wallet/session/session.ts';
import { fittingInvoice } from '../support/fitting.ts';
import { rejection, throwing } from '../support/rejection.ts';
import { sampleDone, samplePayment } from '../support/sample-payment.ts';
import { WALLET } from '../support/store-steps.ts';
import { type WalletWorld, walletWorld } from './wallet-world.ts';

let world: WalletWorld;
let owner: Session;
beforeEach(async () => {
  world = await walletWorld();
  ({ owner } = await world.start());
});
afterEach(() => world.close());

const PRICE = { currency: 'EUR', amount: '12.5' };

/** Rates of which each is another one. */
function ratesOf(...rates: readonly string[]) {
  const left = [...rates];
  return {
    of: async (currency: string): Promise<Rate> => ({
      currency,
      rate: left.shift() ?? '1',
      rateAtMs: 7,
      rateSource: 'a, b',
    }),
  };
}

/** Names of a key whose row keeps what is named, as in the store. */
function keyNames(): EffectNames {
  const kept = new Map<string, string>();
  return {
    ...randomNames,
    isKeyed: true,
    earlier: (purpose) => kept.get(purpose) ?? null,
    async kept(purpose, draw) {
      const value = kept.get(purpose) ?? (await draw());
      kept.set(purpose, value);
      return value;
    },
  };
}

test('a request that was cut off asks for the same amount again, at the rate that it had', async () => {
  const names = keyNames();
  const rates = ratesOf('50000', '40000');
  const first = await pricedAmount(owner, rates, PRICE, names);
  expect(first).toEqual({
    amountMsat: 25_000_000n,
    price: { currency: 'EUR', amount: '12.50', rate: '50000', rateAtMs: 7, rateSource: 'a, b' },
  });
  expect(await pricedAmount(owner, rates, PRICE, names)).toEqual(first);
  expect(await pricedAmount(owner, rates, PRICE, keyNames())).toMatchObject({
    amountMsat: 31_250_000n,
  });
});

test('no invoice is made at a rate that is older than 5 minutes', async () => {
  const names = keyNames();
  await pricedAmount(owner, ratesOf('50000'), PRICE, names);
  world.fake.nowMs += 299_999;
  expect(await pricedAmount(owner, ratesOf(), PRICE, names)).toMatchObject({
    amountMsat: 25_000_000n,
  });
  world.fake.nowMs += 1;
  expect(await rejection(pricedAmount(owner, ratesOf(), PRICE, names))).toMatchObject({
    kind: 'refused',
  });
});

test('a rate that is not there names nothing, so that a repeat asks for one again', async () => {
  const names = keyNames();
  const away = { of: () => Promise.reject(new Error('away')) };
  expect(await throwing(pricedAmount(owner, away, PRICE, names))).toThrow('away');
  expect(names.earlier('price')).toBe(null);
});

test('what is paid is rounded down to whole sats, and the spend keeps the price on every rail', async () => {
  const { amountMsat, price } = await amountToPay(owner, ratesOf('30000'), PRICE);
  expect(amountMsat).toBe(41_666_000n);
  const made = fittingInvoice(
    {
      createdAtMs: 1,
      expirationSecs: 60,
      amountMsat: null,
      description: null,
      descriptionHash: null,
    },
    samplePayment(1).hash ?? '',
  );
  const words = { personalNote: 'n', externalId: 'x', price, message: null };
  const invoice = decodeBolt11(made.invoice);
  const plan = planInvoicePayment({ ...words, invoice, amountMsat, maxFeeMsat: null }, owner, {
    ppm: 0,
    leastMsat: 0n,
  });
  expect(plan).toMatchObject({ amountMsat, details: words });
});

test('on a node that keeps no history the wallet keeps the price, whatever the node tells later', async () => {
  const sample = samplePayment(1, { direction: 'inbound' });
  const paymentHash = sample.hash ?? '';
  const { amountMsat, price } = await pricedAmount(owner, ratesOf('50000'), PRICE, keyNames());
  const request = {
    paymentHash,
    expirationSecs: 300,
    amountMsat,
    price,
    description: null,
    descriptionHash: null,
    personalNote: null,
    externalId: null,
    partnerPk: null,
    partnerPropFeePpm: null,
    partnerBaseFeeMsat: null,
  };
  const made = fittingInvoice({ ...request, createdAtMs: 1 }, paymentHash);
  world.fake.createHold = async () => made;
  await createHoldInvoice(owner, request, randomNames);
  const { index } = made.payment;
  const paid = sampleDone(1, { direction: 'inbound', index, amountMsat });
  await owner.feed.record({ payment: paid, attempt: null }, owner.node);
  expect(await world.store.journal.get(WALLET, index)).toMatchObject({
    status: 'completed',
    price,
  });
});
