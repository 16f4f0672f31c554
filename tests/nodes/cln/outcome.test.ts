import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { Payment } from '../../../src/model/payment.ts';
import { paymentId, paymentIndex } from '../../../src/model/payment-index.ts';
import { sendOutcome } from '../../../src/nodes/cln/follow/outcome.ts';
import type { SendQuestion } from '../../../src/nodes/node.ts';
import { questionOf } from '../../contracts/node/steps.ts';
import { makeInvoice, makeOffer, makeRequest } from '../../support/bolt12-fixtures.ts';
import { FakeCln, NODE_SECS, refusal } from './fake-cln.ts';
import { begunPayment } from './fake-sends.ts';
import { type FakeWallet, fakeWallet, LABELS, rpcOf } from './fake-wallet.ts';
import { PAID_HASH as HASH, PREIMAGE } from './fake-xpay.ts';

/** When a send that the node does not list is certain never to be made (docs/decisions.md 37). */

const CREATED_AT_MS = NODE_SECS * 1000 + 123;
const INDEX = paymentIndex(CREATED_AT_MS, paymentId('ln', HASH));
const EXPIRES_SECS = NODE_SECS + 3600;
/** How long after the expiry a request may still be on its way. */
const GRACE_SECS = 600;
const PAYMENT: Payment = begunPayment(CREATED_AT_MS, HASH, { expiresAtMs: EXPIRES_SECS * 1000 });
const FETCHED = makeInvoice(makeRequest(makeOffer(), { amountMsat: 1000n }), {
  paymentHash: HASH,
  createdAtSecs: NODE_SECS,
});

let nowSecs: number;
let cln: FakeCln;
let wallet: FakeWallet;
beforeEach(() => {
  nowSecs = EXPIRES_SECS + GRACE_SECS;
  cln = new FakeCln(() => nowSecs);
  wallet = fakeWallet();
  const info = { id: wallet.nodePk, version: 'v26.06.6', network: 'regtest', blockheight: 1 };
  cln.on('getinfo', () => Response.json(info, { status: 201 }));
});
afterEach(() => cln.stop());

const outcome = (change?: Partial<SendQuestion>) =>
  sendOutcome({ owner: rpcOf(cln), wallet }, questionOf(PAYMENT, change));
const NEVER = { state: 'never', reason: 'not sent' } as const;
const UNKNOWN = { state: 'unknown' } as const;

describe('a send that the node does not list', () => {
  test("is never made ten minutes after its invoice's expiry, by the node's clock, and not before", async () => {
    expect(await outcome()).toEqual(NEVER);
    nowSecs -= 1;
    expect(await outcome()).toEqual(UNKNOWN);
    nowSecs = NODE_SECS;
    expect(await outcome()).toEqual(UNKNOWN);
  });

  test('of an invoice that was fetched for it is never made after the expiry of that one', async () => {
    const payment = { ...PAYMENT, expiresAtMs: null };
    nowSecs = FETCHED.expiresAtSecs + GRACE_SECS;
    expect(await outcome({ payment, fetched: FETCHED })).toEqual(NEVER);
    nowSecs -= 1;
    expect(await outcome({ payment, fetched: FETCHED })).toEqual(UNKNOWN);
    // Its own, where both are known.
    expect(await outcome({ payment: { ...PAYMENT, expiresAtMs: 1 }, fetched: FETCHED })).toEqual(
      UNKNOWN,
    );
  });

  test('stays unknown where nothing says when its invoice expires', async () => {
    expect(await outcome({ payment: { ...PAYMENT, expiresAtMs: null } })).toEqual(UNKNOWN);
  });

  test('stays unknown where the node does not tell its time, whatever the clock here says', async () => {
    // The header of its answer is no date then.
    const timeless = new FakeCln(() => Number.NaN);
    const info = { id: wallet.nodePk, version: 'v26.06.6', network: 'regtest', blockheight: 1 };
    timeless.on('getinfo', () => Response.json(info, { status: 201 }));
    wallet.times.nowMs = (EXPIRES_SECS + 99_999) * 1000;
    expect(await sendOutcome({ owner: rpcOf(timeless), wallet }, questionOf(PAYMENT))).toEqual(
      UNKNOWN,
    );
    await timeless.stop();
  });

  test('stays unknown where the node has deleted payments, or does not say', async () => {
    cln.sendpays.remove(cln.addPart({ payment_hash: 'ee'.repeat(32) }));
    expect(await outcome()).toEqual(UNKNOWN);
    cln.on('wait', () => refusal(1502, 'Not permitted: method is not equal to wait', 401));
    expect(await outcome()).toEqual(UNKNOWN);
  });

  test('is looked for after the clock was read', async () => {
    await outcome();
    const methods = cln.asked.map(({ method }) => method);
    expect(methods.indexOf('getinfo')).toBeLessThan(methods.indexOf('listsendpays'));
  });

  test('without a hash stays unknown, and the node is asked for nothing', async () => {
    expect(await outcome({ payment: { ...PAYMENT, hash: null } })).toEqual(UNKNOWN);
    expect(await outcome({ payment: { ...PAYMENT, rail: 'onchain' } })).toEqual(UNKNOWN);
    expect(cln.asked).toEqual([]);
  });
});

describe('long after the expiry', () => {
  test('an attempt of its own is known, also beside one of others', async () => {
    cln.addPart({ payment_hash: HASH, label: LABELS.of(INDEX) });
    expect(await outcome()).toMatchObject({
      state: 'known',
      payment: { index: INDEX, status: 'pending' },
    });
  });

  test('one that others have made takes the hash only once it is complete', async () => {
    const part = cln.addPart({ payment_hash: HASH, groupid: 7 });
    expect(await outcome()).toEqual(NEVER);
    cln.endPart(part, { status: 'complete', payment_preimage: PREIMAGE });
    expect(await outcome()).toMatchObject({ state: 'taken', payment: { status: 'completed' } });
    expect(await outcome({ fetched: FETCHED })).toEqual({
      state: 'never',
      reason: 'invoice paid by another payment',
    });
  });

  test('of several that others have made the latest paid one is told', async () => {
    const paid = { payment_hash: HASH, status: 'complete', payment_preimage: PREIMAGE };
    cln.addPart({ ...paid, groupid: 7, created_at: NODE_SECS + 1 });
    cln.addPart({ ...paid, groupid: 8, created_at: NODE_SECS + 2 });
    cln.addPart({ payment_hash: HASH, status: 'failed', groupid: 9, created_at: NODE_SECS + 3 });
    expect(await outcome()).toMatchObject({
      state: 'taken',
      payment: { createdAtMs: (NODE_SECS + 2) * 1000 },
    });
  });
});
