import { describe, expect, test } from 'bun:test';
import {
  decodeSums,
  encodeSums,
  spentSince,
  sumsOf,
  withAdded,
} from '../../src/store/budget-sums.ts';

const tens = (_: unknown, atMs: number) => atMs - (atMs % 10);

describe('the sums of a budget', () => {
  test('have for each period what was spent in it', () => {
    const spending = [
      { atMs: 11, amountMsat: 3n },
      { atMs: 19, amountMsat: 4n },
      { atMs: 20, amountMsat: 100n },
    ];
    expect([...sumsOf(spending, 'day', tens)]).toEqual([
      [10, 7n],
      [20, 100n],
    ]);
  });

  test('get an amount in the period of its time, and keep those of the others', () => {
    const sums = new Map([[10, 7n]]);
    expect([...withAdded(sums, { atMs: 12, amountMsat: 5n }, 'day', tens)]).toEqual([[10, 12n]]);
    expect([...withAdded(sums, { atMs: 12, amountMsat: -5n }, 'day', tens)]).toEqual([[10, 2n]]);
    expect([...withAdded(sums, { atMs: 20, amountMsat: 5n }, 'day', tens)]).toEqual([
      [10, 7n],
      [20, 5n],
    ]);
    expect([...sums]).toEqual([[10, 7n]]);
  });

  test('count from the start of a period on, with that period and without those before', () => {
    const sums = new Map([
      [10, 1n],
      [20, 20n],
      [30, 300n],
    ]);
    expect([10, 11, 20, 21, 31].map((from) => spentSince(sums, from))).toEqual([
      321n,
      320n,
      320n,
      300n,
      0n,
    ]);
  });

  test('are stored by the newest 16 periods, of which the oldest has all that was before', () => {
    const amounts = Array.from({ length: 18 }, (_, at): [number, bigint] => [
      at,
      2n ** BigInt(at + 64),
    ]);
    const stored = [...decodeSums(encodeSums(new Map(amounts)))];
    expect(stored).toHaveLength(16);
    expect(stored.slice(0, 15)).toEqual(amounts.slice(3).toReversed());
    expect(stored.at(-1)).toEqual([2, 7n * 2n ** 64n]);
  });

  test('of 16 periods or fewer are stored as they are', () => {
    const amounts = Array.from({ length: 16 }, (_, at): [number, bigint] => [at, BigInt(at + 1)]);
    expect([...decodeSums(encodeSums(new Map(amounts)))]).toEqual(amounts.toReversed());
  });
});
