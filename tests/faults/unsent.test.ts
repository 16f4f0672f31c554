import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { decodeBolt11 } from '../../src/codecs/bolt11/index.ts';
import { encodePayment, type Payment } from '../../src/model/payment.ts';
import type { WalletNode } from '../../src/nodes/node.ts';
import { planInvoicePayment } from '../../src/wallet/pay/invoice.ts';
import { send } from '../../src/wallet/pay/send.ts';
import { cachedPayments } from '../../src/wallet/read/payments.ts';
import { syncPayments } from '../../src/wallet/read/sync.ts';
import { updatesSeen } from '../../src/wallet/session/own-payments.ts';
import type { Session } from '../../src/wallet/session/session.ts';
import { type FakeLnd, startFakeLnd } from '../hostile/fake-lnd.ts';
import { connectedOnFake } from '../nodes/lnd/connected-on-fake.ts';
import { WALLET } from '../support/store-steps.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { contextOf } from '../wallet/pay/plan.ts';
import { follow } from '../wallet/told.ts';
import { type WalletWorld, walletWorld } from '../wallet/wallet-world.ts';
import { type Bill, Bills } from './bills.ts';

setDefaultTimeout(SLOW_TEST_MS);

/**
 * What a crash between the commit of a spend and the first byte of its request leaves: LND was not asked, and is asked
 * after 20 seconds (docs/decisions.md 143). LND is a fake, and its connector is given the promise that it makes at most
 * one payment of a hash.
 */

const PAYMENTS = 20;
let fake: FakeLnd;
let lnd: Awaited<ReturnType<typeof connectedOnFake>>;
let world: WalletWorld;

beforeEach(async () => {
  fake = await startFakeLnd({ channelSat: 10_000_000n });
  lnd = await connectedOnFake(fake);
  world = await walletWorld();
});
afterEach(async () => {
  await world.close();
  await lnd.close();
  await fake.stop();
});

/** A process, and what a tail of its updates was told. */
interface Started {
  readonly owner: Session;
  readonly told: readonly Payment[];
}

/** Starts a process whose node pays as given, or as LND does. */
async function start(payInvoice?: WalletNode['payInvoice']): Promise<Started> {
  const node = { ...lnd.node, ...(payInvoice && { payInvoice }) };
  Object.assign(world.fake, { node });
  const { owner } = await world.start();
  return { owner, told: follow(owner) };
}

function pay(owner: Session, { invoice }: Bill) {
  const request = {
    invoice: decodeBolt11(invoice),
    amountMsat: 1000n,
    maxFeeMsat: 1000n,
    personalNote: null,
    externalId: null,
    message: null,
  };
  return send(contextOf(owner), planInvoicePayment(request, owner, { ppm: 0, leastMsat: 0n }));
}

const LIST = { filter: 'all', order: 'asc', limit: 1000, after: null } as const;
const ALL = { direction: null, rail: null, sinceMs: null, untilMs: null, externalId: null };

/**
 * Checks that a walk, the list after a sync and a tail have the same payments, these bills with that status among them,
 * and that LND has what was sent of them.
 */
async function expectAllAgree(
  { owner, told }: Started,
  bills: readonly Bill[],
  status: Payment['status'],
): Promise<void> {
  const { payments: walk } = await updatesSeen(owner, null, 1000);
  const isTold = () => walk.every((one) => told.some((other) => Bun.deepEquals(one, other)));
  await until(isTold, 'the tail has told of all updates');
  const last = new Map(told.map((one) => [one.index, one]));
  expect(byIndex([...last.values()])).toEqual(byIndex(walk));
  await syncPayments(owner);
  const { json } = await cachedPayments(owner, { ...LIST, ...ALL });
  expect(json.map((one) => JSON.parse(one))).toEqual(byIndex(walk).map(encodePayment));
  const sent = walk.filter(({ direction }) => direction === 'outbound');
  const expected = bills.map(({ hash }) => ({ hash, status }));
  expect(byHash(sent)).toEqual(byHash(expected));
  const atLnd = fake.payments.list().map((one) => ({ ...one, status: STATUS[one.status] }));
  expect(byHash(atLnd)).toEqual(byHash(expected.filter(({ hash }) => isAtLnd(hash))));
}

const STATUS = { IN_FLIGHT: 'pending', SUCCEEDED: 'completed', FAILED: 'failed' } as const;
const isAtLnd = (hash: string) => fake.payments.attempts.has(hash);
const byIndex = (payments: readonly Payment[]) =>
  payments.toSorted((a, b) => (a.index < b.index ? -1 : 1));
const byHash = (payments: readonly Pick<Payment, 'hash' | 'status'>[]) =>
  payments
    .map(({ hash, status }) => ({ hash, status }))
    .toSorted((a, b) => `${a.hash}`.localeCompare(`${b.hash}`));

const unfinished = () => world.store.spends.unfinished(WALLET);
const attempts = (bills: readonly Bill[]) =>
  bills.map(({ hash }) => fake.payments.attempts.get(hash) ?? 0);

/** Kills the process when each payment is committed, and at LND as `payInvoice` has it. */
async function killWhenAsked(
  bills: readonly Bill[],
  payInvoice: WalletNode['payInvoice'],
): Promise<void> {
  const { owner, told } = await start(payInvoice);
  for (const bill of bills) void pay(owner, bill).catch(() => undefined);
  await until(async () => {
    const spends = await unfinished();
    return spends.length === bills.length && spends.every(({ state }) => state === 'asked');
  });
  // No answer is there, so no reader was told.
  expect(told.filter(({ direction }) => direction === 'outbound')).toEqual([]);
  world.kill();
}

test('payments whose request never left are sent once, 20 seconds after the restart, and none stays pending', async () => {
  const bills = new Bills(fake).some(PAYMENTS);
  await killWhenAsked(bills, () => new Promise(() => undefined));
  const started = await start();
  await started.owner.resolver.ready();
  await expectAllAgree(started, bills, 'pending');
  world.elapsedMs = 19_999;
  const before = fake.received.length;
  await until(() => fake.received.length > before + PAYMENTS, 'LND was asked about them again');
  expect(attempts(bills)).toEqual(bills.map(() => 0));
  expect(await unfinished()).toHaveLength(PAYMENTS);
  world.elapsedMs = 20_000;
  await until(async () => (await unfinished()).length === 0, 'all payments have ended');
  expect(attempts(bills)).toEqual(bills.map(() => 1));
  await expectAllAgree(started, bills, 'completed');
});

test('payments that LND has got before the kill are found and not sent again', async () => {
  const bills = new Bills(fake).some(PAYMENTS);
  for (const { hash } of bills) fake.payments.decide(hash, { end: 'hold' });
  await killWhenAsked(bills, async (command) => {
    void lnd.node.payInvoice(command).catch(() => undefined);
    return new Promise(() => undefined);
  });
  await until(() => attempts(bills).every((times) => times === 1));
  const started = await start();
  await started.owner.resolver.ready();
  await expectAllAgree(started, bills, 'pending');
  world.elapsedMs = 60_000;
  for (const { hash } of bills) fake.payments.resolve(hash, { end: 'succeed' });
  await until(async () => (await unfinished()).length === 0, 'all payments have ended');
  expect(attempts(bills)).toEqual(bills.map(() => 1));
  await expectAllAgree(started, bills, 'completed');
});
