import { afterEach, describe, expect, jest, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { openLog } from '../../src/lib/log.ts';
import type { Payment } from '../../src/model/payment.ts';
import type { PaymentIndex } from '../../src/model/payment-index.ts';
import { openSqliteStore } from '../../src/store/sqlite/index.ts';
import { openStoreGuard } from '../../src/wallet/budget/store-guard.ts';
import { createClient } from '../../src/wallet/clients/clients.ts';
import { observationRules } from '../../src/wallet/follow/observe.ts';
import { Wallets } from '../../src/wallet/open/wallets.ts';
import { planInvoicePayment, readInvoice } from '../../src/wallet/pay/invoice.ts';
import { sendAndWait } from '../../src/wallet/pay/send.ts';
import { UpdatesTail } from '../../src/wallet/read/updates-tail.ts';
import { waitForFinal } from '../../src/wallet/read/wait.ts';
import { createInvoice } from '../../src/wallet/receive/receive.ts';
import { randomNames } from '../../src/wallet/session/effect-names.ts';
import { liveClients } from '../../src/wallet/session/live-clients.ts';
import { memoryMarker } from '../support/memory-marker.ts';
import { confirmations, onchainWorld } from '../support/onchain-world.ts';
import { randomFrom } from '../support/random.ts';
import { rejection } from '../support/rejection.ts';
import { clientRecord } from '../support/store-steps.ts';
import { openTrialSandbox } from '../support/trial-sandbox.ts';
import { until } from '../support/until.ts';
import { ROUNDS, SEED } from './seed.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

describe('payments', () => {
  test('an invoice whose first payment failed is paid once, although the clock was set back before the second', async () => {
    const { clock, pay, sandbox } = await walletWorld();
    const { invoice } = await sandbox.controls.createInvoice({
      amountMsat: 1_000_000n,
      behavior: 'settle',
      description: null,
      expirationSecs: 86_400,
    });
    const failed = await pay(invoice, 0n);
    expect(failed.status).toBe('failed');
    clock.nowMs -= 2 * DAY_MS;
    const paid = await pay(invoice, 10_000n);
    expect(paid.status).toBe('completed');
    expect(paid.index > failed.index).toBe(true);
    clock.nowMs -= HOUR_MS;
    expect((await pay(invoice, 10_000n)).index).toBe(paid.index);
  });

  test(`updates only go forward, and a stream and waits miss none, whatever the clock does (seed ${SEED})`, async () => {
    const random = randomFrom(SEED + 2);
    const { clock, session, pay, sandbox } = await walletWorld();
    const streamed: Payment[] = [];
    const stop = new AbortController();
    const tip = await session.history.tip();
    const ended = Promise.withResolvers<unknown>();
    const tail = new UpdatesTail(
      session,
      { after: tip, signal: stop.signal },
      {
        take: (page) => {
          streamed.push(...page);
          tail.ask();
        },
        fail: ended.resolve,
      },
    );
    tail.ask();
    const made = new Set<PaymentIndex>();
    for (let round = 0; round < ROUNDS * 3; round++) {
      clock.nowMs += Math.floor((random() - 0.5) * 6 * DAY_MS);
      const { invoice } = await sandbox.controls.createInvoice({
        amountMsat: 1000n,
        behavior: random() < 0.2 ? 'fail' : 'settle',
        description: null,
        expirationSecs: 86_400,
      });
      made.add((await pay(invoice, 1000n)).index);
      const issued = await createInvoice(session, invoiceOf(3600), randomNames);
      const waiting = waitForFinal(session, issued.index as PaymentIndex, stop.signal);
      clock.nowMs += Math.floor(random() * 2 * DAY_MS);
      await session.node.cancelInvoice(issued.index as PaymentIndex).catch(() => undefined);
      made.add((await waiting).index);
    }
    const finished = () => new Set(streamed.filter(isOver).map(({ index }) => index));
    await until(() => finished().size >= made.size);
    stop.abort(new Error('the test is over'));
    expect(await ended.promise).toBe(stop.signal.reason);
    expect([...finished()].toSorted()).toEqual([...made].toSorted());
    const times = streamed.map(({ updatedAtMs }) => updatedAtMs);
    expect(times.every((time, at) => at === 0 || time > (times[at - 1] ?? 0))).toBe(true);
  });

  test('an invoice expires within a minute of a jump ahead, and stays expired when the clock is set back', async () => {
    jest.useFakeTimers();
    cleanups.push(() => jest.useRealTimers());
    const { clock, session } = await walletWorld();
    const { index } = await createInvoice(session, invoiceOf(7 * 24 * 3600), randomNames);
    const status = async () => {
      const payment = await session.history.payment(index as PaymentIndex);
      return payment?.statusMsg;
    };
    clock.nowMs += 6 * DAY_MS;
    jest.advanceTimersByTime(60_000);
    expect(await status()).toBe('invoice generated');
    clock.nowMs += DAY_MS;
    jest.advanceTimersByTime(60_000);
    expect(await status()).toBe('expired');
    clock.nowMs -= 30 * DAY_MS;
    jest.advanceTimersByTime(60_000);
    expect(await status()).toBe('expired');
  });
});

describe('clients', () => {
  function connected() {
    jest.useFakeTimers();
    cleanups.push(() => jest.useRealTimers());
    const clock = settableClock();
    const clients = liveClients();
    cleanups.push(() => clients.close());
    const record = clientRecord({
      createdAtMs: clock.nowMs,
      expiresAtMs: clock.nowMs + 10 * DAY_MS,
      scopes: ['full'],
    });
    const live = clients.open(record, clock);
    let ended = false;
    live.ended.addEventListener('abort', () => {
      ended = true;
    });
    return { clock, live, open: () => clients.open(record, clock), ended: () => ended };
  }

  test('expire within a minute of a jump ahead, which ends their waits and streams', () => {
    const { clock, open, ended } = connected();
    clock.nowMs += 9 * DAY_MS;
    jest.advanceTimersByTime(60_000);
    expect(ended()).toBe(false);
    clock.nowMs += DAY_MS;
    expect(open).toThrow(/expired/);
    jest.advanceTimersByTime(60_000);
    expect(ended()).toBe(true);
  });

  test('live longer when the clock was set back, and end when it says so', () => {
    const { clock, ended } = connected();
    clock.nowMs -= 5 * DAY_MS;
    jest.advanceTimersByTime(11 * DAY_MS);
    expect(ended()).toBe(false);
    clock.nowMs += 15 * DAY_MS;
    jest.advanceTimersByTime(60_000);
    expect(ended()).toBe(true);
  });

  test('are not let in after a jump ahead past their expiry, though their session is still open', async () => {
    const { clock, session, wallets } = await walletWorld();
    const { credentials } = await createClient(
      session,
      {
        scopes: ['read_info'],
        permissions: [],
        expiresAtMs: clock.nowMs + DAY_MS,
        label: null,
        budget: null,
      },
      randomNames,
    );
    await wallets.open(credentials);
    clock.nowMs += DAY_MS;
    expect(await rejection(wallets.open(credentials))).toMatchObject({ kind: 'unauthenticated' });
  });
});

test('blocks go on coming after the clock was set back, and take what was seen before and since', () => {
  const blockMs = 10_000;
  const { world, miner, wallet, fund } = onchainWorld({ blockSecs: blockMs / 1000 });
  const before = fund(wallet(), 50_000, { confirmed: false });
  world.clock.advance(-3 * DAY_MS);
  miner.catchUp();
  const since = fund(wallet(), 50_000, { confirmed: false });
  const depths = () => [before, since].map(({ txid }) => confirmations(world, txid ?? ''));
  expect(depths()).toEqual([0, 0]);
  world.clock.advance(blockMs);
  miner.catchUp();
  expect(depths()).toEqual([1, 1]);
  world.clock.advance(5 * blockMs);
  miner.catchUp();
  expect(depths()).toEqual([6, 6]);
  miner.close();
});

/** A funded wallet on a sandbox node. Both use a clock that the test sets. */
async function walletWorld() {
  const clock = settableClock();
  const log = openLog({ level: 'silent', format: 'text', write: () => undefined });
  const sandbox = openTrialSandbox(':memory:', clock);
  const store = openSqliteStore(':memory:');
  const wallets = new Wallets({
    store,
    guard: await openStoreGuard(store.identity, memoryMarker(), log),
    log,
    clock,
    elapsedMs: () => performance.now(),
    random: Math.random,
    rules: observationRules({ log, deliver: () => null }),
    lowBudget: () => null,
    historySinceMs: null,
    onDelivery: () => undefined,
    approvalMs: 3_600_000,
    connector: () => sandbox.connector,
    rootConnector: sandbox.connector,
    rootSeed: new Uint8Array(randomBytes(32)),
    defaultCredentials: null,
    configured: [],
  });
  cleanups.push(async () => {
    wallets.stop();
    await Bun.sleep(0);
    await sandbox.connector.close();
    await store.close();
  });
  await wallets.signup(null);
  const session = await wallets.open(null);
  await sandbox.controls.fund(session.userPk, { amountMsat: 100_000_000n, rail: 'lightning' });
  const signal = new AbortController().signal;
  return {
    clock,
    sandbox,
    session,
    wallets,
    pay: (invoice: string, maxFeeMsat: bigint) =>
      sendAndWait(
        {
          session,
          signal,
          idempotencyKey: null,
          names: randomNames,
          onSent: () => undefined,
          goesOn: () => true,
        },
        planInvoicePayment(
          {
            invoice: readInvoice(invoice),
            amountMsat: null,
            maxFeeMsat,
            personalNote: null,
            externalId: null,
            message: null,
          },
          session,
          { ppm: 0, leastMsat: 0n },
        ),
      ),
  };
}

function invoiceOf(expirationSecs: number): Parameters<typeof createInvoice>[1] {
  return {
    expirationSecs,
    amountMsat: 1000n,
    description: null,
    descriptionHash: null,
    personalNote: null,
    externalId: null,
    partnerPk: null,
    partnerPropFeePpm: null,
    partnerBaseFeeMsat: null,
  };
}

function settableClock() {
  const clock = { nowMs: 1_700_000_000_000, now: () => clock.nowMs };
  return clock;
}

function isOver({ status }: Payment): boolean {
  return status !== 'pending';
}
