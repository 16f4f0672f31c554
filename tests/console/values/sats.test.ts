import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { fromMsat, toMsat } from '../../../src/client/index.ts';
import { satsOf, satsOfMsat, typedMsat } from '../../../src/console/values/sats.ts';

/** 21 million BTC. */
const MOST_MSAT = 2_100_000_000_000_000_000n;

describe('an amount on the page', () => {
  test('is grouped and exact, in sats', () => {
    expect(satsOfMsat(0n)).toBe('0');
    expect(satsOfMsat(1n)).toBe('0.001');
    expect(satsOfMsat(999_500n)).toBe('999.5');
    expect(satsOfMsat(1_234_567_890n)).toBe('1,234,567.89');
    expect(satsOfMsat(-1_000_000n)).toBe('−1,000');
    expect(satsOfMsat(MOST_MSAT)).toBe('2,100,000,000,000,000');
    expect(satsOf(fromMsat(1_000_010n))).toBe('1,000.01');
  });

  test('is read back as it was shown, for every amount', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: MOST_MSAT }), (amountMsat) => {
        expect(typedMsat(satsOfMsat(amountMsat))).toBe(amountMsat);
        expect(toMsat(fromMsat(amountMsat))).toBe(amountMsat);
      }),
    );
  });
});

describe('an amount that a person typed', () => {
  const read: readonly (readonly [string, bigint])[] = [
    ['1000', 1_000_000n],
    [' 1,000 ', 1_000_000n],
    ["1'000'000", 1_000_000_000n],
    ['1 000.5', 1_000_500n],
    ['0.001', 1n],
  ];
  for (const [typed, amountMsat] of read) {
    test(`"${typed}" is ${amountMsat} msat`, () => expect(typedMsat(typed)).toBe(amountMsat));
  }
  for (const typed of [
    '',
    '0',
    '-1',
    '1e3',
    '1,00',
    '1,0000',
    '1.0001',
    '1.000,5',
    'ten',
    '0x10',
  ]) {
    test(`"${typed}" is none`, () => expect(typedMsat(typed)).toBeNull());
  }
  test('above 21 million BTC is none', () => {
    expect(typedMsat('2100000000000001')).toBeNull();
  });
});
