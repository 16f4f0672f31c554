import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import type { Payment } from '../../../src/model/payment.ts';
import type { NewSpend } from '../../../src/store/ports.ts';
import { budgetRules } from '../../../src/wallet/budget/budget.ts';
import { send } from '../../../src/wallet/pay/send.ts';
import type { Session } from '../../../src/wallet/session/session.ts';
import { sampleDone, samplePayment } from '../../support/sample-payment.ts';
import { newSpend, WALLET } from '../../support/store-steps.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';
import { SIGNED } from '../fake-node.ts';
import { addressOf } from '../payment-strings.ts';
import { resolverOf, type WalletWorld, walletWorld } from '../wallet-world.ts';
import { INVOICE } from './model-node.ts';
import { contextOf, planOf, sent, shown } from './plan.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: WalletWorld;
let owner: Session;
beforeEach(async () => {
  world = await walletWorld();
  ({ owner } = await world.start());
});
afterEach(() => world.close());

const unfinished = () => world.store.spends.unfinished(WALLET);
const begin = (payment: Payment, change: Partial<NewSpend>) =>
  world.store.spends.begin(WALLET, newSpend(payment, change), budgetRules);
const onchain = (change: Partial<Payment> = {}) =>
  samplePayment(1, { rail: 'onchain', address: addressOf(1), ...change });
const signed = JSON.stringify(SIGNED);
const keysend = { nodePk: '02'.repeat(33), preimage: '07'.repeat(32), maxFeeMsat: '10' };

/** Rows that no version writes, and what is wrong with each. */
const UNREADABLE: readonly (readonly [string, Payment, Partial<NewSpend>])[] = [
  ['no address', onchain({ address: null }), { plan: signed }],
  ['no such address', onchain({ address: 'bcrt1nothing' }), { plan: signed }],
  ['no amount', onchain({ amountMsat: null }), { plan: signed }],
  ['no transaction', onchain(), { plan: null }],
  ['half a transaction', onchain(), { plan: signed.slice(0, 20) }],
  ['another plan than a transaction', onchain(), { plan: JSON.stringify(keysend) }],
  ['no preimage', samplePayment(1, { rail: 'spontaneous' }), { plan: '{"maxFeeMsat":"10"}' }],
  ['no fee cap', samplePayment(1, { invoice: INVOICE.text }), { plan: '{}' }],
  ['a fee cap below zero', samplePayment(1, { invoice: INVOICE.text }), { plan: capOf('-1') }],
  ['no invoice', samplePayment(1), { plan: capOf('10') }],
  ['no such invoice', samplePayment(1, { rail: 'offer' }), { fetchedInvoice: 'lni1nothing' }],
];

function capOf(maxFeeMsat: string): string {
  return JSON.stringify({ maxFeeMsat });
}

for (const [what, payment, change] of UNREADABLE) {
  test(`a row with ${what} stays pending, is told, and stops no other payment of its wallet`, async () => {
    await begin(payment, change);
    await begin(samplePayment(2), {});
    world.kill();
    ({ owner } = await world.start());
    world.fake.sendOutcome = async (question) =>
      question.payment.index === samplePayment(2).index
        ? shown(sampleDone(2), 1)
        : { state: 'unknown' };
    world.elapsedMs = 20_000;
    const third = planOf(async (own) => shown(sent.done(own, 3), 1), { number: 3 });
    expect((await send(contextOf(owner), third)).payment.status).toBe('completed');
    await until(async () => (await unfinished()).length === 1);
    await until(() => !resolverOf(owner).busy, 'the wallet rests');
    expect(await unfinished()).toMatchObject([{ state: 'asked', payment: { createdAtMs: 1 } }]);
    expect(await world.store.journal.get(WALLET, payment.index)).toMatchObject({
      status: 'pending',
    });
    expect(world.unreadable).toEqual([payment.index]);
    expect(world.fake.onchainCalls).toEqual([]);
  });
}

test('a row of which nothing can be read ends when the node tells of its payment', async () => {
  await begin(samplePayment(1), { plan: '{}', afterAttempt: 3 });
  world.kill();
  ({ owner } = await world.start());
  await owner.resolver.ready();
  expect(world.unreadable).toEqual([samplePayment(1).index]);
  await owner.feed.observe({ payment: sampleDone(1), attempt: 4 }, owner.node);
  expect(await unfinished()).toEqual([]);
});

test('a row that was only begun is given up, whatever is in it', async () => {
  await begin(onchain({ address: null }), { state: 'begun' });
  world.kill();
  ({ owner } = await world.start());
  await owner.resolver.ready();
  expect([await unfinished(), world.unreadable]).toEqual([[], []]);
});

test('rows of version 0.2 are asked about, and not told', async () => {
  await begin(samplePayment(1, { invoice: INVOICE.text }), {});
  await begin(samplePayment(2, { rail: 'offer' }), {});
  world.kill();
  ({ owner } = await world.start());
  await owner.resolver.ready();
  expect(world.fake.questions.map(({ payment: { rail } }) => rail)).toEqual(['invoice', 'offer']);
  expect(world.unreadable).toEqual([]);
});
