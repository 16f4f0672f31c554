import { afterEach, beforeEach, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import type { Payment } from '../../src/model/payment.ts';
import type { PaymentId } from '../../src/model/payment-index.ts';
import type { CreateInvoiceCommand } from '../../src/nodes/node.ts';
import { createPaywall, verifyPaywall } from '../../src/wallet/receive/paywall.ts';
import { type EffectNames, randomNames } from '../../src/wallet/session/effect-names.ts';
import type { Session } from '../../src/wallet/session/session.ts';
import { fittingInvoice } from '../support/fitting.ts';
import { rejection } from '../support/rejection.ts';
import { WALLET } from '../support/store-steps.ts';
import { unreachable } from './fake-node.ts';
import { type WalletWorld, walletWorld } from './wallet-world.ts';

const PREIMAGE = 'ab'.repeat(32);
const HASH = createHash('sha256').update(PREIMAGE, 'hex').digest('hex');
const ANY_REQUEST = { request: null, requestHash: null };
const ORDER = { amountMsat: 25_000n, description: 'Report', expirationSecs: 60, ...ANY_REQUEST };

let world: WalletWorld;
let owner: Session;
let made: Payment;
let asked: CreateInvoiceCommand[];
/** What the node shows of the payment. */
let shown: Payment;
let lookUps: number;
beforeEach(start);
afterEach(() => world.close());

async function start(): Promise<void> {
  world = await walletWorld();
  ({ owner } = await world.start());
  asked = [];
  lookUps = 0;
  Object.assign(world.fake.node, {
    createInvoice: async (order: CreateInvoiceCommand) => {
      asked.push(order);
      const created = fittingInvoice(order, HASH);
      made = { ...created.payment, invoice: created.invoice };
      shown = made;
      return { ...created, payment: made };
    },
  });
  world.fake.payment = async () => {
    lookUps += 1;
    return { payment: shown, attempt: null };
  };
}

const paid = (change: Partial<Payment> = {}): Payment => ({
  ...made,
  status: 'completed',
  statusMsg: 'completed',
  preimage: PREIMAGE,
  finalizedAtMs: made.createdAtMs + 1,
  updatedAtMs: made.createdAtMs + 1,
  ...change,
});

/** Creates a paywall. Returns what asks whether it is proven. */
async function open(change: object = {}) {
  const { challenges } = await createPaywall(owner, { ...ORDER, ...change }, randomNames);
  const token = /token="(.+?)"/.exec(challenges.l402?.[0] ?? '')?.[1];
  const headers = (preimage: string) => ({ authorization: `L402 ${token}:${preimage}` });
  return (names: EffectNames = randomNames, by = owner, preimage = PREIMAGE) =>
    verifyPaywall(by, headers(preimage), ANY_REQUEST, names);
}
/** The names of a request with a key. */
const keyed = (fill: number): EffectNames => ({
  ...randomNames,
  isKeyed: true,
  bytes: () => new Uint8Array(32).fill(fill),
});

test('a payment that is pending proves nothing, though its preimage is known; the node is asked, and its end counts at once', async () => {
  const ask = await open();
  expect(await ask()).toBeNull();
  expect(lookUps).toBe(1);
  shown = paid();
  expect(await ask()).toMatchObject({ index: made.index, paymentHash: HASH });
  expect(await world.store.journal.get(WALLET, made.index)).toMatchObject({ status: 'completed' });
});

test('the node is asked for nothing without the preimage, and where it cannot be asked nothing is taken', async () => {
  const ask = await open();
  expect(await ask(randomNames, owner, 'cd'.repeat(32))).toBeNull();
  expect(lookUps).toBe(0);
  const { payment } = world.fake;
  world.fake.payment = () => Promise.reject(unreachable());
  expect(await rejection(ask())).toMatchObject({ kind: 'unreachable' });
  world.fake.payment = payment;
  shown = paid();
  expect(await ask()).not.toBeNull();
});

test('less than the price proves nothing; a fee that was taken of it counts as paid', async () => {
  for (const [change, isProven] of [
    [{ amountMsat: 24_999n }, false],
    [{ amountMsat: 24_999n, feesMsat: 1n }, true],
  ] as const) {
    await world.close();
    await start();
    const ask = await open();
    shown = paid(change);
    expect((await ask()) !== null).toBe(isProven);
  }
});

test('money that has left proves nothing', async () => {
  const ask = await open();
  shown = paid({ direction: 'outbound' });
  expect(await ask()).toBeNull();
});

test('what one caller made proves nothing to another, nor to another wallet', async () => {
  const ask = await open();
  shown = paid();
  const other = { ...owner, caller: { ...owner.caller, id: 'cd'.repeat(32) } };
  expect(await ask(randomNames, other)).toBeNull();
  const { latest } = owner.history;
  const history = { ...owner.history, latest: (id: PaymentId) => latest.call(owner.history, id) };
  expect(await ask(randomNames, { ...owner, userPk: 'cd'.repeat(32), history })).toBeNull();
  expect(await ask()).not.toBeNull();
});

test('with the hash of a request it is for that alone, and x402 needs one', async () => {
  const request = { method: 'GET', url: 'https://shop.example/', bodyHash: '00'.repeat(32) };
  const { challenges } = await createPaywall(owner, { ...ORDER, request }, randomNames);
  const [line = ''] = challenges.x402 ?? [];
  const asked402 = JSON.parse(Buffer.from(line.split(' ')[1] ?? '', 'base64').toString());
  const said = { x402Version: 2, accepted: asked402.accepts[0], payload: { preimage: PREIMAGE } };
  const headers = { 'payment-signature': Buffer.from(JSON.stringify(said)).toString('base64') };
  const ask = (change: object) =>
    verifyPaywall(owner, headers, { ...ANY_REQUEST, ...change }, randomNames);
  shown = paid();
  expect(await ask({})).toBeNull();
  expect(await ask({ requestHash: 'ab'.repeat(32) })).toBeNull();
  expect(await ask({ request: { ...request, method: 'PUT' } })).toBeNull();
  const both = ask({ request, requestHash: 'ab'.repeat(32) });
  expect(await rejection(both)).toMatchObject({ kind: 'rejected' });
  expect(await ask({ request })).toMatchObject({ paymentHash: HASH });
});

test('a request that was cut after it had taken the proof finds it taken by itself, and no other does', async () => {
  const ask = await open();
  shown = paid();
  const first = await ask(keyed(1));
  expect(first).not.toBeNull();
  expect(await ask(keyed(1))).toEqual(first);
  expect(await ask(keyed(2))).toBeNull();
  expect(await ask()).toBeNull();
  await world.kill();
  ({ owner } = await world.start());
  expect(await ask(keyed(1), owner)).toEqual(first);
  expect(await ask(keyed(2), owner)).toBeNull();
});

test('a payment that failed proves nothing, and the node is not asked', async () => {
  const ask = await open();
  await owner.feed.record(
    { payment: { ...made, status: 'failed', statusMsg: 'expired' }, attempt: null },
    owner.node,
  );
  expect(await ask()).toBeNull();
  expect(lookUps).toBe(0);
});

test('the payment keeps the description that is not in an invoice with a hash, and the node gets the text of the hash', async () => {
  const request = { method: 'GET', url: 'https://shop.example/', bodyHash: '00'.repeat(32) };
  await open({ request });
  const [{ descriptionHash } = { descriptionHash: null }] = asked;
  const text = descriptionHash?.text ?? '';
  expect(JSON.parse(text)).toMatchObject({ url: 'https://shop.example/', headers: [] });
  expect(createHash('sha256').update(text).digest('hex')).toBe(descriptionHash?.hash ?? '');
  const stored = await world.store.journal.get(WALLET, made.index);
  expect(stored).toMatchObject({ description: 'Report', status: 'pending' });
});
