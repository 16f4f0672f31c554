import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { fundingFor } from '../../../src/nodes/lnd/channels/channel-open.ts';

const coin = (amount_sat: bigint, address_type = 'WITNESS_PUBKEY_HASH') => ({
  address_type,
  amount_sat,
  outpoint: { txid_str: 'ab'.repeat(32), output_index: 0 },
});

test('a channel is paid from the largest coins, and no more of them than it takes', () => {
  const { coins } = fundingFor([coin(10_000n), coin(500_000n), coin(90_000n)], 400_000n, 10n);
  expect(coins.map(({ amount_sat }) => amount_sat)).toEqual([500_000n]);
});

test('the chosen coins hold the value and a fee for every byte that they make', () => {
  const amounts = fc.array(fc.bigInt(1000n, 1_000_000n), { maxLength: 30 });
  fc.assert(
    fc.property(amounts, fc.bigInt(1n, 200n), (values, rate) => {
      try {
        const { coins, feeBoundSat } = fundingFor(
          values.map((one) => coin(one)),
          50_000n,
          rate,
        );
        const sum = coins.reduce((total, { amount_sat }) => total + amount_sat, 0n);
        // The least fee of a transaction with that many P2WPKH inputs, a P2WSH and a change output (BIP 141 sizes,
        // rounded down).
        const leastSat = (10n + 43n + 31n + 67n * BigInt(coins.length)) * rate;
        expect(feeBoundSat).toBeGreaterThanOrEqual(leastSat);
        expect(sum).toBeGreaterThanOrEqual(50_000n + leastSat);
      } catch (error) {
        expect(error).toMatchObject({ kind: 'refused' });
      }
    }),
  );
});

test('coins of a kind whose size is not known are not spent', () => {
  expect(() => fundingFor([coin(10_000_000n, 'UNKNOWN')], 100_000n, 1n)).toThrow(/do not suffice/);
});
