import { describe, expect, test } from 'bun:test';
import {
  ERROR_CODES,
  fromMsat,
  type Payable,
  WalletSidecarError,
} from '../../../src/client/index.ts';
import { onchainUri } from '../../../src/client/onchain-uri.ts';
import { keptPayments, senderOf } from '../../../src/console/values/kept.ts';
import { newKey } from '../../../src/console/values/key.ts';
import { mayBeSent } from '../../../src/console/values/outcome.ts';
import { amountProblem, usualFeeLimitMsat } from '../../../src/console/values/terms.ts';

function storage() {
  const items = new Map<string, string>();
  return {
    getItem: (name: string) => items.get(name) ?? null,
    setItem: (name: string, value: string) => void items.set(name, value),
    removeItem: (name: string) => void items.delete(name),
  };
}

test('a payment is kept with its key and its sender until it is forgotten', () => {
  const store = storage();
  const sender = senderOf({ user_pk: 'ab', caller: 'owner' });
  const payment = { call: 'pay', request: { payable: 'lno1x' }, key: newKey(), sender } as const;
  keptPayments(store).keep(payment);
  expect(keptPayments(store).read()).toEqual(payment);
  keptPayments(store).forget();
  expect(keptPayments(store).read()).toBeNull();
});

test('two keys differ', () => {
  expect(newKey()).toMatch(/^[0-9a-f]{32}$/);
  expect(newKey()).not.toBe(newKey());
});

describe('whether an error leaves open that money moved (docs/decisions.md 12)', () => {
  const answered = (code: number, mayHaveTakenEffect: boolean) =>
    new WalletSidecarError('x', {
      kind: 'error',
      code,
      httpStatus: 400,
      data: null,
      body: null,
      retryAfterMs: null,
      mayHaveTakenEffect,
    });

  test('it does where no sidecar answered', () => {
    expect(mayBeSent(new TypeError('Failed to fetch'), false)).toBe(true);
  });

  test('it does where the sidecar says so', () => {
    expect(mayBeSent(answered(ERROR_CODES.unreachable, true), false)).toBe(true);
  });

  test('it does not where the sidecar says that nothing was sent', () => {
    expect(mayBeSent(answered(ERROR_CODES.overBudget, false), false)).toBe(false);
    expect(mayBeSent(answered(ERROR_CODES.refused, false), true)).toBe(false);
    expect(mayBeSent(answered(ERROR_CODES.unreachable, false), false)).toBe(false);
  });

  test('a repeat that was rejected before its key was looked at says nothing of the first request', () => {
    for (const name of ['unauthenticated', 'forbidden', 'unreachable', 'overCapacity'] as const) {
      expect([name, mayBeSent(answered(ERROR_CODES[name], false), true)]).toEqual([name, true]);
    }
  });
});

describe('the terms of a payment', () => {
  const payable = (kind: string, feeMsat: bigint | null) =>
    ({ kind, fee_estimate: feeMsat === null ? null : fromMsat(feeMsat) }) as Payable;

  test('the usual limit on Lightning is 1 %, in whole sats, never less than 10', () => {
    expect(usualFeeLimitMsat(payable('invoice', null), 1_000_000n)).toBe(10_000n);
    expect(usualFeeLimitMsat(payable('offer', 1n), 2_000_100n)).toBe(21_000n);
  });

  test('the usual limit on chain is twice what is expected, and none where nothing is', () => {
    expect(usualFeeLimitMsat(payable('onchain', 400_000n), 1n)).toBe(800_000n);
    expect(usualFeeLimitMsat(payable('onchain', null), 1n)).toBeNull();
  });

  test('an address and an amount are one URI, in bitcoin with eight decimals', () => {
    expect(onchainUri('bcrt1q', 1000n)).toBe('bitcoin:bcrt1q?amount=0.00000001');
    expect(onchainUri('bcrt1q', 123_456_789_012_000n)).toBe('bitcoin:bcrt1q?amount=1234.56789012');
    expect(onchainUri('bcrt1q', 1001n)).toBeNull();
  });

  test('an amount outside the bounds of the receiver is named', () => {
    const bounds = { min_amount: fromMsat(10n), max_amount: fromMsat(20n) };
    expect([9n, 10n, 20n, 21n, null].map((one) => amountProblem(bounds, one))).toEqual([
      'small',
      null,
      null,
      'large',
      'none',
    ]);
  });
});
