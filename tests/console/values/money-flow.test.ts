import { expect, test } from 'bun:test';
import { fromMsat, type Payment } from '../../../src/client/index.ts';
import { dailyFlow, dayStart, paymentDays, sumOf } from '../../../src/console/values/money-flow.ts';

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
  // Not every day has a midnight: in some places clocks go from it to one.
  expect(starts.map((start) => new Date(start).setHours(0, 0, 0, 0))).toEqual(starts);
});

test('payments stand by the day on which they were made, with what was completed of it', () => {
  const newest = [
    payment({ created_at: NOON_MS, finalized_at: NOON_MS + DAY_MS, amountMsat: 5n }),
    payment({ direction: 'outbound', amountMsat: 3n, fees: fromMsat(1n) }),
    payment({ status: 'pending', amountMsat: 100n }),
    payment({ created_at: NOON_MS - DAY_MS, amountMsat: 7n }),
  ];
  const days = paymentDays(newest, false);
  expect(days.map(({ startMs, payments }) => [startMs, payments])).toEqual([
    [dayStart(NOON_MS), newest.slice(0, 3)],
    [dayStart(NOON_MS - DAY_MS), newest.slice(3)],
  ]);
  expect(days.map(({ flow }) => flow)).toEqual([
    { inMsat: 5n, outMsat: 4n },
    { inMsat: 7n, outMsat: 0n },
  ]);
});

test('the last day has no sum where there are earlier payments, which may be of that day', () => {
  const newest = [payment({}), payment({ created_at: NOON_MS - DAY_MS })];
  const flows = paymentDays(newest, true).map(({ flow }) => flow);
  expect(flows).toEqual([{ inMsat: 1000n, outMsat: 0n }, null]);
  expect(paymentDays([], true)).toEqual([]);
  expect(sumOf([])).toEqual({ inMsat: 0n, outMsat: 0n });
});
