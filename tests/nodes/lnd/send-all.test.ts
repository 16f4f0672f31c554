import { expect, test } from 'bun:test';
import { hex } from '@scure/base';
import { mostOf } from '../../../src/nodes/lnd/onchain/send-all.ts';

const coin = (amount_sat: bigint, address_type = 'WITNESS_PUBKEY_HASH') => ({
  address_type,
  amount_sat,
  outpoint: { txid_str: 'ab'.repeat(32), output_index: 0 },
});
const p2wpkh = hex.decode(`0014${'00'.repeat(20)}`);
const order = { script: p2wpkh, satPerVbyte: 10n, keptSat: 0n };

test('the amount and the fee are what the coins hold', () => {
  const { amountSat, feeSat } = mostOf([coin(50_000n), coin(70_000n, 'TAPROOT_PUBKEY')], order);
  expect(amountSat + feeSat).toBe(120_000n);
  // 8 + 1 + 1 bytes, outputs of 31 and 43, inputs of 41 each; 109 + 67 + 3 units of witness (BIP 144).
  expect(feeSat).toBe(10n * (8n + 2n + 31n + 43n + 82n + 45n));
});

test('what LND keeps back for its channels stays', () => {
  const all = mostOf([coin(100_000n)], order);
  const most = mostOf([coin(100_000n)], { ...order, keptSat: 10_000n });
  expect(all.amountSat - most.amountSat).toBe(10_000n);
});

test('the rate is never below the least that LND uses', () => {
  const { feeSat } = mostOf([coin(100_000n)], { ...order, satPerVbyte: 1n });
  expect(feeSat).toBe((153n * 1012n) / 1000n);
});

test('a coin whose size is not known is not counted, and dust is refused', () => {
  expect(() => mostOf([coin(100_000n, 'UNKNOWN')], order)).toThrow(/receive more/);
  expect(() => mostOf([coin(1700n)], order)).toThrow(/receive more/);
  expect(() => mostOf([], order)).toThrow(/receive more/);
});
