import { expect, test } from 'bun:test';
import { blankPayment, type Payment } from '../../../src/model/payment.ts';
import { paymentId, paymentIndex } from '../../../src/model/payment-index.ts';
import { Unfinished } from '../../../src/nodes/lnd/follow/unfinished.ts';

const hashOf = (count: number) => count.toString(16).padStart(64, '0');
function payment(count: number, change: Partial<Payment> = {}): Payment {
  const index = paymentIndex(count, paymentId('ln', hashOf(count)));
  return {
    ...blankPayment({
      index,
      rail: 'invoice',
      direction: 'inbound',
      status: 'pending',
      statusMsg: '',
      createdAtMs: count,
      updatedAtMs: count,
    }),
    hash: hashOf(count),
    expiresAtMs: 60_000,
    ...change,
  };
}

test('an invoice is due a moment after its expiry, and then after as long again as has passed since', () => {
  const unfinished = new Unfinished();
  unfinished.note([payment(1)]);
  expect([unfinished.nextDueAtMs, unfinished.takeDue(60_999)]).toEqual([61_000, []]);
  expect(unfinished.takeDue(61_000)).toEqual([hashOf(1)]);
  expect(unfinished.nextDueAtMs).toBe(62_000);
  expect(unfinished.takeDue(62_000)).toEqual([hashOf(1)]);
  expect(unfinished.nextDueAtMs).toBe(64_000);
  // Seeing it once more as open does not make it due earlier.
  unfinished.note([payment(1)]);
  expect(unfinished.takeDue(63_999)).toEqual([]);
});

test('an invoice that is over is not due', () => {
  const unfinished = new Unfinished();
  unfinished.note([payment(1), payment(2, { expiresAtMs: 70_000 })]);
  unfinished.note([payment(1, { status: 'completed' })]);
  expect(unfinished.takeDue(65_000)).toEqual([]);
  expect([unfinished.nextDueAtMs, unfinished.invoices()]).toEqual([71_000, [hashOf(2)]]);
});

test('of sends those are known that are not over, and nothing of what is on chain', () => {
  const unfinished = new Unfinished();
  const direction = 'outbound';
  unfinished.note([payment(1, { direction }), payment(2, { direction })]);
  unfinished.note([payment(1, { direction, status: 'failed' }), payment(3, { rail: 'onchain' })]);
  expect([unfinished.sends(), unfinished.invoices()]).toEqual([[hashOf(2)], []]);
});
