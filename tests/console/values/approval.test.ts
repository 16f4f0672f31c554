import { expect, test } from 'bun:test';
import { fromMsat, type Permission } from '../../../src/client/index.ts';
import { decides, isAwaiting, mustWait } from '../../../src/console/values/approval.ts';
import { recipientOf, shortened } from '../../../src/console/values/recipient.ts';
import { AWAITING_APPROVAL, NOT_APPROVED } from '../../../src/model/payment.ts';

const WAITS = {
  direction: 'outbound',
  status: 'pending',
  status_msg: AWAITING_APPROVAL,
} as const;

test('a payment waits for approval while the sidecar says so, and no longer (docs/decisions.md 187)', () => {
  expect(isAwaiting(WAITS)).toBe(true);
  expect(isAwaiting({ ...WAITS, status_msg: 'pending' })).toBe(false);
  expect(isAwaiting({ ...WAITS, status: 'failed', status_msg: NOT_APPROVED })).toBe(false);
  expect(isAwaiting({ ...WAITS, direction: 'inbound' })).toBe(false);
});

test('only those decide who may, and whose own payments do not wait', () => {
  const may: readonly Permission[] = ['approve_payments'];
  expect(decides({ effective_permissions: may, approve_above: null })).toBe(true);
  expect(decides({ effective_permissions: [], approve_above: null })).toBe(false);
  expect(decides({ effective_permissions: may, approve_above: fromMsat(0n) })).toBe(false);
});

test('a payment waits that may cost more than its client may pay alone, and none that costs the same', () => {
  const asks = { approve_above: fromMsat(500_000n) };
  expect([500_000n, 500_001n].map((msat) => mustWait(asks, msat))).toEqual([false, true]);
  expect(mustWait({ approve_above: null }, 500_001n)).toBe(false);
});

test('a recipient is named by its address, its invoice or its offer, with both ends', () => {
  const none = { address: null, invoice: null, offer_id: null };
  expect(recipientOf(none)).toBeNull();
  expect(recipientOf({ ...none, address: 'bcrt1q' })).toBe('bcrt1q');
  expect(recipientOf({ ...none, invoice: 'lnbcrt1' })).toBe('lnbcrt1');
  expect(recipientOf({ ...none, offer_id: 'ab' })).toBe('ab');
  expect(shortened('b'.repeat(90))).toBe('b'.repeat(90));
  expect(shortened(`lnbcrt${'1'.repeat(200)}end`)).toBe(`lnbcrt1111111111 … 1111111111111end`);
});
