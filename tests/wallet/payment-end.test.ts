import { describe, expect, test } from 'bun:test';
import type { Payment } from '../../src/model/payment.ts';
import { costMsat, watchesOf } from '../../src/wallet/follow/payment-end.ts';
import { sampleDone, sampleFailed } from '../support/sample-payment.ts';

const done: Payment = { ...sampleDone(1), direction: 'outbound', amountMsat: 5000n, feesMsat: 12n };

describe('what a final payment takes from a budget', () => {
  test('is amount and fees when it was made, and nothing when it failed', () => {
    expect(costMsat(done)).toBe(5012n);
    expect(costMsat({ ...sampleFailed(1), direction: 'outbound' })).toBe(0n);
  });

  test('stays what was held back while the amount is not known', () => {
    expect(costMsat({ ...done, amountMsat: null })).toBeNull();
  });

  test('is no cost where money came in, or only tells something', () => {
    expect(costMsat({ ...done, direction: 'inbound' })).toBeNull();
    expect(costMsat({ ...done, direction: 'info' })).toBeNull();
  });
});

describe('a final payment is owed a delivery by', () => {
  const arrived: Payment = { ...done, direction: 'inbound', offerId: 'aa', address: 'bcrt1' };
  const own = { kind: 'payment' as const, index: done.index };

  test('its own watch, and those of the offer and address that it arrived on', () => {
    expect(watchesOf(arrived)).toEqual([
      own,
      { kind: 'offer', offerId: 'aa' },
      { kind: 'address', address: 'bcrt1' },
    ]);
  });

  test('its own watch alone when it was sent, though to an offer or address that is watched', () => {
    expect(watchesOf({ ...arrived, direction: 'outbound' })).toEqual([own]);
  });
});
