import { expect, test } from 'bun:test';
import { attemptOf, isPaymentIndex } from '../../../src/nodes/lnd/words/attempt.ts';

/** The numbers by which attempts to pay a hash are told apart (docs/decisions.md 150). */

test('an attempt is its creation time in whole microseconds, as a database of LND keeps it', () => {
  expect(attemptOf({ creation_time_ns: 1_700_000_000_123_456_789n })).toBe(1_700_000_000_123_456);
  expect(attemptOf({ creation_time_ns: 1_700_000_000_123_456_000n })).toBe(1_700_000_000_123_456);
});

test('a smaller number is an index of version 0.2, and 0 is no attempt', () => {
  const numbers = [0, 1, 999_999_999_999, 1_000_000_000_000, 1_700_000_000_123_456];
  expect(numbers.map(isPaymentIndex)).toEqual([false, true, true, false, false]);
});
