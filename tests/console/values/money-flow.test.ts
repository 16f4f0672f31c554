import { expect, test } from 'bun:test';
import { fromMsat, type Payment } from '../../../src/client/index.ts';
import { dailyFlow, dayStart } from '../../../src/console/values/money-flow.ts';

const NOON_MS = new Date(2026, 9, 26, 12).getTime();
const DAY_MS = 86_400_000;

function payment(given: Partial<Payment> & { readonly amountMsat?: bigint }): Payment {
  const { amountMsat = 1000n, ...rest } = given;
  return {
    direction: 'inbound',
    status: 'completed',
    amount: fromMsat(amountMsat),
    fees: fromMsat(0n),
    finalized_at: NOON_MS,
    created_at: NOON_MS,
    ...rest,
  } as Payment;
}

test('the money of a day is the exact sum of what was completed on it', () => {
  const days = dailyFlow(
    [
      payment({ amountMsat: 1n }),
      payment({ amountMsat: 2_000_000_000_000_000_000n }),
      payment({ direction: 'outbound', amountMsat: 500n, fees: fromMsat(7n) }),
      payment({ direction: 'info', amountMsat: 900n, fees: fromMsat(3n) }),
      payment({ finalized_at: NOON_MS - DAY_MS, amountMsat: 9n }),
    ],
    NOON_MS,
    2,
  );
  expect(days.map(({ inMsat, outMsat }) => [inMsat, outMsat])).toEqual([
    [9n, 0n],
    [2_000_000_000_000_000_001n, 510n],
  ]);
  expect(days[1]?.startMs).toBe(dayStart(NOON_MS));
});

test('what is pending, failed, without money or older does not count', () => {
  const days = dailyFlow(
    [
      payment({ status: 'pending' }),
      payment({ status: 'failed' }),
      payment({ amount: null }),
      payment({ direction: 'info' }),
      payment({ finalized_at: NOON_MS - 30 * DAY_MS }),
    ],
    NOON_MS,
    30,
  );
  expect(days).toHaveLength(30);
  expect(days.filter(({ inMsat, outMsat }) => inMsat + outMsat > 0n)).toEqual([]);
});

test('every day is there once, also where clocks are changed', () => {
  const starts = dailyFlow([], NOON_MS, 60).map(({ startMs }) => startMs);
  expect(new Set(starts).size).toBe(60);
  expect(starts).toEqual(starts.toSorted((a, b) => a - b));
  expect(starts.every((start) => new Date(start).getHours() === 0)).toBe(true);
});
