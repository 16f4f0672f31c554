import { expect, test } from 'bun:test';
import { exampleCreatedInvoice } from '../../../src/http/examples.ts';
import { miningFeeId, type PaymentIndex, receiveId } from '../../../src/model/payment-index.ts';
import {
  type KnownSend,
  rowObservations,
  transactionObservations,
} from '../../../src/nodes/ldk/words/translate.ts';
import type { LdkRow, LdkTransaction } from '../../../src/nodes/ldk/words/words.ts';
import { ldkRow } from './rows.ts';

/** The output that {@link RAW} spends. */
const SPENT = 'aa'.repeat(32);
/** A transaction of one input, output 1 of {@link SPENT}, and one output. */
const RAW = `0200000001${SPENT}0100000000fdffffff01e803000000000000160014${'00'.repeat(20)}00000000`;

const told = (change: Partial<LdkRow>) => rowObservations(ldkRow(change));

test('an attempt is told from when LDK took it, and so is its end', () => {
  const ended = { state: 'failed', ended_at: 1_764_000_001_000 } as const;
  expect(told({ state: 'asked' })).toEqual([]);
  expect(told({})).toMatchObject([{ payment: { status: 'pending', index: ldkRow().ref } }]);
  // It was never told of, and the sidecar asks what became of it.
  expect(told({ ...ended, reason: 'never sent' })).toEqual([]);
  // A crash made LDK forget what it had taken: who was told that it is pending must be told that it is not.
  expect(told({ ...ended, reason: 'not_sent' })).toMatchObject([
    {
      attempt: 1,
      payment: { status: 'failed', statusMsg: 'not sent', finalizedAtMs: 1_764_000_001_000 },
    },
  ]);
});

test('only a small payment that has no output of its closed channel stays pending', () => {
  const lost = { state: 'failed', cut: true, ended_at: 1_764_000_001_000 } as const;
  const statusOf = (change: Partial<LdkRow>) => told({ ...lost, ...change })[0]?.payment.status;
  expect(told(lost)).toMatchObject([{ payment: { status: 'pending', finalizedAtMs: null } }]);
  expect(statusOf({ amount_msat: 9_999_999n })).toBe('pending');
  expect(statusOf({ amount_msat: 10_000_000n })).toBe('failed');
  expect(statusOf({ cut: false })).toBe('failed');
  expect(statusOf({ kind: 'offer', hash: null })).toBe('failed');
  expect(statusOf({ state: 'completed', preimage: 'cd'.repeat(32) })).toBe('completed');
});

test('a payment of an offer has no hash before its invoice, and what arrives on one names it', () => {
  const offer = { kind: 'offer', offer_id: 'cd'.repeat(32), message: 'thank you' } as const;
  const fields = { rail: 'offer', offerId: offer.offer_id, message: 'thank you' } as const;
  const ref = `0000001764000000000-fs_${'ef'.repeat(32)}`;
  const sent = told({ ...offer, hash: null, ref });
  expect(sent).toMatchObject([{ payment: { ...fields, index: ref, hash: null } }]);
  const { hash } = ldkRow();
  const received = { direction: 'in', state: 'completed', ref: null, description: 'tea' } as const;
  expect(told({ ...offer, ...received })).toMatchObject([
    { payment: { ...fields, index: `0000001764000000000-fr_${hash}`, description: 'tea' } },
  ]);
});

const ended_at = 1_764_000_001_000;

/** Each with what the row of an outgoing payment has, and what it shows. */
const SENT: readonly [string, Partial<LdkRow>, object][] = [
  ['is on its way', { fee_msat: 3n }, { status: 'pending', feesMsat: 3n, preimage: null }],
  [
    'has paid',
    { state: 'completed', preimage: 'cd', fee_msat: 3n, ended_at },
    { status: 'completed', statusMsg: 'completed', feesMsat: 3n, preimage: 'cd' },
  ],
  [
    'has failed',
    { state: 'failed', reason: 'RouteNotFound', fee_msat: 3n, preimage: 'cd', ended_at },
    { status: 'failed', statusMsg: 'no route', feesMsat: 0n, preimage: null },
  ],
  [
    'has failed for a reason of a later version',
    { state: 'failed', reason: 'too_late', ended_at },
    { status: 'failed', statusMsg: 'failed' },
  ],
  [
    'shows no message of its own',
    { message: 'hi' },
    { message: null, rail: 'invoice', amountMsat: 5000n },
  ],
  ['has no invoice', { kind: 'keysend' }, { rail: 'spontaneous', direction: 'outbound' }],
  ['was made without the sidecar', { ref: null }, { index: ldkRow().ref }],
];

test.each(SENT)('a row of a send that %s', (_, row, payment) => {
  expect(told(row)).toMatchObject([{ attempt: 1, payment }]);
});

/** Each with what the row of an incoming payment has, and what it shows. */
const RECEIVED: readonly [string, Partial<LdkRow>, object][] = [
  [
    'nobody has paid',
    { state: 'open' },
    { status: 'pending', statusMsg: 'invoice generated', amountMsat: 5000n, feesMsat: 0n },
  ],
  ['is held', { state: 'held' }, { status: 'pending', statusMsg: 'held' }],
  [
    'was paid, less what the LSP took',
    { state: 'completed', received_msat: 4_000n, lsp_fee_msat: 1_000n, message: 'hi', ended_at },
    { status: 'completed', amountMsat: 4_000n, feesMsat: 1_000n, message: 'hi' },
  ],
  [
    'was canceled',
    { state: 'failed', reason: 'canceled', lsp_fee_msat: 1_000n, ended_at },
    { status: 'failed', statusMsg: 'canceled', feesMsat: 0n },
  ],
  ['has the word of a send', { state: 'failed', reason: 'never sent' }, { status: 'failed' }],
];

test.each(RECEIVED)('a row of an invoice that %s', (_, row, payment) => {
  const shown = { direction: 'inbound', index: ldkRow().ref, ...payment };
  expect(told({ direction: 'in', ref: null, ...row })).toMatchObject([{ payment: shown }]);
});

test('an invoice was made when it says so, and not when the helper stored it', () => {
  const { invoice: bolt11 } = exampleCreatedInvoice;
  expect(told({ direction: 'in', state: 'open', ref: null, bolt11 })).toMatchObject([
    { payment: { createdAtMs: 1_764_000_005_000, invoice: bolt11 } },
  ]);
});

test('a row without hash is of no payment unless its index names it', () => {
  expect(() => told({ hash: null, ref: null })).toThrow('out:1 has no hash');
});

const TXID = 'cd'.repeat(32);
const FIRST_SEEN = 1_764_000_000_000;

/** What a transaction in block 100 shows at that height, as index, direction, amount and fees. */
function shownBy(change: Partial<LdkTransaction>, height = 100, send: KnownSend | null = null) {
  const transaction: LdkTransaction = {
    ...{ txid: TXID, hex: RAW, height: 100, block_time: null, first_seen: FIRST_SEEN },
    ...{ fee_msat: 200_000n, sent_msat: 0n, received_msat: 0n, role: null, replaced_by: null },
    outputs: [],
    ...change,
  };
  return transactionObservations(transaction, height, send);
}
const paid = (change: Partial<LdkTransaction>) =>
  shownBy(change).map(({ payment: { index, direction, amountMsat, feesMsat } }) => ({
    ...{ id: index.slice(20), direction, amountMsat, feesMsat },
  }));

test('a transaction of others is one payment for each output of the wallet', () => {
  const outputs = [
    { vout: 0, amount_msat: 7_000n, address: 'bcrt1a' },
    { vout: 3, amount_msat: 8_000n, address: 'bcrt1b' },
  ];
  const shown = { direction: 'inbound', feesMsat: 0n } as const;
  expect(paid({ outputs })).toEqual([
    { id: receiveId(TXID, 0), amountMsat: 7_000n, ...shown },
    { id: receiveId(TXID, 3), amountMsat: 8_000n, ...shown },
  ]);
});

test('what the wallet pays others is its send, without the fee and what came back', () => {
  const sent = { sent_msat: 1_000_000n, received_msat: 300_000n };
  const shown = { id: `os_${TXID}`, direction: 'outbound' } as const;
  expect(paid(sent)).toEqual([{ ...shown, amountMsat: 500_000n, feesMsat: 200_000n }]);
  expect(paid({ ...sent, fee_msat: null })).toEqual([
    { ...shown, amountMsat: 700_000n, feesMsat: 0n },
  ]);
});

test('a send of the sidecar keeps its index, amount and address, and has the fee of its transaction', () => {
  const index = `0000001764000000777-os_${'77'.repeat(32)}` as PaymentIndex;
  const send = { index, amountMsat: 9_000n, address: 'bcrt1c', priority: 'high' } as const;
  const shown = { ...send, direction: 'outbound', createdAtMs: 1_764_000_000_777 } as const;
  expect(shownBy({ role: 'sweep' }, 100, send)).toMatchObject([
    { payment: { ...shown, feesMsat: 200_000n } },
  ]);
  expect(shownBy({ fee_msat: null }, 100, send)).toMatchObject([{ payment: { feesMsat: 0n } }]);
});

test('what pays nobody else cost its fee, once a block has it and the fee is known', () => {
  const within = { sent_msat: 1_000_000n, received_msat: 800_000n };
  const fee = { direction: 'info', amountMsat: 0n, feesMsat: 200_000n } as const;
  expect(paid(within)).toEqual([{ id: miningFeeId(SPENT, 1), ...fee }]);
  expect(paid({ ...within, received_msat: 300_000n, role: 'funding' })).toEqual([
    { id: miningFeeId(SPENT, 1), ...fee },
  ]);
  expect(paid({ ...within, height: null })).toEqual([]);
  expect(paid({ ...within, fee_msat: null, received_msat: 1_000_000n })).toEqual([]);
});

test.each(['close', 'sweep'] as const)('a transaction to %s a channel is no payment', (role) => {
  const outputs = [{ vout: 0, amount_msat: 7_000n, address: 'bcrt1a' }];
  expect(paid({ role, outputs })).toEqual([]);
  expect(paid({ role, sent_msat: 1_000_000n })).toEqual([]);
});

test('a transaction is completed with the sixth confirmation, at the time of its block', () => {
  const outputs = [{ vout: 0, amount_msat: 7_000n, address: 'bcrt1a' }];
  const at = (height: number, change: Partial<LdkTransaction> = {}) =>
    shownBy({ outputs, block_time: ended_at, ...change }, height);
  expect(at(104)).toMatchObject([{ inBlock: true, payment: { status: 'pending' } }]);
  expect(at(105)).toMatchObject([
    { payment: { status: 'completed', createdAtMs: FIRST_SEEN, finalizedAtMs: ended_at } },
  ]);
  expect(at(105, { height: null, block_time: null })).toMatchObject([
    { inBlock: false, payment: { status: 'pending' } },
  ]);
  const replaced_by = 'ef'.repeat(32);
  expect(at(100, { height: null, replaced_by })).toMatchObject([
    { payment: { status: 'failed', replacement: replaced_by } },
  ]);
});
