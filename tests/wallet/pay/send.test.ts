import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { ApiError, refused } from '../../../src/model/errors.ts';
import { idOf, type Payment } from '../../../src/model/payment.ts';
import { paymentIndex } from '../../../src/model/payment-index.ts';
import type { SendReport } from '../../../src/nodes/node.ts';
import { periodStart } from '../../../src/wallet/budget/budget.ts';
import { send, sendAndWait } from '../../../src/wallet/pay/send.ts';
import type { SendIdentity } from '../../../src/wallet/pay/send-plan.ts';
import type { Session } from '../../../src/wallet/session/session.ts';
import { sampleFailed, samplePayment } from '../../support/sample-payment.ts';
import { countOf, WALLET } from '../../support/store-steps.ts';
import { until } from '../../support/until.ts';
import { SIGNED, unreachable } from '../fake-node.ts';
import { feedOf, type WalletWorld, walletWorld } from '../wallet-world.ts';
import { contextOf, planOf, sent, shown } from './plan.ts';
import { budgetOf, errorOf, refusal, sendWorld, silence, turns } from './send-world.ts';

const wallet = sendWorld();
const { claim, unfinished, clientOf, expectNothingLeft } = wallet;
const spentMsat = async (clientPk: string) =>
  (await wallet.world.store.budgets.get(WALLET, clientPk, 1, periodStart)).spentMsat;

describe('a send', () => {
  test('is never given a whole second as its time, by which a node may name payments of other programs', async () => {
    const { fake } = wallet.world;
    for (const [nowMs, createdAtMs] of [
      [5_000_000, 5_000_001],
      [5_001_001, 5_001_001],
      [5_001_999, 5_001_999],
    ] as const) {
      fake.nowMs = nowMs;
      const report = async (own: SendIdentity) => shown(sent.failed(own), nowMs);
      const { payment } = await send(contextOf(wallet.owner), planOf(report));
      expect(payment.createdAtMs).toBe(createdAtMs);
    }
  });

  test('is the next one after a failed one of its id, however the clock was set', async () => {
    const { fake } = wallet.world;
    for (const [nowMs, createdAtMs] of [
      [5_000_500, 5_000_500],
      [5_000_500, 5_000_501],
      [4_000_000, 5_000_502],
    ] as const) {
      fake.nowMs = nowMs;
      const report = async (own: SendIdentity) => shown(sent.failed(own), createdAtMs);
      const { payment } = await send(contextOf(wallet.owner), planOf(report));
      expect(payment.createdAtMs).toBe(createdAtMs);
    }
  });

  test('is begun after the feed knows where it begins, and opens it', async () => {
    const { store } = wallet.world;
    const { startAt } = store.observations;
    Object.assign(store.observations, {
      startAt: async (...given: Parameters<typeof startAt>) => {
        await turns(20);
        await startAt(...given);
      },
    });
    let cursor: string | null | undefined;
    const plan = planOf(async () => {
      cursor = await store.observations.cursor(WALLET);
      return silence();
    });
    await send(contextOf(wallet.owner), plan);
    expect(cursor).toBeNull();
    expect(feedOf(wallet.owner).busy).toBe(true);
    expect(wallet.owner.feed.standing).not.toBeNull();
  });

  test('that is overtaken by another program before it is stored is not asked for', async () => {
    const { owner } = wallet;
    const others = samplePayment(1);
    wallet.world.fake.newestAttempt = async () => {
      await owner.feed.observeOnce({ payment: others, attempt: 5 }, owner.node);
      return 5;
    };
    const plan = planOf(() => {
      throw new Error('the node was asked');
    });
    expect(await send(contextOf(owner), plan)).toMatchObject({
      begun: false,
      isOutside: true,
      payment: { index: others.index },
    });
    expect(await unfinished()).toEqual([]);
  });

  test('without a budget goes on where the store was restored, or its marker cannot be written', async () => {
    const { session } = await clientOf(['send']);
    wallet.world.marker.write = async () => {
      throw new Error('the disk is full');
    };
    const { requireTrusted } = session.guard;
    Object.assign(session.guard, {
      requireTrusted: () => {
        throw new ApiError('overBudget', 'The database was restored: confirm.');
      },
    });
    const plan = planOf(async (identity) => shown(sent.done(identity), 1));
    expect((await send(contextOf(session), plan)).payment.status).toBe('completed');
    Object.assign(session.guard, { requireTrusted });
  });

  test('that another program keeps from paying, with attempts that all fail, ends with error 106 and nothing sent', async () => {
    let starts = 0;
    const plan = planOf(async () => {
      starts++;
      const createdAtMs = 9_000_000 + starts;
      const payment = sampleFailed(1, {
        createdAtMs,
        updatedAtMs: createdAtMs,
        index: paymentIndex(createdAtMs, idOf(samplePayment(1))),
      });
      return { state: 'taken', payment, attempt: starts };
    });
    const error = await errorOf(contextOf(wallet.owner), plan);
    expect(error).toMatchObject({ kind: 'refused', data: { sent: 'no' } });
    expect([starts, await unfinished()]).toEqual([10, []]);
  });

  test('names the amount that another program pays to nobody who may not read it (docs/decisions.md 175)', async () => {
    const payment = { ...samplePayment(1), amountMsat: 7_777_000n };
    wallet.world.fake.latestPayment = async () => ({ payment, attempt: 41 });
    const refusalOf = async (scopes: readonly ('send' | 'read_payments')[]) => {
      const { session } = await clientOf(scopes);
      return errorOf(contextOf(session), planOf(silence));
    };
    const kept = await refusalOf(['send']);
    expect(kept).toMatchObject({ kind: 'refused', data: { status: 'pending' } });
    expect(`${kept} ${JSON.stringify(kept)}`).not.toContain('7777');
    expect(`${await refusalOf(['send', 'read_payments'])}`).toContain('7777 sats');
    expect(await unfinished()).toEqual([]);
  });

  test('is asked for in the store, with watch, reservation and key, before the node is asked', async () => {
    const { clientPk, session } = await clientOf(['send'], budgetOf(5000n));
    await claim(clientPk);
    wallet.world.fake.newestAttempt = async () => 41;
    const plan = planOf(async (identity) => {
      const [spend] = await unfinished();
      expect(spend).toMatchObject({
        state: 'asked',
        afterAttempt: 41,
        caller: clientPk,
        idempotencyKey: 'k',
        payment: { index: identity.index, status: 'pending', amountMsat: 1000n },
      });
      expect(await wallet.world.store.watches.has(WALLET)).toBe(true);
      expect(await spentMsat(clientPk)).toBe(1010n);
      expect(wallet.world.marker.mark?.count).toBe(await countOf(wallet.world.store));
      expect(await claim(clientPk)).toMatchObject({ state: 'running', index: identity.index });
      return shown(sent.done(identity), 42);
    });
    const { payment, begun } = await send(contextOf(session, { idempotencyKey: 'k' }), plan);
    expect([payment.status, begun]).toEqual(['completed', true]);
    expect(await unfinished()).toEqual([]);
    expect(await spentMsat(clientPk)).toBe(1005n);
  });

  test('asks the node for an earlier payment and for the newest attempt side by side', async () => {
    const both = Promise.withResolvers<void>();
    let asked = 0;
    const meet = async () => {
      asked++;
      if (asked === 2) both.resolve();
      await both.promise;
    };
    wallet.world.fake.newestAttempt = async () => {
      await meet();
      return 41;
    };
    wallet.world.fake.latestPayment = async () => {
      await meet();
      return null;
    };
    const plan = planOf(async (identity) => shown(sent.done(identity), 42));
    expect((await send(contextOf(wallet.owner), plan)).payment.status).toBe('completed');
  });

  test('on chain asks for no attempts, of which only Lightning payments have some', async () => {
    wallet.world.fake.newestAttempt = () => Promise.reject(unreachable());
    const plan = planOf(silence, { rail: 'onchain', again: 'never', sign: async () => SIGNED });
    expect((await send(contextOf(wallet.owner), plan)).begun).toBe(true);
    expect(await unfinished()).toMatchObject([{ state: 'asked', afterAttempt: null }]);
  });

  test('that the node refuses leaves nothing, says so, and may be tried again with its key', async () => {
    const { clientPk, session } = await clientOf(['send'], budgetOf(5000n));
    await claim(clientPk);
    const context = contextOf(session, { idempotencyKey: 'k' });
    const error = await errorOf(context, planOf(refusal));
    expect(error).toMatchObject({ kind: 'refused', data: { sent: 'no' } });
    await expectNothingLeft(clientPk);
    const again = await send(
      context,
      planOf(async (identity) => shown(sent.done(identity), 1)),
    );
    expect(again.payment.status).toBe('completed');
  });

  test('which is refused and cannot be taken back at once may be sent after a restart, and is taken back before its key is looked at again', async () => {
    const { clientPk, session } = await clientOf(['send'], budgetOf(5000n));
    await claim(clientPk);
    const { abandon } = wallet.world.store.spends;
    Object.assign(wallet.world.store.spends, {
      abandon: () => {
        Object.assign(wallet.world.store.spends, { abandon });
        return Promise.reject(new ApiError('overCapacity', 'The disk is full: free space.'));
      },
    });
    const context = contextOf(session, { idempotencyKey: 'k' });
    const error = await errorOf(context, planOf(refusal));
    const index = expect.stringContaining('ln_');
    expect(error).toMatchObject({ kind: 'overCapacity', data: { sent: 'unknown', index } });
    await session.resolver.ready();
    await expectNothingLeft(clientPk);
  });

  test('of which nothing is known stays pending, and keeps watch, reservation and key', async () => {
    const { clientPk, session } = await clientOf(['send'], budgetOf(5000n));
    await claim(clientPk);
    const context = contextOf(session, { idempotencyKey: 'k' });
    const { payment } = await send(context, planOf(silence));
    expect(payment.status).toBe('pending');
    expect(await unfinished()).toMatchObject([
      { state: 'asked', payment: { index: payment.index } },
    ]);
    expect(await wallet.world.store.watches.has(WALLET)).toBe(true);
    expect(await spentMsat(clientPk)).toBe(1010n);
    expect(await claim(clientPk)).toMatchObject({ state: 'running', index: payment.index });
  });

  for (const [what, thrown] of [
    ['an error of the connector', refused('This looks like a refusal.')],
    ['a bug of the connector', new TypeError('undefined is not a function')],
  ] as const) {
    test(`that ends in ${what} counts as unknown`, async () => {
      const { payment } = await send(
        contextOf(wallet.owner),
        planOf(async () => {
          throw thrown;
        }),
      );
      expect(payment.status).toBe('pending');
      expect(await unfinished()).toMatchObject([{ state: 'asked' }]);
    });
  }

  test('tells of its payment once it is on its way', async () => {
    const told: string[] = [];
    const context = contextOf(wallet.owner, { onSent: ({ status }) => told.push(status) });
    await send(context, planOf(silence));
    expect(told).toEqual(['pending']);
  });
});

describe('one id is sent once', () => {
  let starts = 0;
  let answer: (identity: SendIdentity) => Promise<SendReport>;
  const counted = (change: Parameters<typeof planOf>[1] = {}) =>
    planOf((identity) => {
      starts++;
      return answer(identity);
    }, change);
  beforeEach(() => {
    starts = 0;
    answer = async (identity) => shown(sent.pending(identity), starts);
  });

  test('by requests at the same time', async () => {
    const all = await Promise.all([1, 2, 3].map(() => send(contextOf(wallet.owner), counted())));
    expect(starts).toBe(1);
    expect(new Set(all.map(({ payment }) => payment.index)).size).toBe(1);
    expect(all.filter(({ begun }) => begun)).toHaveLength(1);
  });

  test('while nothing is known of it', async () => {
    answer = silence;
    const first = await send(contextOf(wallet.owner), counted());
    const second = await send(contextOf(wallet.owner), counted());
    expect([starts, second.begun, second.payment.index]).toEqual([1, false, first.payment.index]);
  });

  test('and is returned while the node is away', async () => {
    answer = silence;
    const first = await send(contextOf(wallet.owner), counted());
    wallet.world.fake.newestAttempt = () => Promise.reject(unreachable());
    const second = await send(contextOf(wallet.owner), counted());
    expect([starts, second.begun, second.payment.index]).toEqual([1, false, first.payment.index]);
  });

  test('when it is done', async () => {
    answer = async (identity) => shown(sent.done(identity), 1);
    await send(contextOf(wallet.owner), counted());
    expect((await send(contextOf(wallet.owner), counted())).payment.status).toBe('completed');
    expect(starts).toBe(1);
  });

  test('and again when it failed, as a payment of its own, but never where it must not be', async () => {
    answer = async (identity) => shown(sent.failed(identity), starts);
    const first = await send(contextOf(wallet.owner), counted());
    const kept = await send(contextOf(wallet.owner), counted({ again: 'never' }));
    expect([starts, kept.payment.index]).toEqual([1, first.payment.index]);
    const second = await send(contextOf(wallet.owner), counted());
    expect(starts).toBe(2);
    expect(second.payment.index > first.payment.index).toBe(true);
    expect(await wallet.world.store.journal.get(WALLET, first.payment.index)).toMatchObject({
      status: 'failed',
    });
  });

  test('after a kill, whatever the process before had heard', async () => {
    answer = silence;
    const first = await send(contextOf(wallet.owner), counted());
    wallet.world.kill();
    const { owner } = await wallet.world.start();
    const second = await send(contextOf(owner), counted());
    expect([starts, second.payment.index]).toEqual([1, first.payment.index]);
  });

  test('by its own payer and by who may read payments; others learn how it stands and nothing else', async () => {
    const payer = await clientOf(['send']);
    await send(contextOf(payer.session), counted());
    expect((await send(contextOf(payer.session), counted())).begun).toBe(false);
    const reader = await clientOf(['send', 'read_payments']);
    expect((await send(contextOf(reader.session), counted())).begun).toBe(false);
    const stranger = await clientOf(['send']);
    const error = await errorOf(contextOf(stranger.session), counted());
    expect(error).toMatchObject({ kind: 'refused' });
    expect(error.data).toEqual({ status: 'pending' });
    expect(starts).toBe(1);
  });

  test('and may be impossible by now where that attempt is not over or has paid, but not where it failed', async () => {
    const requirePayable = () => {
      throw refused('The invoice has expired.');
    };
    answer = silence;
    const first = await send(contextOf(wallet.owner), counted());
    const late = await send(contextOf(wallet.owner), counted({ requirePayable }));
    expect(late.payment.index).toBe(first.payment.index);
    wallet.world.fake.sendOutcome = async ({ payment }) => shown(sent.failed(payment), 1);
    await until(async () => (await unfinished()).length === 0);
    const error = await errorOf(contextOf(wallet.owner), counted({ requirePayable }));
    expect(error.message).toBe('The invoice has expired.');
    expect([error.data, starts]).toEqual([{ sent: 'no' }, 1]);
  });

  test('and what can no longer be paid not at all', async () => {
    const requirePayable = () => {
      throw refused('The invoice has expired.');
    };
    const error = await errorOf(contextOf(wallet.owner), counted({ requirePayable }));
    expect(error).toMatchObject({ kind: 'refused', data: { sent: 'no' } });
    expect([starts, await unfinished()]).toEqual([0, []]);
  });

  test('also once it is done: others learn how it ended and nothing else', async () => {
    const payer = await clientOf(['send']);
    answer = async (identity) => shown(sent.done(identity), 1);
    await send(contextOf(payer.session), counted());
    const told: Payment[] = [];
    const stranger = await clientOf(['send']);
    const onSent = (payment: Payment) => void told.push(payment);
    const error = await errorOf(contextOf(stranger.session, { onSent }), counted());
    expect([error.kind, error.data, told]).toEqual(['refused', { status: 'completed' }, []]);
  });

  test('and again by anybody where it failed', async () => {
    answer = async (identity) => shown(sent.failed(identity), starts);
    const payer = await clientOf(['send']);
    await send(contextOf(payer.session), counted());
    const other = await clientOf(['send']);
    expect((await send(contextOf(other.session), counted())).begun).toBe(true);
    expect(starts).toBe(2);
  });

  test('whatever its amount on chain, or where the amount of the earlier one is not told', async () => {
    const onchain = { rail: 'onchain', again: 'never', sign: async () => SIGNED } as const;
    answer = silence;
    const first = await send(contextOf(wallet.owner), counted(onchain));
    const again = await send(contextOf(wallet.owner), counted({ ...onchain, amountMsat: 2000n }));
    expect([again.begun, again.payment.index]).toEqual([false, first.payment.index]);
    const others = samplePayment(2, { amountMsat: null });
    await wallet.owner.feed.observeOnce({ payment: others, attempt: 5 }, wallet.owner.node);
    const met = await send(contextOf(wallet.owner), counted({ number: 2 }));
    expect([met.begun, met.payment.index, starts]).toEqual([false, others.index, 1]);
  });

  test('and an own invoice not at all', async () => {
    const inbound = samplePayment(1, { direction: 'inbound' });
    wallet.world.fake.shown.set(idOf(inbound), { payment: inbound, attempt: null });
    const error = await errorOf(contextOf(wallet.owner), counted());
    expect(error).toMatchObject({ kind: 'refused', data: { sent: 'no' } });
    expect(error.message).toContain('pay it from another wallet');
    expect(starts).toBe(0);
  });
});

test("another program's payment is told as sent to who may see it alone", async () => {
  const others = samplePayment(1);
  const { owner } = wallet;
  await owner.feed.observeOnce({ payment: others, attempt: 5 }, owner.node);
  const payer = (await wallet.clientOf(['send'])).session;
  const reader = (await wallet.clientOf(['send', 'read_payments'])).session;
  const told = async (session: typeof owner) => {
    const indexes: string[] = [];
    const onSent = ({ index }: Payment) => void indexes.push(index);
    expect(await send(contextOf(session, { onSent }), planOf(silence))).toMatchObject({
      begun: false,
      isOutside: true,
    });
    return indexes;
  };
  expect(await told(payer)).toEqual([]);
  expect(await told(reader)).toEqual([others.index]);
  expect(await told(owner)).toEqual([others.index]);
});

describe('where only the node tells of payments', () => {
  let world: WalletWorld;
  let owner: Session;
  beforeEach(async () => {
    world = await walletWorld({ history: true });
    ({ owner } = await world.start());
  });
  afterEach(() => world.close());

  test('the end is stored before a caller learns of it', async () => {
    const { apply } = world.store.observations;
    Object.assign(world.store.observations, {
      apply: async (...given: Parameters<typeof apply>) => {
        await turns(20);
        return apply(...given);
      },
    });
    const plan = planOf(async (identity) => {
      const payment = { ...sent.done(identity), updatedAtMs: identity.createdAtMs + 1 };
      world.fake.shown.set(identity.index, { payment, attempt: null });
      return shown(sent.pending(identity));
    });
    expect((await sendAndWait(contextOf(owner), plan)).status).toBe('completed');
    expect(await world.store.spends.unfinished(WALLET)).toEqual([]);
    expect(await world.store.watches.has(WALLET)).toBe(false);
  });

  test('a payment has the time of its request, also a whole second', async () => {
    world.fake.nowMs = 5_000_000;
    const { payment } = await send(contextOf(owner), planOf(silence));
    expect(payment.createdAtMs).toBe(5_000_000);
  });

  test('a pending payment without a spend is this program’s too: others learn how it stands', async () => {
    const pending = samplePayment(1);
    world.fake.shown.set(idOf(pending), { payment: pending, attempt: null });
    expect(await send(contextOf(owner), planOf(silence))).toMatchObject({
      begun: false,
      isOutside: false,
      payment: { index: pending.index },
    });
  });
});

test('what is signed is in the journal before it is published, unless only the node tells of payments', async () => {
  for (const [history, row] of [
    [false, { status: 'pending' }],
    [true, null],
  ] as const) {
    const world = await walletWorld({ history });
    const { owner } = await world.start();
    let seen: unknown;
    const plan = planOf(
      async ({ index }) => {
        seen = await world.store.journal.get(WALLET, index);
        return silence();
      },
      { rail: 'onchain', again: 'never', sign: async () => SIGNED },
    );
    await send(contextOf(owner), plan);
    if (row === null) expect(seen).toBeNull();
    else expect(seen).toMatchObject(row);
    await world.close();
  }
});
