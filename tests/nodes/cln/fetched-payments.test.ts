import { afterEach, beforeEach, expect, test } from 'bun:test';
import type { Payment } from '../../../src/model/payment.ts';
import { paymentId, paymentIndex } from '../../../src/model/payment-index.ts';
import { sendOutcome } from '../../../src/nodes/cln/follow/outcome.ts';
import { payFetched } from '../../../src/nodes/cln/lightning/payments.ts';
import { questionOf } from '../../contracts/node/steps.ts';
import { makeInvoice, makeOffer, makeRequest } from '../../support/bolt12-fixtures.ts';
import { FakeCln, NODE_SECS } from './fake-cln.ts';
import { begunPayment, listing } from './fake-sends.ts';
import { type FakeWallet, fakeWallet, rpcOf } from './fake-wallet.ts';
import { FakeXpay, PAID_HASH } from './fake-xpay.ts';

/** An invoice that was fetched for one payment of an offer, and that another program pays too. */

const HASH = PAID_HASH;
const INVOICE = makeInvoice(makeRequest(makeOffer(), { amountMsat: 1000n }), {
  paymentHash: HASH,
  // The fake tells its time as the machine's, and what expired long ago is never sent.
  createdAtSecs: Math.floor(Date.now() / 1000),
});
const CREATED_AT_MS = NODE_SECS * 1000 + 123;
const INDEX = paymentIndex(CREATED_AT_MS, paymentId('fs', 'ab'.repeat(32)));
const TERMS = { payment_hash: HASH, bolt12: INVOICE.text };

let cln: FakeCln;
let wallet: FakeWallet;
let xpay: FakeXpay;
beforeEach(() => {
  cln = new FakeCln();
  wallet = fakeWallet();
  xpay = new FakeXpay(cln);
  cln.on('listpeerchannels', () => listing());
});
afterEach(() => cln.stop());

function pay(isRepeat = false) {
  const rpc = rpcOf(cln);
  return payFetched(
    { rpc, owner: rpc, wallet },
    {
      index: INDEX,
      createdAtMs: CREATED_AT_MS,
      personalNote: null,
      externalId: null,
      maxFeeMsat: 10n,
      invoice: INVOICE,
      isRepeat,
    },
  );
}

const OURS: Payment = begunPayment(CREATED_AT_MS, HASH, { index: INDEX, rail: 'offer' });
const outcome = () =>
  sendOutcome({ owner: rpcOf(cln), wallet }, questionOf(OURS, { fetched: INVOICE }));
const REFUSED = {
  state: 'refused',
  error: {
    message: 'This invoice belongs to another payment: fetch a new one for the offer.',
  },
};

test('it is refused before the call while another attempt is in the way', async () => {
  const other = xpay.begin(TERMS);
  expect(await pay()).toMatchObject(REFUSED);
  if (!(other instanceof Response)) xpay.end(other, true);
  expect(await pay()).toMatchObject(REFUSED);
  expect(cln.of('xpay')).toEqual([]);
});

for (const isPaid of [true, false]) {
  test(`it is refused when xpay gives way to another attempt, which is ${isPaid ? 'paid' : 'pending'}`, async () => {
    cln.on('xpay', () => {
      const other = xpay.begin(TERMS);
      if (isPaid && !(other instanceof Response)) xpay.end(other, true);
      const given = xpay.begin(TERMS);
      if (!(given instanceof Response)) throw new Error('the other is first');
      return given;
    });
    expect(await pay()).toMatchObject(REFUSED);
  });
}

test('it is never made once another attempt has paid it, and unknown before', async () => {
  let other: Record<string, unknown> | Response = {};
  cln.on('xpay', () => {
    other = xpay.begin(TERMS);
    return new Response('<html>Gateway Timeout</html>', { status: 504 });
  });
  expect(await pay()).toMatchObject({ state: 'unknown' });
  expect(await outcome()).toEqual({ state: 'unknown' });
  if (!(other instanceof Response)) xpay.end(other, true);
  expect(await outcome()).toEqual({ state: 'never', reason: 'invoice paid by another payment' });
  expect(await pay(true)).toMatchObject({ state: 'unknown' });
});

test('an answer that tells of a part of this call needs no list', async () => {
  cln.on('xpay', ({ label }) => {
    const own = xpay.begin({ ...TERMS, label: String(label) });
    if (own instanceof Response) return own;
    xpay.end(own, true);
    return xpay.paid(own);
  });
  expect(await pay()).toMatchObject({
    state: 'known',
    payment: { index: INDEX, rail: 'offer', status: 'completed' },
  });
  expect(cln.of('listsendpays')).toHaveLength(1);
});
