import { describe, expect, test } from 'bun:test';
import { fromMsat, toMsat } from '../../src/client/index.ts';
import { MAX_AMOUNT_MSAT } from '../../src/codecs/network.ts';
import { formatAmountMsat, parseAmountMsat } from '../../src/model/amount.ts';

describe('toMsat', () => {
  const texts = ['0', '1', '0.5', '0.001', '1000', '1000.010', '007', '2100000000000000'];
  const invalid = ['', '-1', '+1', '1.', '.5', '1.0001', '1e3', '0x10', ' 1', '1,5', '１', 'null'];

  test('reads the amounts that the sidecar reads, and rejects all others', () => {
    for (const text of texts) expect(toMsat(text)).toBe(parseAmountMsat(text) ?? -1n);
    for (const text of [...invalid, '2100000000000000.001', '21000000000000000']) {
      expect([text, parseAmountMsat(text)]).toEqual([text, null]);
      expect(() => toMsat(text)).toThrow(RangeError);
    }
  });

  test('takes whole numbers, and rejects those that a number cannot hold', () => {
    expect(toMsat(1000)).toBe(1_000_000n);
    for (const number of [0.5, -1, Number.NaN, 2 ** 53, 1e21]) {
      expect(() => toMsat(number)).toThrow('is not an amount');
    }
  });
});

describe('fromMsat', () => {
  test('writes amounts as the sidecar does, and toMsat reads them again', () => {
    for (const amountMsat of [0n, 1n, 10n, 500n, 1000n, 1010n, 100_000n, MAX_AMOUNT_MSAT]) {
      expect(String(fromMsat(amountMsat))).toBe(formatAmountMsat(amountMsat));
      expect(toMsat(fromMsat(amountMsat))).toBe(amountMsat);
    }
  });

  test('rejects what is no amount', () => {
    for (const amountMsat of [-1n, MAX_AMOUNT_MSAT + 1n]) {
      expect(() => fromMsat(amountMsat)).toThrow('must be from 0 to 21 million BTC');
    }
  });
});
