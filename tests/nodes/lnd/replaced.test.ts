import { expect, test } from 'bun:test';
import { blankPayment } from '../../../src/model/payment.ts';
import { paymentId, paymentIndex } from '../../../src/model/payment-index.ts';
import { replacedSend } from '../../../src/nodes/lnd/replaced.ts';

const ID = '5e'.repeat(32);
const COIN = `${'ab'.repeat(32)}:1`;
const NOW = 1_800_000_000_000;
const payment = {
  ...blankPayment({
    index: paymentIndex(1, paymentId('os', ID)),
    rail: 'onchain',
    direction: 'outbound',
    status: 'pending',
    statusMsg: 'broadcasted',
    createdAtMs: 1,
    updatedAtMs: 1,
  }),
  txid: '01'.repeat(32),
  tx: {
    version: 2,
    lock_time: 0,
    input: [{ previous_output: COIN, script_sig: '', sequence: 0, witness: [] }],
    output: [],
  },
};
const listed = (tx_hash: string, num_confirmations: number, change: object = {}) => ({
  tx_hash,
  num_confirmations,
  amount: -1n,
  block_height: 0,
  time_stamp: 1,
  total_fees: 0n,
  raw_tx_hex: '',
  label: '',
  output_details: [],
  previous_outpoints: [{ outpoint: COIN, is_our_output: true }],
  ...change,
});
const OTHER = '02'.repeat(32);

test('a send whose coin another transaction spends is pending with that replacement', () => {
  for (const confirmations of [0, 5]) {
    expect(replacedSend(payment, [listed(OTHER, confirmations)], NOW)?.payment).toMatchObject({
      status: 'pending',
      replacement: OTHER,
    });
  }
});

test('it fails with the sixth confirmation of the other', () => {
  expect(replacedSend(payment, [listed(OTHER, 6)], NOW)?.payment).toMatchObject({
    status: 'failed',
    statusMsg: 'replaced',
    replacement: OTHER,
    finalizedAtMs: NOW,
  });
});

test('time alone, other coins, a fee bump and its own confirmation replace nothing', () => {
  const foreign = [{ outpoint: `${'cd'.repeat(32)}:0`, is_our_output: true }];
  const cases = [
    [],
    [listed(OTHER, 6, { previous_outpoints: foreign })],
    [listed(OTHER, 6, { label: `ws:${ID}` })],
    [listed(payment.txid, 1), listed(OTHER, 0)],
    [listed(payment.txid, 0)],
  ];
  for (const one of cases) expect(replacedSend(payment, one, NOW)).toBeNull();
});
