import { expect, test } from 'bun:test';
import { hex } from '@scure/base';
import { isApiError } from '../../../src/model/errors.ts';
import { feeChild } from '../../../src/nodes/remote/orders/fee-child.ts';
import { weightOf } from '../../../src/nodes/remote/orders/psbt.ts';
import { idOf, spendingTransaction } from '../cln/transactions.ts';

const CHILD_WEIGHT = 440n;

/** A transaction with one input that is the wallet's, and two outputs. */
function spending(outpoint: string, feeSat: bigint, isOwn = true) {
  const script = new Uint8Array(22);
  const outputs = [
    { script, amount: 30_000n },
    { script, amount: 50_000n },
  ];
  const txHex = spendingTransaction([outpoint], outputs);
  return { txid: idOf(txHex), txHex, feeSat, spends: isOwn ? [outpoint] : [] };
}
const send = spending(`${'11'.repeat(32)}:0`, 200n);
const weight = weightOf(hex.decode(send.txHex));
const coinOf = (txid: string, more: object = {}) => ({
  ...{ outpoint: `${txid}:1`, amountSat: 50_000n, isReserved: false, childWeight: CHILD_WEIGHT },
  ...more,
});
const change = coinOf(send.txid);
const refusal = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    expect(isApiError(error, 'refused')).toBe(true);
    return (error as Error).message;
  }
  throw new Error('It was not refused.');
};

test('a child pays what its family lacks at the feerate, and no satoshi less', () => {
  const satPerKw = 5000n;
  const child = feeChild(send, [send], [change], satPerKw);
  expect(child?.outpoint).toBe(change.outpoint);
  expect(child?.feeSat).toBe(((weight + CHILD_WEIGHT) * satPerKw) / 1000n - 200n);
  // The rate of the child alone gives that fee.
  expect(((child?.satPerKw ?? 0n) * CHILD_WEIGHT) / 1000n).toBe(child?.feeSat ?? 0n);
});

test('what a child has paid already is counted, and a further child spends the change of the last', () => {
  const child = spending(change.outpoint, 3000n);
  const transactions = [send, child];
  const coins = [coinOf(child.txid)];
  const family = weight + weightOf(hex.decode(child.txHex));
  // 3,200 satoshis are paid: one satoshi more is another child, and what is paid needs none.
  const enough = (3200n * 1000n) / family;
  expect(feeChild(send, transactions, coins, enough)).toBeNull();
  const further = feeChild(send, transactions, coins, enough + 5n);
  expect(further?.outpoint).toBe(`${child.txid}:1`);
  expect(further?.feeSat).toBe(((family + CHILD_WEIGHT) * (enough + 5n)) / 1000n - 3200n);
});

test('what the payee does with his output is no child of ours', () => {
  const theirs = spending(`${send.txid}:0`, 9000n, false);
  const child = feeChild(send, [send, theirs], [change, coinOf(theirs.txid)], 5000n);
  expect(child?.outpoint).toBe(change.outpoint);
});

test('nothing is made where the fee suffices, or the change is gone, reserved or too small', () => {
  const enough = (200n * 1000n) / weight;
  expect(refusal(() => feeChild(send, [send], [change], enough))).toContain('already');
  expect(refusal(() => feeChild(send, [send], [], 5000n))).toContain('no change');
  const reserved = coinOf(send.txid, { isReserved: true });
  expect(refusal(() => feeChild(send, [send], [reserved], 5000n))).toContain('reserved');
  const free = coinOf(send.txid, { outpoint: `${send.txid}:0` });
  expect(feeChild(send, [send], [reserved, free], 5000n)?.outpoint).toBe(free.outpoint);
  const feeSat = feeChild(send, [send], [change], 5000n)?.feeSat ?? 0n;
  const small = (amountSat: bigint) => [coinOf(send.txid, { amountSat })];
  expect(refusal(() => feeChild(send, [send], small(feeSat), 5000n))).toContain('does not pay');
  expect(feeChild(send, [send], small(feeSat + 1n), 5000n)?.feeSat).toBe(feeSat);
});
