import { beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { refused } from '../../../src/model/errors.ts';
import type { Payment } from '../../../src/model/payment.ts';
import type { PaymentIndex } from '../../../src/model/payment-index.ts';
import type { SendReport } from '../../../src/nodes/node.ts';
import { periodStart } from '../../../src/wallet/budget/budget.ts';
import { revokeClient } from '../../../src/wallet/clients/clients.ts';
import { approvePayment, rejectPayment } from '../../../src/wallet/pay/approve.ts';
import { send, sendAndWait } from '../../../src/wallet/pay/send.ts';
import { type EffectNames, randomNames } from '../../../src/wallet/session/effect-names.ts';
import { rejection } from '../../support/rejection.ts';
import { sampleDone, samplePayment } from '../../support/sample-payment.ts';
import { WALLET } from '../../support/store-steps.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';
import { clientWorld } from '../client-world.ts';
import { unreachable } from '../fake-node.ts';
import { contextOf, planOf, sent, shown } from './plan.ts';
import { budgetOf, turns } from './send-world.ts';

setDefaultTimeout(SLOW_TEST_MS);

const clients = clientWorld();
const NODE = `02${'ab'.repeat(32)}`;
const PREIMAGE = '1'.padStart(64, '0');
const RESERVED_MSAT = 1010n;
const AWAITING = { status: 'pending', statusMsg: 'awaiting approval' };
const NOT_APPROVED = { status: 'failed', statusMsg: 'not approved' };

let pk = '';
let payer: Awaited<ReturnType<typeof clients.make>>['session'];
beforeEach(async () => {
  ({ pk, session: payer } = await clients.make(['send'], {
    budget: budgetOf(100_000n),
    approveAboveMsat: 0n,
  }));
});

const plan = () =>
  planOf(() => Promise.reject(new Error('the first request is made from the row')), {
    rail: 'spontaneous',
    again: 'never',
    repeat: { nodePk: NODE, preimage: PREIMAGE, maxFeeMsat: 10n },
  });
const waiting = async () => (await send(contextOf(payer), plan())).payment;
const store = () => clients.world.store;
const stored = (index: PaymentIndex) => store().journal.get(WALLET, index);
const spentMsat = async () => (await store().budgets.get(WALLET, pk, 1, periodStart)).spentMsat;
const stateOf = async (index: PaymentIndex) =>
  (await store().spends.get(WALLET, index))?.state ?? null;
const asked = () => clients.world.fake.spontaneous.length;
/** Lets the node answer every request of the payment with that report. */
function nodeSays(report: (payment: Payment) => SendReport): void {
  clients.world.fake.paySpontaneous = async (command) => report(sent.pending(command));
}
const paying = () => nodeSays((payment) => shown(payment, 42));
/** Ends the process and starts another one over the same store. */
async function restart() {
  clients.world.kill();
  const { owner } = await clients.world.start();
  await owner.resolver.ready();
  return owner;
}

describe('a payment that waits for approval', () => {
  test('is asked of no node, and is sent as it was asked for when it is approved', async () => {
    const payment = await waiting();
    expect(payment).toMatchObject(AWAITING);
    expect(await stored(payment.index)).toMatchObject(AWAITING);
    expect([asked(), await stateOf(payment.index), await spentMsat()]).toEqual([
      0,
      'awaiting',
      RESERVED_MSAT,
    ]);
    paying();
    const approved = await approvePayment(clients.owner, payment.index, randomNames);
    expect(approved).toMatchObject({
      index: payment.index,
      status: 'pending',
      statusMsg: 'pending',
    });
    const { index, createdAtMs } = payment;
    expect(clients.world.fake.spontaneous).toEqual([
      expect.objectContaining({
        ...{ index, createdAtMs, nodePk: NODE, preimage: PREIMAGE, maxFeeMsat: 10n },
        ...{ amountMsat: 1000n, isRepeat: false },
      }),
    ]);
    const end = sampleDone(1, { index, createdAtMs });
    await clients.owner.feed.observe(shown(end, 42), clients.owner.node);
    expect([await stateOf(index), await spentMsat()]).toEqual([null, 1005n]);
  });

  test('ends the wait of the request that asked, when it is rejected', async () => {
    const end = sendAndWait(contextOf(payer), plan());
    const spend = await until(async () => (await store().spends.unfinished(WALLET))[0]);
    await rejectPayment(clients.owner, spend.payment.index, randomNames);
    expect(await end).toMatchObject(NOT_APPROVED);
    expect([asked(), await spentMsat()]).toEqual([0, 0n]);
  });

  test('is returned as it stands to a repeat of the request that has decided on it', async () => {
    const { index } = await waiting();
    paying();
    const begun: EffectNames = { ...randomNames, earlier: () => 'begun' };
    for (const names of [begun, begun]) {
      expect(await approvePayment(clients.owner, index, names)).toMatchObject({ index });
    }
    expect(asked()).toBe(1);
    expect(await rejection(approvePayment(clients.owner, index, randomNames))).toMatchObject({
      data: { sent: 'unknown', index },
    });
  });

  test('keeps the note that it got while it waited', async () => {
    const { index } = await waiting();
    await store().journal.setPersonalNote(WALLET, index, 'rent', 5);
    paying();
    await approvePayment(clients.owner, index, randomNames);
    expect(await stored(index)).toMatchObject({ personalNote: 'rent', statusMsg: 'pending' });
  });

  test('fails with the words of a node that refuses it, and gives the budget back', async () => {
    const { index } = await waiting();
    nodeSays(() => ({ state: 'refused', error: refused('No route: try another amount.') }));
    expect(await approvePayment(clients.owner, index, randomNames)).toMatchObject({
      ...{ index, status: 'failed', statusMsg: 'No route: try another amount.' },
    });
    expect([await stateOf(index), await spentMsat()]).toEqual([null, 0n]);
  });

  test('stays as it is where the node is out of reach before it was asked', async () => {
    const { index } = await waiting();
    clients.world.fake.newestAttempt = () => Promise.reject(unreachable());
    expect(await rejection(approvePayment(clients.owner, index, randomNames))).toMatchObject({
      kind: 'unreachable',
    });
    expect([await stateOf(index), asked()]).toEqual(['awaiting', 0]);
    clients.world.fake.newestAttempt = async () => 0;
    paying();
    expect((await approvePayment(clients.owner, index, randomNames)).statusMsg).toBe('pending');
  });

  test('is pending and counts in the budget while the outcome is unknown', async () => {
    const { index } = await waiting();
    nodeSays(() => ({ state: 'unknown', error: unreachable() }));
    expect(await approvePayment(clients.owner, index, randomNames)).toMatchObject({
      status: 'pending',
    });
    expect([await stateOf(index), await spentMsat(), asked()]).toEqual(['asked', RESERVED_MSAT, 1]);
    clients.world.fake.sendOutcome = async ({ payment }) => shown(payment, 42);
    await until(async () => (await stateOf(index)) === 'known');
  });

  test('has the end that only the node has, since the store could not be written then', async () => {
    const { index } = await waiting();
    const { node, approvals } = clients.owner;
    const end = { status: 'failed', statusMsg: 'not approved', finalizedAtMs: 9 } as const;
    const history = { putAwaiting: async (payment: Payment) => ({ ...payment, ...end }) };
    Object.assign(node, { history });
    await approvals.sweep();
    Object.assign(node, { history: undefined });
    expect([await stateOf(index), await spentMsat()]).toEqual([null, 0n]);
  });

  test('is in the history a moment after a look that failed, since the node could not write', async () => {
    const { index } = await waiting();
    const { node } = clients.owner;
    const shown: PaymentIndex[] = [];
    let failures = 3;
    const putAwaiting = async (payment: Payment) => {
      if (failures-- > 0) throw unreachable();
      shown.push(payment.index);
      return payment;
    };
    Object.assign(node, { history: { putAwaiting } });
    // The look that follows the failed one begins by itself.
    await clients.owner.approvals.began(samplePayment(1, { index }), node).catch(() => undefined);
    await until(() => shown.includes(index), 'the payment is in the history', 5000);
    Object.assign(node, { history: undefined });
  });

  test('is not taken for the attempt of another program, and gives way to it when it is approved', async () => {
    const { index } = await waiting();
    const others = sampleDone(1, { index: samplePayment(1, { createdAtMs: 77 }).index });
    const { owner } = clients;
    await owner.feed.observe({ payment: others, attempt: 42 }, owner.node);
    expect(await stored(index)).toMatchObject(AWAITING);
    expect([await stateOf(index), await spentMsat()]).toEqual(['awaiting', RESERVED_MSAT]);
    nodeSays(() => ({ state: 'taken', payment: others, attempt: 42 }));
    const met = await approvePayment(owner, index, randomNames);
    expect(met).toMatchObject({ index: others.index, status: 'completed' });
    expect([await stateOf(index), await spentMsat()]).toEqual([null, 0n]);
  });
});

describe('exactly one decision wins', () => {
  const decisions = {
    approve: (index: PaymentIndex) => approvePayment(clients.owner, index, randomNames),
    reject: (index: PaymentIndex) => rejectPayment(clients.owner, index, randomNames),
    deadline: async () => {
      clients.world.fake.nowMs += 3_600_000;
      await clients.owner.approvals.sweep();
    },
    revoke: async () => {
      await revokeClient(clients.owner, pk, randomNames);
    },
  };
  const others = ['approve', 'reject', 'deadline', 'revoke'] as const;
  for (const other of others) {
    for (const isFirst of [true, false]) {
      test(`of approve and ${other}, begun ${isFirst ? 'first' : 'last'}, whatever comes between`, async () => {
        const { index } = await waiting();
        paying();
        const order = isFirst
          ? [decisions.approve, decisions[other]]
          : [decisions[other], decisions.approve];
        const gap = other.length;
        const made: Promise<unknown>[] = [];
        for (const decide of order) {
          made.push(decide(index).catch((error: unknown) => error));
          await turns(gap);
        }
        await Promise.all(made);
        const payment = await stored(index);
        if (asked() === 0) {
          expect(payment).toMatchObject(NOT_APPROVED);
          expect([await stateOf(index), await spentMsat()]).toEqual([null, 0n]);
          return;
        }
        expect(asked()).toBe(1);
        expect(payment).toMatchObject({ status: 'pending', statusMsg: 'pending' });
        expect([await stateOf(index), await spentMsat()]).toEqual(['known', RESERVED_MSAT]);
      });
    }
  }

  test('where its client is revoked while it is approved, before that is stored', async () => {
    const { index } = await waiting();
    paying();
    const { approve } = store().spends;
    Object.assign(store().spends, {
      approve: async (...given: Parameters<typeof approve>) => {
        const record = await clients.record(pk);
        await store().clients.change(WALLET, () => ({
          records: [{ ...record, revokedAtMs: 1 }],
          budgets: [],
        }));
        return approve(...given);
      },
    });
    expect(await rejection(approvePayment(clients.owner, index, randomNames))).toMatchObject({
      kind: 'refused',
    });
    expect([asked(), await stored(index)]).toEqual([0, expect.objectContaining(NOT_APPROVED)]);
  });
});

describe('a process that is killed', () => {
  const never = () => new Promise<never>(() => undefined);

  test('while it waits: it waits on, and ends in its time', async () => {
    const { index } = await waiting();
    let owner = await restart();
    expect([await stateOf(index), asked()]).toEqual(['awaiting', 0]);
    clients.world.fake.nowMs += 3_599_999;
    owner = await restart();
    await turns(20);
    expect(await stored(index)).toMatchObject(AWAITING);
    clients.world.fake.nowMs += 1;
    owner = await restart();
    await until(async () => (await stateOf(index)) === null);
    expect(await stored(index)).toMatchObject(NOT_APPROVED);
    expect([asked(), await spentMsat()]).toEqual([0, 0n]);
    expect(await rejection(approvePayment(owner, index, randomNames))).toMatchObject({
      kind: 'refused',
    });
  });

  test('before an approval is stored: it waits on, and can be approved', async () => {
    const { index } = await waiting();
    const { approve } = store().spends;
    Object.assign(store().spends, { approve: never });
    void approvePayment(clients.owner, index, randomNames);
    await turns(20);
    Object.assign(store().spends, { approve });
    const owner = await restart();
    expect([await stateOf(index), asked()]).toEqual(['awaiting', 0]);
    paying();
    await approvePayment(owner, index, randomNames);
    expect([await stateOf(index), asked()]).toEqual(['known', 1]);
  });

  test('after an approval is stored, before the node is asked: the node is asked what became of it', async () => {
    const { index } = await waiting();
    const { approve } = store().spends;
    Object.assign(store().spends, {
      approve: async (...given: Parameters<typeof approve>) => {
        await approve(...given);
        return never();
      },
    });
    void approvePayment(clients.owner, index, randomNames);
    await until(async () => (await stateOf(index)) === 'asked');
    clients.world.fake.sendOutcome = async () => ({ state: 'never', reason: 'not sent' });
    const owner = await restart();
    await until(async () => (await stateOf(index)) === null);
    expect(await stored(index)).toMatchObject({ status: 'failed', statusMsg: 'not sent' });
    expect([asked(), await spentMsat()]).toEqual([0, 0n]);
    expect(await rejection(approvePayment(owner, index, randomNames))).toMatchObject({
      kind: 'refused',
    });
  });

  test('after the node was asked: it is not asked again, and the payment has its end', async () => {
    const { index, createdAtMs } = await waiting();
    clients.world.fake.paySpontaneous = never;
    void approvePayment(clients.owner, index, randomNames);
    await until(() => asked() === 1);
    clients.world.fake.sendOutcome = async () => shown(sampleDone(1, { index, createdAtMs }), 42);
    await restart();
    await until(async () => (await stateOf(index)) === null);
    expect(await stored(index)).toMatchObject({ status: 'completed' });
    expect([asked(), await spentMsat()]).toEqual([1, 1005n]);
  });
});
