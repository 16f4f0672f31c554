import { expect, test } from 'bun:test';
import { MAX_AMOUNT_MSAT } from '../../src/codecs/network.ts';
import { formatAmountMsat } from '../../src/model/amount.ts';

test('millisatoshis are written as satoshis, without zeros at the end', () => {
  const written = {
    '0': 0n,
    '0.001': 1n,
    '0.01': 10n,
    '0.999': 999n,
    '1': 1000n,
    '1.01': 1010n,
    '10': 10_000n,
    '100.1': 100_100n,
    '2100000000000000': MAX_AMOUNT_MSAT,
    '2099999999999999.999': MAX_AMOUNT_MSAT - 1n,
    '-0.001': -1n,
    '-1.5': -1500n,
    '-1': -1000n,
  };
  for (const [text, amountMsat] of Object.entries(written)) {
    expect(formatAmountMsat(amountMsat)).toBe(text);
  }
});
