import { expect, test } from 'bun:test';
import { decodeAddress } from '../../src/codecs/address.ts';
import { decodeBolt11 } from '../../src/codecs/bolt11/index.ts';
import { requireOneAmount, requireSameUriAmount } from '../../src/wallet/strings/named-methods.ts';
import type { NamedMethod } from '../../src/wallet/strings/payment-string.ts';
import { makeOffer } from '../support/bolt12-fixtures.ts';
import { addressOf, invoiceOf } from './payment-strings.ts';

const invoice = (amountMsat: bigint | null): NamedMethod => ({
  kind: 'invoice',
  invoice: decodeBolt11(invoiceOf(amountMsat)),
});
const offer = (amountMsat: bigint | null): NamedMethod => ({
  kind: 'offer',
  offer: makeOffer(amountMsat === null ? {} : { amount: amountMsat }),
});
const address: NamedMethod = { kind: 'onchain', address: decodeAddress(addressOf(1)) };

/** What a contradiction says, or null. */
function contradiction(methods: readonly NamedMethod[], uriAmountMsat: bigint | null) {
  try {
    requireOneAmount(methods, uriAmountMsat);
    return null;
  } catch (error) {
    expect(error).toMatchObject({ kind: 'refused' });
    return (error as Error).message;
  }
}

test('amounts that are the same, or that only one place names, do not contradict each other', () => {
  expect(contradiction([], null)).toBeNull();
  expect(contradiction([], 5000n)).toBeNull();
  expect(contradiction([invoice(5000n), address], null)).toBeNull();
  expect(contradiction([invoice(5000n), invoice(null), address], 5000n)).toBeNull();
  expect(contradiction([invoice(5000n), invoice(5000n)], null)).toBeNull();
});

test('an invoice for another amount than the URI, or than another invoice, makes all unusable', () => {
  expect(contradiction([invoice(5000n)], 5001n)).toMatch(/asks for 5 sats and the URI/);
  expect(contradiction([invoice(5000n), address, invoice(6000n)], null)).toMatch(
    /asks for 6 sats and an invoice for 5 sats/,
  );
});

test('an offer may ask for less, since its amount is the least that it takes, and not for more', () => {
  expect(contradiction([offer(4000n)], 5000n)).toBeNull();
  expect(contradiction([offer(5000n), invoice(5000n)], null)).toBeNull();
  expect(contradiction([offer(null)], 5000n)).toBeNull();
  expect(contradiction([offer(5001n)], 5000n)).toMatch(/at least 5\.001 sats and the URI/);
  expect(contradiction([offer(6000n), invoice(5000n)], null)).toMatch(/at least 6 sats/);
  expect(contradiction([offer(6000n), offer(1000n)], null)).toBeNull();
});

test('a URI and the record of its name say the same amount, or only one says any', () => {
  for (const [uri, record] of [
    [null, null],
    [5000n, null],
    [null, 5000n],
    [5000n, 5000n],
  ] as const) {
    expect(() => requireSameUriAmount(uri, record)).not.toThrow();
  }
  expect(() => requireSameUriAmount(5000n, 6000n)).toThrow(/6 sats and the URI for 5 sats/);
});
