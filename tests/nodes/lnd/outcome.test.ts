import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { hex } from '@scure/base';
import { blankPayment, type Payment } from '../../../src/model/payment.ts';
import { paymentId, paymentIndex } from '../../../src/model/payment-index.ts';
import { sendOutcome } from '../../../src/nodes/lnd/follow/outcome.ts';
import { LndRest } from '../../../src/nodes/lnd/reads/rest.ts';
import type { LndWallet } from '../../../src/nodes/lnd/reads/wallet.ts';
import { labelOf } from '../../../src/nodes/lnd/words/replaced.ts';
import type { SendQuestion } from '../../../src/nodes/node.ts';
import { RemoteEndpoint } from '../../../src/nodes/remote/calls/endpoint.ts';
import { questionOf } from '../../contracts/node/steps.ts';
import { addressOf, idOf, spendingTransaction } from '../cln/transactions.ts';
import { infoOf, nodeKey, scriptedLnd } from './scripted-lnd.ts';

/** What LND's list of transactions says of an on-chain send. What became of Lightning payments is in sends.test.ts. */

const lnd = scriptedLnd();
afterAll(() => lnd.stop());
const owner = new LndRest({ endpoint: new RemoteEndpoint(lnd), token: () => '0e' });
const NOW_MS = 1_800_000_000_000;
const wallet = { clock: { now: () => NOW_MS } } as unknown as LndWallet;

const COIN = `${'ab'.repeat(32)}:1`;
const THEIRS = hex.decode(`0014${'04'.repeat(20)}`);
const txHex = spendingTransaction([COIN], [{ script: THEIRS, amount: 60_000n }]);
const SIGNED = { txid: idOf(txHex), txHex, feeMsat: '1000000', locks: [] };
const RIVAL = '02'.repeat(32);
const PAYMENT: Payment = {
  ...blankPayment({
    index: paymentIndex(1_700_000_000_123, paymentId('os', '5e'.repeat(32))),
    rail: 'onchain',
    direction: 'outbound',
    status: 'pending',
    statusMsg: 'pending',
    createdAtMs: 1_700_000_000_123,
    updatedAtMs: 1_700_000_000_123,
  }),
  amountMsat: 60_000_000n,
  address: addressOf(THEIRS),
  priority: 'normal',
};

/** A transaction of LND's list that spends the coin. */
const row = (tx_hash: string, change: object = {}) => ({
  tx_hash,
  amount: '-61000',
  num_confirmations: 0,
  block_height: 0,
  time_stamp: '1700000001',
  total_fees: '1000',
  raw_tx_hex: txHex,
  label: '',
  output_details: [],
  previous_outpoints: [{ outpoint: COIN, is_our_output: true }],
  ...change,
});
const listed = (...transactions: object[]) => lnd.on('GET /v1/transactions', { transactions });
const outcome = (change: Partial<SendQuestion> = {}) =>
  sendOutcome({ owner, wallet }, questionOf(PAYMENT, { signed: SIGNED, ...change }));
beforeEach(() => {
  lnd.reset();
  lnd.on('GET /v1/getinfo', infoOf(nodeKey(1).pk));
});

describe('what became of an on-chain send', () => {
  test('is unknown while LND does not list it, signed or not', async () => {
    const foreign = { previous_outpoints: [{ outpoint: `${RIVAL}:0`, is_our_output: true }] };
    listed(row(RIVAL, { ...foreign, label: 'external' }));
    expect(await outcome()).toEqual({ state: 'unknown' });
    expect(await outcome({ signed: null })).toEqual({ state: 'unknown' });
  });

  test('is known by its label, also before its transaction was kept', async () => {
    listed(row(SIGNED.txid, { label: labelOf(PAYMENT) }));
    for (const signed of [SIGNED, null]) {
      expect(await outcome({ signed })).toMatchObject({
        state: 'known',
        payment: { index: PAYMENT.index, txid: SIGNED.txid, status: 'pending', replacement: null },
      });
    }
  });

  test('is known by its transaction where that has no label of a send', async () => {
    listed(row(SIGNED.txid, { label: 'external' }));
    for (const address of [PAYMENT.address, null]) {
      expect(await outcome({ payment: { ...PAYMENT, address } })).toMatchObject({
        state: 'known',
        payment: { index: PAYMENT.index, txid: SIGNED.txid },
      });
    }
    expect(await outcome({ signed: null })).toEqual({ state: 'unknown' });
  });

  test('is that it waits beside another transaction of its coin, until that has six confirmations', async () => {
    for (const num_confirmations of [0, 1, 5]) {
      listed(row(RIVAL, { num_confirmations }));
      const told = await outcome();
      expect(told).toMatchObject({
        state: 'known',
        attempt: null,
        payment: {
          index: PAYMENT.index,
          status: 'pending',
          txid: SIGNED.txid,
          replacement: RIVAL,
          feesMsat: 1_000_000n,
          amountMsat: 60_000_000n,
        },
      });
      // The feed follows both by the coins of the payment's own.
      expect(told.state === 'known' && told.payment.tx?.input[0]?.previous_output).toBe(COIN);
    }
    listed(row(RIVAL, { num_confirmations: 6 }));
    expect(await outcome()).toEqual({ state: 'never', reason: 'replaced' });
  });

  test('is known by a fee bump without its label, which pays the receiver as much', async () => {
    const bump = (amount: string) => ({
      output_details: [
        { address: PAYMENT.address, output_index: '0', amount, is_our_address: false },
      ],
    });
    listed(row(RIVAL, bump('60000')));
    expect(await outcome()).toMatchObject({
      state: 'known',
      payment: { index: PAYMENT.index, txid: RIVAL, replacement: null },
    });
    listed(row(RIVAL, { ...bump('60000'), num_confirmations: 6 }));
    expect(await outcome()).toMatchObject({ state: 'known', payment: { status: 'completed' } });
    listed(row(RIVAL, { ...bump('59999'), num_confirmations: 6 }));
    expect(await outcome()).toEqual({ state: 'never', reason: 'replaced' });
  });

  test('is told by its own transaction once that is in a block, whatever else spends its coin', async () => {
    const own = row(SIGNED.txid, {
      label: labelOf(PAYMENT),
      num_confirmations: 1,
      block_height: 9,
    });
    listed(row(RIVAL), own);
    expect(await outcome()).toMatchObject({
      state: 'known',
      payment: { txid: SIGNED.txid, replacement: null },
    });
  });
});

test('a Lightning payment without a hash stays unknown, and LND is asked for nothing', async () => {
  const payment: Payment = { ...PAYMENT, rail: 'invoice', hash: null };
  expect(await outcome({ payment, signed: null })).toEqual({ state: 'unknown' });
  expect(lnd.requests).toEqual([]);
});
