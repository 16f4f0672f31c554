import { describe, expect, test } from 'bun:test';
import { blankPayment, type Payment } from '../../../src/model/payment.ts';
import { paymentId, paymentIndex, receiveId } from '../../../src/model/payment-index.ts';
import { replacedPayment } from '../../../src/nodes/lnd/words/replaced.ts';

const ID = '5e'.repeat(32);
const COIN = `${'ab'.repeat(32)}:1`;
const NOW = 1_800_000_000_000;
const TXID = '01'.repeat(32);
const OTHER = '02'.repeat(32);
const onchain = (index: Payment['index'], direction: Payment['direction']): Payment => ({
  ...blankPayment({
    index,
    rail: 'onchain',
    direction,
    status: 'pending',
    statusMsg: 'broadcasted',
    createdAtMs: 1,
    updatedAtMs: 1,
  }),
  txid: TXID,
  tx: {
    version: 2,
    lock_time: 0,
    input: [{ previous_output: COIN, script_sig: '', sequence: 0, witness: [] }],
    output: [],
  },
});
const send = onchain(paymentIndex(1, paymentId('os', ID)), 'outbound');
const receipt = onchain(paymentIndex(1, receiveId(TXID, 0)), 'inbound');
const listed = (tx_hash: string, num_confirmations: number, change: object = {}) => ({
  tx_hash,
  num_confirmations,
  time_stamp: 1,
  label: '',
  output_details: [],
  previous_outpoints: [{ outpoint: COIN, is_our_output: true }],
  ...change,
});

for (const [name, payment] of Object.entries({ send, receipt })) {
  describe(`a ${name} whose coin another transaction spends`, () => {
    test('is pending with that replacement', () => {
      for (const confirmations of [0, 5]) {
        expect(
          replacedPayment(payment, [listed(OTHER, confirmations)], NOW)?.payment,
        ).toMatchObject({ status: 'pending', replacement: OTHER, finalizedAtMs: null });
      }
    });

    test('fails with the sixth confirmation of the other', () => {
      expect(replacedPayment(payment, [listed(OTHER, 6)], NOW)?.payment).toMatchObject({
        status: 'failed',
        statusMsg: 'replaced',
        replacement: OTHER,
        finalizedAtMs: NOW,
      });
    });

    test('names the one of several that has the most confirmations', () => {
      const third = '03'.repeat(32);
      const both = [listed(third, 0, { time_stamp: 9 }), listed(OTHER, 1)];
      expect(replacedPayment(payment, both, NOW)?.payment.replacement).toBe(OTHER);
    });

    test('is not replaced by time alone, other coins, or once it is in a block itself', () => {
      const foreign = [{ outpoint: `${'cd'.repeat(32)}:0`, is_our_output: true }];
      const cases = [
        [],
        [listed(OTHER, 6, { previous_outpoints: foreign })],
        [listed(TXID, 1), listed(OTHER, 0)],
        [listed(TXID, 0)],
      ];
      for (const one of cases) expect(replacedPayment(payment, one, NOW)).toBeNull();
    });
  });
}

describe('of two unconfirmed transactions that spend one coin', () => {
  const replacementOf = (own: object, other: object) =>
    replacedPayment(receipt, [listed(TXID, 0, own), listed(OTHER, 0, other)], NOW)?.payment
      .replacement ?? null;
  const paying = (amount: bigint) => ({
    output_details: [{ address: '', output_index: 0, amount, is_our_address: true }],
  });

  test('the later one replaces the earlier one, and is not replaced itself', () => {
    expect(replacementOf({ time_stamp: 1 }, { time_stamp: 2 })).toBe(OTHER);
    expect(replacementOf({ time_stamp: 2 }, { time_stamp: 1 })).toBeNull();
  });

  test('in the same second the one with the higher fee replaces the other', () => {
    expect(replacementOf(paying(100n), paying(90n))).toBe(OTHER);
    expect(replacementOf(paying(90n), paying(100n))).toBeNull();
  });
});

test('a transaction with the label of a send is its fee bump and replaces nothing', () => {
  expect(replacedPayment(send, [listed(OTHER, 6, { label: `ws:${ID}` })], NOW)).toBeNull();
});
