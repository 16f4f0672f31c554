import { expect, test } from 'bun:test';
import { keyedLock } from '../../../src/lib/keyed-lock.ts';
import { ApiError, refused } from '../../../src/model/errors.ts';
import type { PaymentIndex } from '../../../src/model/payment-index.ts';
import {
  estimateRoutingFeeMsat,
  lightningOutcome,
  newestAttempt,
  offerPayment,
  payInvoice,
  paySpontaneous,
} from '../../../src/nodes/ldk/lightning/payments.ts';
import type { LdkWallet } from '../../../src/nodes/ldk/process/wallet.ts';
import type { LdkRow } from '../../../src/nodes/ldk/words/words.ts';
import type {
  PayInvoiceCommand,
  PaySpontaneousCommand,
  SendOutcome,
  SendQuestion,
  SendReport,
} from '../../../src/nodes/node.ts';
import { throwing } from '../../support/rejection.ts';
import { ldkRow } from './rows.ts';

const OWN = ldkRow().ref as string;
const OTHER = `0000001764000009999-ln_${'ab'.repeat(32)}`;
const NODE = `02${'ee'.repeat(32)}`;

type Answer = (params: Record<string, unknown>) => unknown;

/** A wallet whose helper answers so, and what the helper was asked. */
function walletOf(answers: Readonly<Record<string, Answer>>) {
  const calls: [method: string, params: Record<string, unknown>][] = [];
  const call = async (method: string, params: Record<string, unknown>) => {
    calls.push([method, params]);
    return answers[method]?.(params);
  };
  const parts = { helper: { call }, sending: new Set<string>(), locks: keyedLock(), nodePk: NODE };
  return { wallet: parts as unknown as LdkWallet, calls };
}

/** What became of a send, whose newest attempt has this row. */
function outcomeOf(row: LdkRow | null, question: Partial<SendQuestion> = {}) {
  const payment = {
    rail: 'invoice',
    hash: ldkRow().hash,
    index: OWN,
    createdAtMs: 7,
    amountMsat: 5n,
  };
  return lightningOutcome(walletOf({ row: () => row }).wallet, {
    payment,
    attempt: null,
    afterAttempt: 0,
    ...question,
  } as SendQuestion);
}

const ended = { ended_at: 1_764_000_001_000 };
const NEVER_SENT = { state: 'failed', reason: 'never sent', ...ended } as const;
const FAILED = { state: 'failed', reason: 'RouteNotFound', ...ended } as const;

/** Each with what the newest attempt is, and what that means for the send that is asked about. */
const OUTCOMES: readonly [string, LdkRow | null, SendOutcome['state']][] = [
  ['is not there', null, 'never'],
  ['was asked for, and LDK has not said whether it took it', ldkRow({ state: 'asked' }), 'unknown'],
  ['is on its way', ldkRow(), 'known'],
  ['has paid', ldkRow({ state: 'completed', ...ended }), 'known'],
  ['has failed', ldkRow(FAILED), 'known'],
  ['was never taken by LDK', ldkRow(NEVER_SENT), 'never'],
  ['was not asked for here, and has paid', ldkRow({ ref: null, state: 'completed' }), 'known'],
  ['is of another payment, and on its way', ldkRow({ ref: OTHER }), 'never'],
  ['is of another payment, and has paid', ldkRow({ ref: OTHER, state: 'completed' }), 'taken'],
  ['is of another payment, and has failed', ldkRow({ ref: OTHER, ...FAILED }), 'never'],
];

test.each(OUTCOMES)('a send whose newest attempt %s', async (_, row, state) => {
  expect((await outcomeOf(row)).state).toBe(state);
});

test('an attempt from before the send is not of it, but the hash that it has paid is taken', async () => {
  const before = { afterAttempt: 1 };
  expect((await outcomeOf(ldkRow(), before)).state).toBe('never');
  expect((await outcomeOf(ldkRow(FAILED), before)).state).toBe('never');
  expect((await outcomeOf(ldkRow({ state: 'completed', ...ended }), before)).state).toBe('taken');
  expect((await outcomeOf(ldkRow({ attempt: 2 }), before)).state).toBe('known');
  expect((await outcomeOf(ldkRow(), { afterAttempt: null })).state).toBe('known');
  expect((await outcomeOf(ldkRow({ attempt: null }), { afterAttempt: null })).state).toBe('known');
});

test('an attempt that is known is asked for by its number, and is of the send however old', async () => {
  const { wallet, calls } = walletOf({ row: () => ldkRow() });
  const payment = { rail: 'invoice', hash: ldkRow().hash, index: OWN };
  const question = { payment, attempt: 1, afterAttempt: 1 } as unknown as SendQuestion;
  expect(await lightningOutcome(wallet, question)).toMatchObject({ state: 'known', attempt: 1 });
  expect(calls).toEqual([['row', { key: 'out:1' }]]);
});

test('a send is known under its own index, time and amount', async () => {
  const { payment } = (await outcomeOf(ldkRow({ amount_msat: null }))) as unknown as {
    payment: object;
  };
  expect(payment).toMatchObject({ index: OWN, createdAtMs: 7, amountMsat: 5n });
});

test('nothing is asked about a send that is being made, or that nothing names', async () => {
  const { wallet, calls } = walletOf({});
  const asked = (payment: object) =>
    lightningOutcome(wallet, { payment, attempt: null, afterAttempt: null } as SendQuestion);
  wallet.sending.add(ldkRow().hash as string);
  wallet.sending.add('fs');
  expect(await asked({ rail: 'invoice', hash: ldkRow().hash })).toEqual({ state: 'unknown' });
  expect(await asked({ rail: 'offer', hash: null, index: 'fs' })).toEqual({ state: 'unknown' });
  expect(await asked({ rail: 'invoice', hash: null })).toEqual({ state: 'unknown' });
  expect(calls).toEqual([]);
});

test('a payment of an offer is found by its index, and every other one by its hash', async () => {
  const { wallet, calls } = walletOf({ row: () => null });
  const asked = (payment: object) =>
    lightningOutcome(wallet, { payment, attempt: null, afterAttempt: null } as SendQuestion);
  await asked({ rail: 'offer', hash: 'ff', index: 'fs' });
  await asked({ rail: 'spontaneous', hash: 'ff', index: 'ln' });
  expect(calls).toEqual([
    ['row', { ref: 'fs' }],
    ['row', { hash: 'ff' }],
  ]);
});

const CHANNELS = [
  { usable: true, out_msat: 4_000n },
  { usable: true, out_msat: 1_000n },
  { usable: false, out_msat: 9_000n },
];

/** Pays an invoice of 5000 msat where the newest attempt has these rows, one for each look, and the order ends so. */
async function payWith(rows: readonly (LdkRow | null)[], pay: Answer, amountMsat = 5_000n) {
  const left = [...rows];
  const { wallet, calls } = walletOf({
    row: () => left.shift() ?? null,
    channels: () => CHANNELS,
    pay_invoice: pay,
  });
  const invoice = { text: 'lnbc', paymentHash: 'ff', amountMsat: null, payeePubkey: '02' };
  const command = { invoice, index: OWN, amountMsat, maxFeeMsat: 7n };
  const report = await payInvoice(wallet, command as unknown as PayInvoiceCommand);
  return { report, wallet, methods: calls.map(([method]) => method), calls };
}
const fail = (error: Error) => () => {
  throw error;
};
const unknown = new ApiError('unreachable', 'It ended.', { outcomeUnknown: true });

/** Each with what the helper says to the order, and the rows before and after it. */
const REPORTS: readonly [string, Answer, (LdkRow | null)[], SendReport['state']][] = [
  ['is taken', () => ({ row: ldkRow(), taken: false }), [null], 'known'],
  ['was taken before', () => ({ row: ldkRow(), taken: true }), [ldkRow()], 'known'],
  ['meets another payment', () => ({ row: ldkRow({ ref: OTHER }), taken: true }), [null], 'taken'],
  [
    'may not have been taken',
    () => ({ row: ldkRow({ state: 'asked' }), taken: true }),
    [null],
    'unknown',
  ],
  ['is refused', fail(refused('No.')), [null, null], 'refused'],
  ['is refused after it began', fail(refused('No.')), [null, ldkRow(FAILED)], 'known'],
  [
    'is refused beside another',
    fail(refused('No.')),
    [null, ldkRow({ ref: OTHER, ...FAILED })],
    'refused',
  ],
  ['is refused while it is on its way', fail(refused('No.')), [null, ldkRow()], 'refused'],
  ['is cut off', fail(unknown), [null, ldkRow(FAILED)], 'unknown'],
  ['never reached the helper', fail(new ApiError('unreachable', 'Away.')), [null], 'refused'],
];

test.each(REPORTS)('the report on an order that %s', async (_, pay, rows, state) => {
  const { report, wallet } = await payWith(rows, pay);
  expect(report.state).toBe(state);
  expect(wallet.sending.size).toBe(0);
});

test('an order that was not answered in time counts as being made, since it may be read still', async () => {
  const late = new ApiError('timeout', 'Late.', { outcomeUnknown: true });
  const { report, wallet } = await payWith([null], fail(late));
  expect([report.state, [...wallet.sending]]).toEqual(['unknown', ['ff']]);
});

test('a defect is thrown, and is no report', async () => {
  expect(await throwing(payWith([null], fail(new TypeError('A defect.'))))).toThrow('A defect.');
});

test('what usable channels cannot send is refused unasked, unless an attempt stands already', async () => {
  const taken = () => ({ row: ldkRow(), taken: true });
  const tooMuch = await payWith([null], taken, 5_001n);
  expect([tooMuch.report.state, tooMuch.methods]).toEqual(['refused', ['row', 'channels', 'row']]);
  const failed = await payWith([ldkRow(FAILED)], taken, 5_001n);
  expect(failed.report.state).toBe('refused');
  for (const state of ['pending', 'completed'] as const) {
    const standing = await payWith([ldkRow({ state })], taken, 5_001n);
    expect(standing.methods).toEqual(['row', 'pay_invoice']);
  }
});

test('an order names the amount only where its invoice names none', async () => {
  const { calls } = await payWith([null], () => ({ row: ldkRow(), taken: false }));
  expect(calls.at(-1)).toEqual([
    'pay_invoice',
    { bolt11: 'lnbc', amount_msat: 5_000n, max_fee_msat: 7n, ref: OWN },
  ]);
  const { wallet, calls: named } = walletOf({
    row: () => ldkRow(),
    pay_invoice: () => ({ row: ldkRow(), taken: true }),
  });
  const invoice = { text: 'lnbc', paymentHash: 'ff', amountMsat: 5_000n, payeePubkey: '02' };
  const command = { invoice, index: OWN, amountMsat: 5_000n, maxFeeMsat: 7n };
  await payInvoice(wallet, command as unknown as PayInvoiceCommand);
  expect(named.at(-1)?.[1]).toMatchObject({ amount_msat: null });
});

test('a payment to the node itself is refused unasked', async () => {
  const { wallet, calls } = walletOf({});
  const invoice = { payeePubkey: NODE } as PayInvoiceCommand['invoice'];
  const byInvoice = await payInvoice(wallet, { invoice } as PayInvoiceCommand);
  const byKey = await paySpontaneous(wallet, { nodePk: NODE } as PaySpontaneousCommand);
  expect([byInvoice.state, byKey.state, calls]).toEqual(['refused', 'refused', []]);
});

test('only payments that are named by a hash have a number of their newest attempt', async () => {
  const { wallet, calls } = walletOf({ row: () => ldkRow({ attempt: 4 }) });
  expect(await newestAttempt(wallet, `fs_${'ab'.repeat(32)}` as never)).toBe(0);
  expect(calls).toEqual([]);
  expect(await newestAttempt(wallet, `ln_${'ab'.repeat(32)}` as never)).toBe(4);
  expect(calls).toEqual([['row', { hash: 'ab'.repeat(32) }]]);
});

test('routing costs nothing to a peer, what the hints say behind one, and elsewhere it is not known', async () => {
  const channels = [
    { usable: true, peer: 'peer', out_msat: 5_000n },
    { usable: false, peer: 'other', out_msat: 9_000n },
  ];
  const { wallet } = walletOf({ channels: () => channels });
  const hint = { shortChannelId: '', feeBaseMsat: 7, feeProportionalMillionths: 0 };
  const feeMsat = (nodePk: string, amountMsat: bigint, ...hinted: string[]) => {
    const routeHints = hinted.map((pubkey) => [{ ...hint, pubkey, cltvExpiryDelta: 1 }]);
    return estimateRoutingFeeMsat(wallet, { nodePk, amountMsat, routeHints });
  };
  expect(await feeMsat('peer', 5_000n)).toBe(0n);
  expect(await feeMsat('peer', 5_001n)).toBeNull();
  expect(await feeMsat('other', 1n)).toBeNull();
  expect(await feeMsat('payee', 4_000n, 'other', 'peer')).toBe(7n);
  expect(await feeMsat('payee', 4_994n, 'peer')).toBeNull();
});

test('a payment of an offer is shown by its index once LDK has taken it', async () => {
  const shown = (row: LdkRow | null) =>
    offerPayment(walletOf({ row: () => row }).wallet, OWN as PaymentIndex);
  expect(await shown(ldkRow())).toMatchObject({ payment: { index: OWN } });
  expect(await shown(ldkRow({ state: 'asked' }))).toBeNull();
  expect(await shown(null)).toBeNull();
});
