import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { decodeBolt11 } from '../../src/codecs/bolt11/index.ts';
import type { WalletNode } from '../../src/nodes/node.ts';
import { planInvoicePayment } from '../../src/wallet/pay/invoice.ts';
import { send } from '../../src/wallet/pay/send.ts';
import type { Session } from '../../src/wallet/session.ts';
import { type FakeLnd, startFakeLnd } from '../hostile/fake-lnd.ts';
import { WALLET } from '../support/store-steps.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { contextOf } from '../wallet/pay/plan.ts';
import { type WalletWorld, walletWorld } from '../wallet/wallet-world.ts';
import { type Bill, Bills } from './bills.ts';
import { lndOverFake } from './lnd-over-fake.ts';

setDefaultTimeout(SLOW_TEST_MS);

/**
 * What a crash between the commit of a spend and the first byte of its request leaves: LND was not asked, and is asked
 * after 20 seconds (docs/decisions.md 143). LND is a fake, and its connector is given the promise that it makes at most
 * one payment of a hash.
 */

const PAYMENTS = 20;
let fake: FakeLnd;
let lnd: Awaited<ReturnType<typeof lndOverFake>>;
let world: WalletWorld;

beforeEach(async () => {
  fake = await startFakeLnd({ channelSat: 10_000_000n });
  lnd = await lndOverFake(fake);
  world = await walletWorld();
});
afterEach(async () => {
  await world.close();
  await lnd.close();
  await fake.stop();
});

/** Starts a process whose node pays as given, or as LND does. */
async function start(payInvoice?: WalletNode['payInvoice']): Promise<Session> {
  const node = { ...lnd.node, ...(payInvoice && { payInvoice }) };
  Object.assign(world.fake, { node });
  return (await world.start()).owner;
}

function pay(owner: Session, { invoice }: Bill) {
  const request = {
    invoice: decodeBolt11(invoice),
    amountMsat: 1000n,
    maxFeeMsat: 1000n,
    personalNote: null,
    message: null,
  };
  return send(contextOf(owner), planInvoicePayment(request, owner, { ppm: 0, leastMsat: 0n }));
}

const unfinished = () => world.store.spends.unfinished(WALLET);
const attempts = (bills: readonly Bill[]) =>
  bills.map(({ hash }) => fake.payments.attempts.get(hash) ?? 0);

/** Kills the process when each payment is committed, and at LND as `payInvoice` has it. */
async function killWhenAsked(
  bills: readonly Bill[],
  payInvoice: WalletNode['payInvoice'],
): Promise<void> {
  const owner = await start(payInvoice);
  for (const bill of bills) void pay(owner, bill).catch(() => undefined);
  await until(async () => {
    const spends = await unfinished();
    return spends.length === bills.length && spends.every(({ state }) => state === 'asked');
  });
  world.kill();
}

test('payments whose request never left are sent once, 20 seconds after the restart, and none stays pending', async () => {
  const bills = new Bills(fake).some(PAYMENTS);
  await killWhenAsked(bills, () => new Promise(() => undefined));
  const owner = await start();
  await owner.resolver.ready();
  world.elapsedMs = 19_999;
  const before = fake.received.length;
  await until(() => fake.received.length > before + PAYMENTS, 'LND was asked about them again');
  expect(attempts(bills)).toEqual(bills.map(() => 0));
  expect(await unfinished()).toHaveLength(PAYMENTS);
  world.elapsedMs = 20_000;
  await until(async () => (await unfinished()).length === 0, 'all payments have ended');
  expect(attempts(bills)).toEqual(bills.map(() => 1));
  const ended = await world.store.journal.updatedAfter(WALLET, null, 100);
  const sent = ended.filter(({ direction }) => direction === 'outbound');
  expect(sent.map(({ status }) => status)).toEqual(bills.map(() => 'completed'));
});

test('payments that LND has got before the kill are found and not sent again', async () => {
  const bills = new Bills(fake).some(PAYMENTS);
  for (const { hash } of bills) fake.payments.decide(hash, { end: 'hold' });
  await killWhenAsked(bills, async (command) => {
    void lnd.node.payInvoice(command).catch(() => undefined);
    return new Promise(() => undefined);
  });
  await until(() => attempts(bills).every((times) => times === 1));
  await (await start()).resolver.ready();
  world.elapsedMs = 60_000;
  for (const { hash } of bills) fake.payments.resolve(hash, { end: 'succeed' });
  await until(async () => (await unfinished()).length === 0, 'all payments have ended');
  expect(attempts(bills)).toEqual(bills.map(() => 1));
});
