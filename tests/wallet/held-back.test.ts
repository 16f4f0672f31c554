import { expect, test } from 'bun:test';
import { idOf } from '../../src/model/payment.ts';
import { HeldBack } from '../../src/wallet/follow/held-back.ts';
import { sampleFailed, samplePayment } from '../support/sample-payment.ts';

const told = (payment: ReturnType<typeof samplePayment>) => ({ payment, attempt: 1 });
const one = told(sampleFailed(1));
const id = idOf(one.payment);

test('what is told of a payment waits until the last request to send it is over, and is then returned in its order', () => {
  const held = new HeldBack();
  expect(held.without([one])).toEqual([one]);
  const first = held.hold(id);
  const second = held.hold(id);
  expect(held.without([one, told(samplePayment(1))])).toEqual([]);
  expect(first()).toEqual([]);
  expect(held.without([one])).toEqual([]);
  expect(second()).toEqual([one, told(samplePayment(1)), one]);
  expect(held.without([one])).toEqual([one]);
});

test('the answer to a request, the word of the wallet itself, other payments, receipts and transactions are never held back', () => {
  const held = new HeldBack();
  held.hold(id);
  const free = [
    { ...one, answers: { index: one.payment.index, isTaken: false } },
    { ...one, ownWord: true },
    told(sampleFailed(2)),
    told(sampleFailed(1, { direction: 'inbound' })),
    told(sampleFailed(1, { rail: 'onchain' })),
  ];
  expect(held.without(free)).toEqual(free);
});
