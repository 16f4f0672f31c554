import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { type IdPrefix, paymentId, paymentIndex } from '../../../src/model/payment-index.ts';
import { latestPayment, payment } from '../../../src/nodes/cln/follow/look-up.ts';
import { makeInvoice, makeOffer, makeRequest } from '../../support/bolt12-fixtures.ts';
import { FakeCln, NODE_SECS, refusal } from './fake-cln.ts';
import { type FakeWallet, fakeWallet, LABELS, rpcOf } from './fake-wallet.ts';

let cln: FakeCln;
let wallet: FakeWallet;
beforeEach(() => {
  cln = new FakeCln();
  wallet = fakeWallet();
});
afterEach(() => cln.stop());

const HASH = 'ab'.repeat(32);
const indexAt = (ms: number, prefix: IdPrefix = 'ln') =>
  paymentIndex(NODE_SECS * 1000 + ms, paymentId(prefix, HASH));
const [FIRST, SECOND] = [indexAt(1), indexAt(2)];
const at = (index: typeof FIRST) => payment({ owner: rpcOf(cln), wallet }, index);
const latest = (prefix: IdPrefix, hash = HASH) =>
  latestPayment({ owner: rpcOf(cln), wallet }, paymentId(prefix, hash));

/** A failed payment, and its retry. */
function twoAttempts() {
  const parts = { payment_hash: HASH, bolt11: 'lnbcrt1' };
  cln.addPart({ ...parts, groupid: 9, label: LABELS.of(FIRST), status: 'failed' });
  cln.addPart({ ...parts, groupid: 3, label: LABELS.of(SECOND) });
  wallet.endings.gaveUp(HASH, 9, 'no route');
}

describe('each attempt to pay a hash is a payment of its own', () => {
  test('found by its index', async () => {
    twoAttempts();
    expect((await at(FIRST))?.payment).toMatchObject({ index: FIRST, status: 'failed' });
    expect((await at(SECOND))?.payment).toMatchObject({ index: SECOND, status: 'pending' });
    expect(await at(indexAt(3))).toBeNull();
  });

  test('and the newest is found by the hash', async () => {
    twoAttempts();
    expect((await latest('ln'))?.payment.index).toBe(SECOND);
  });
});

test('an invoice is found by its index and its hash', async () => {
  const hash = String(cln.addInvoice().payment_hash);
  const index = paymentIndex(NODE_SECS * 1000, paymentId('ln', hash));
  expect((await at(index))?.payment).toMatchObject({ index, status: 'pending' });
  expect((await latest('ln', hash))?.payment.index).toBe(index);
  expect(await latest('fr', hash)).toBeNull();
});

test('a payment of an offer that another program made has the id of the offer', async () => {
  const offer = makeOffer();
  const bolt12 = makeInvoice(makeRequest(offer, { amountMsat: 1000n })).text;
  cln.addPart({ payment_hash: HASH, bolt11: undefined, bolt12 });
  const { offerId, description } = offer;
  const found = (await latest('fs'))?.payment;
  expect(description).toBeString();
  expect(found).toMatchObject({ rail: 'offer', offerId, description });
  // The field is for invoices of BOLT 11 (wallet-sidecar-api.md, Payment).
  expect(found?.invoice).toBeNull();
});

test("an offer's receipt is found by its own kind of id", async () => {
  const row = cln.addInvoice();
  row.local_offer_id = 'ee'.repeat(32);
  row.bolt12 = makeInvoice(makeRequest(makeOffer(), { amountMsat: 1000n })).text;
  row.bolt11 = undefined;
  const hash = String(row.payment_hash);
  expect(await latest('fr', hash)).toBeNull();
  cln.pay(hash);
  const { description } = makeOffer();
  expect((await latest('fr', hash))?.payment).toMatchObject({ rail: 'offer', description });
  expect((await latest('fr', hash))?.payment.invoice).toBeNull();
  expect(await latest('ln', hash)).toBeNull();
});

test('what the rune may not read is not found', async () => {
  twoAttempts();
  cln.on('listsendpays', () => refusal(1502, 'Not permitted: method not equal to x', 401));
  expect(await latest('ln')).toBeNull();
});

test('a payment of which a part cannot be read is not told: it may be the one that was paid', async () => {
  cln.addPart({ payment_hash: HASH, label: LABELS.of(FIRST), status: 'failed' });
  cln.addPart({ payment_hash: HASH, label: LABELS.of(FIRST), status: 'melted' });
  const error = await at(FIRST).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ kind: 'unreadable' });
});
