import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { Budget } from '../../../src/model/budget.ts';
import { ApiError, refused } from '../../../src/model/errors.ts';
import { idOf } from '../../../src/model/payment.ts';
import type { Scope } from '../../../src/model/permissions.ts';
import type { SendReport } from '../../../src/nodes/node.ts';
import { createClient, revokeClient } from '../../../src/wallet/clients.ts';
import { randomNames } from '../../../src/wallet/effect-names.ts';
import {
  type SendContext,
  type SendIdentity,
  type SendPlan,
  send,
  sendAndWait,
} from '../../../src/wallet/pay/send.ts';
import type { Session } from '../../../src/wallet/session.ts';
import type { Wallets } from '../../../src/wallet/wallets.ts';
import { samplePayment } from '../../support/sample-payment.ts';
import { WALLET } from '../../support/store-steps.ts';
import { until } from '../../support/until.ts';
import { SIGNED, unreachable } from '../fake-node.ts';
import { type WalletWorld, walletWorld } from '../wallet-world.ts';
import { contextOf, planOf, sent, shown } from './plan.ts';

let world: WalletWorld;
let wallets: Wallets;
let owner: Session;
beforeEach(async () => {
  world = await walletWorld();
  ({ wallets, owner } = await world.start());
});
afterEach(() => world.close());

const KEY = { walletId: WALLET, caller: 'owner', key: 'k' };
const claim = (caller = 'owner') => world.store.idempotency.begin({ ...KEY, caller }, 'print', 1);
const unfinished = () => world.store.spends.unfinished(WALLET);
const refusal = async (): Promise<SendReport> => ({
  state: 'refused',
  error: refused('No route: try another amount.'),
});
const silence = async (): Promise<SendReport> => ({ state: 'unknown', error: unreachable() });

/** The session of a new client of the wallet. */
async function clientOf(scopes: readonly Scope[], budget: Budget | null = null) {
  const request = { scopes, permissions: [], expiresAtMs: null, label: null, budget };
  const { client, credentials } = await createClient(owner, request, randomNames);
  return { ...client, session: await wallets.open(credentials) };
}
const budgetOf = (amountMsat: bigint): Budget => ({
  amountMsat,
  period: 'total',
  maxPaymentMsat: null,
});

/** The error of a send that must fail. */
async function errorOf(
  context: SendContext,
  plan: SendPlan,
  run: (context: SendContext, plan: SendPlan) => Promise<unknown> = send,
) {
  const error = await run(context, plan).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ApiError)) throw new Error('no ApiError was thrown', { cause: error });
  return error;
}

/** Checks that nothing of the sample payment is left: no spend, watch, journal row, reservation or index at its key. */
async function expectNothingLeft(caller = 'owner'): Promise<void> {
  const { store } = world;
  expect(await unfinished()).toEqual([]);
  expect(await store.watches.has(WALLET)).toBe(false);
  expect(await store.journal.latest(WALLET, idOf(samplePayment(1)))).toBeNull();
  expect((await store.budgets.get(WALLET, caller, 1)).spentMsat).toBe(0n);
  expect(await claim(caller)).toMatchObject({ index: null, effect: null });
}

describe('a send', () => {
  test('is asked for in the store, with watch, reservation and key, before the node is asked', async () => {
    const { clientPk, session } = await clientOf(['send'], budgetOf(5000n));
    await claim(clientPk);
    world.fake.newestAttempt = async () => 41;
    const plan = planOf(async (identity) => {
      const [spend] = await unfinished();
      expect(spend).toMatchObject({
        state: 'asked',
        afterAttempt: 41,
        caller: clientPk,
        idempotencyKey: 'k',
        payment: { index: identity.index, status: 'pending', amountMsat: 1000n },
      });
      expect(await world.store.watches.has(WALLET)).toBe(true);
      expect((await world.store.budgets.get(WALLET, clientPk, 1)).spentMsat).toBe(1010n);
      expect(world.marker.mark?.count).toBe(await world.store.identity.count());
      expect(await claim(clientPk)).toMatchObject({ state: 'running', index: identity.index });
      return shown(sent.done(identity), 42);
    });
    const { payment, begun } = await send(contextOf(session, { idempotencyKey: 'k' }), plan);
    expect([payment.status, begun]).toEqual(['completed', true]);
    expect(await unfinished()).toEqual([]);
    expect((await world.store.budgets.get(WALLET, clientPk, 1)).spentMsat).toBe(1005n);
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

  test('which is refused and cannot be taken back at once is taken back before its key is looked at again', async () => {
    const { clientPk, session } = await clientOf(['send'], budgetOf(5000n));
    await claim(clientPk);
    const { abandon } = world.store.spends;
    Object.assign(world.store.spends, {
      abandon: () => {
        Object.assign(world.store.spends, { abandon });
        return Promise.reject(new ApiError('overCapacity', 'The disk is full: free space.'));
      },
    });
    const context = contextOf(session, { idempotencyKey: 'k' });
    const error = await errorOf(context, planOf(refusal));
    expect(error).toMatchObject({ kind: 'overCapacity', data: { sent: 'no' } });
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
    expect(await world.store.watches.has(WALLET)).toBe(true);
    expect((await world.store.budgets.get(WALLET, clientPk, 1)).spentMsat).toBe(1010n);
    expect(await claim(clientPk)).toMatchObject({ state: 'running', index: payment.index });
  });

  for (const [what, thrown] of [
    ['an error of the connector', refused('This looks like a refusal.')],
    ['a bug of the connector', new TypeError('undefined is not a function')],
  ] as const) {
    test(`that ends in ${what} counts as unknown`, async () => {
      const { payment } = await send(
        contextOf(owner),
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
    const context = contextOf(owner, { onSent: ({ status }) => told.push(status) });
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
    const all = await Promise.all([1, 2, 3].map(() => send(contextOf(owner), counted())));
    expect(starts).toBe(1);
    expect(new Set(all.map(({ payment }) => payment.index)).size).toBe(1);
    expect(all.filter(({ begun }) => begun)).toHaveLength(1);
  });

  test('while nothing is known of it', async () => {
    answer = silence;
    const first = await send(contextOf(owner), counted());
    const second = await send(contextOf(owner), counted());
    expect([starts, second.begun, second.payment.index]).toEqual([1, false, first.payment.index]);
  });

  test('when it is done', async () => {
    answer = async (identity) => shown(sent.done(identity), 1);
    await send(contextOf(owner), counted());
    expect((await send(contextOf(owner), counted())).payment.status).toBe('completed');
    expect(starts).toBe(1);
  });

  test('and again when it failed, as a payment of its own, but never where it must not be', async () => {
    answer = async (identity) => shown(sent.failed(identity), starts);
    const first = await send(contextOf(owner), counted());
    const kept = await send(contextOf(owner), counted({ again: 'never' }));
    expect([starts, kept.payment.index]).toEqual([1, first.payment.index]);
    const second = await send(contextOf(owner), counted());
    expect(starts).toBe(2);
    expect(second.payment.index > first.payment.index).toBe(true);
    expect(await world.store.journal.get(WALLET, first.payment.index)).toMatchObject({
      status: 'failed',
    });
  });

  test('after a kill, whatever the process before had heard', async () => {
    answer = silence;
    const first = await send(contextOf(owner), counted());
    world.kill();
    ({ owner } = await world.start());
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

  test('and an own invoice not at all', async () => {
    const inbound = samplePayment(1, { direction: 'inbound' });
    world.fake.shown.set(idOf(inbound), { payment: inbound, attempt: null });
    const error = await errorOf(contextOf(owner), counted());
    expect(error).toMatchObject({ kind: 'refused', data: { sent: 'no' } });
    expect(starts).toBe(0);
  });
});

describe('before the node is asked, an error leaves nothing and says that nothing was sent', () => {
  const never = planOf(() => {
    throw new Error('the node was asked');
  });
  const expectUnsent = async (context: SendContext, plan: SendPlan, kind: string) => {
    await claim(context.session.caller.id);
    const error = await errorOf({ ...context, idempotencyKey: 'k' }, plan);
    expect(error).toMatchObject({ kind, data: { sent: 'no' } });
    await expectNothingLeft(context.session.caller.id);
  };

  test('over the budget', async () => {
    const { session } = await clientOf(['send'], budgetOf(1009n));
    await expectUnsent(contextOf(session), never, 'overBudget');
  });

  test('with a budget in a store that was restored', async () => {
    const { session } = await clientOf(['send'], budgetOf(5000n));
    const { requireTrusted } = session.guard;
    Object.assign(session.guard, {
      requireTrusted: () => {
        throw new ApiError('overBudget', 'The database was restored: confirm.');
      },
    });
    await expectUnsent(contextOf(session), never, 'overBudget');
    Object.assign(session.guard, { requireTrusted });
  });

  test('when the marker cannot be written for a client with a budget', async () => {
    const { session } = await clientOf(['send'], budgetOf(5000n));
    world.marker.write = async () => {
      throw new Error('the disk is full');
    };
    await expectUnsent(contextOf(session), never, 'overCapacity');
  });

  test('when the node cannot say which attempts there are', async () => {
    world.fake.newestAttempt = () => Promise.reject(unreachable());
    await expectUnsent(contextOf(owner), never, 'unreachable');
  });

  test('when something breaks that nobody thought of', async () => {
    world.fake.newestAttempt = () => Promise.reject(new TypeError('a bug'));
    await expectUnsent(contextOf(owner), never, 'internal');
  });

  test('when the credential ends meanwhile', async () => {
    const { clientPk, session } = await clientOf(['send']);
    world.fake.newestAttempt = async () => {
      await revokeClient(owner, clientPk, randomNames);
      return 0;
    };
    await claim(clientPk);
    const error = await errorOf(contextOf(session), never);
    expect(error).toMatchObject({ kind: 'unauthenticated', data: { sent: 'no' } });
    expect(await unfinished()).toEqual([]);
    expect(await world.store.watches.has(WALLET)).toBe(false);
  });
});

describe('what is signed', () => {
  const signing = (
    start: () => Promise<SendReport>,
    sign: SendPlan['sign'] = () => world.fake.sign({} as never),
  ): SendPlan => planOf(start, { rail: 'onchain', again: 'never', sign });

  test('is begun while it is made, and stored as asked for before it is published', async () => {
    const states: unknown[] = [];
    const look = async () =>
      states.push(...(await unfinished()).map(({ state, plan }) => [state, plan]));
    const plan = signing(
      async () => {
        await look();
        return silence();
      },
      async () => {
        await look();
        return SIGNED;
      },
    );
    await send(contextOf(owner), plan);
    expect(states).toEqual([
      ['begun', null],
      ['asked', JSON.stringify(SIGNED)],
    ]);
  });

  test('or cannot be signed leaves nothing, and is not published', async () => {
    await claim();
    const plan = signing(
      () => {
        throw new Error('it was published');
      },
      () => Promise.reject(refused('Not enough coins: send less.')),
    );
    const error = await errorOf(contextOf(owner, { idempotencyKey: 'k' }), plan);
    expect(error).toMatchObject({ kind: 'refused', data: { sent: 'no' } });
    await expectNothingLeft();
  });

  test('and cannot be stored is not published, leaves nothing and gives its coins back', async () => {
    await claim();
    const { asked } = world.store.spends;
    Object.assign(world.store.spends, {
      asked: () => Promise.reject(new ApiError('overCapacity', 'The disk is full: free space.')),
    });
    const plan = signing(() => {
      throw new Error('it was published');
    });
    const error = await errorOf(contextOf(owner, { idempotencyKey: 'k' }), plan);
    Object.assign(world.store.spends, { asked });
    expect(error).toMatchObject({ kind: 'overCapacity', data: { sent: 'no' } });
    expect(world.fake.onchainCalls).toEqual([`release ${SIGNED.txid}`]);
    await expectNothingLeft();
  });
});

describe('after the node was asked, every error says that it is not known what was sent', () => {
  const expectUnknown = (error: ApiError, kind: string, index: string | undefined) => {
    expect(error).toMatchObject({ kind, data: { sent: 'unknown', index } });
    expect(index).toBeDefined();
  };

  test('when what the node shows cannot be stored; it is looked up later', async () => {
    const { apply } = world.store.observations;
    Object.assign(world.store.observations, {
      apply: () => Promise.reject(new ApiError('overCapacity', 'The disk is full: free space.')),
    });
    let identity: SendIdentity | null = null;
    const error = await errorOf(
      contextOf(owner),
      planOf(async (own) => {
        identity = own;
        return shown(sent.done(own), 1);
      }),
    );
    const own = identity as SendIdentity | null;
    expectUnknown(error, 'overCapacity', own?.index);
    expect(await unfinished()).toMatchObject([{ state: 'asked' }]);
    Object.assign(world.store.observations, { apply });
    world.fake.sendOutcome = async () => shown(sent.done(own as SendIdentity), 1);
    await until(async () => (await unfinished()).length === 0);
    expect(await world.store.journal.get(WALLET, (own as SendIdentity).index)).toMatchObject({
      status: 'completed',
    });
  }, 60_000);

  test('when the wait for its end is cut off', async () => {
    const stop = new AbortController();
    const context = contextOf(owner, {
      signal: stop.signal,
      onSent: () => stop.abort(new ApiError('timeout', 'It took too long: look at it later.')),
    });
    const error = await errorOf(context, planOf(silence), sendAndWait);
    const [spend] = await unfinished();
    expectUnknown(error, 'timeout', spend?.payment.index);
  });

  test('when the credential ends during the wait', async () => {
    const { clientPk, session } = await clientOf(['send']);
    const context = contextOf(session, {
      onSent: () => void revokeClient(owner, clientPk, randomNames),
    });
    const error = await errorOf(context, planOf(silence), sendAndWait);
    const [spend] = await unfinished();
    expectUnknown(error, 'unauthenticated', spend?.payment.index);
  });
});

test('a send that is waited for ends as the node shows it', async () => {
  let own: SendIdentity | null = null;
  const waiting = sendAndWait(
    contextOf(owner),
    planOf(async (identity) => {
      own = identity;
      return shown(sent.pending(identity), 5);
    }),
  );
  await until(() => own !== null);
  await until(async () => (await unfinished())[0]?.state === 'known');
  world.fake.push({ payment: sent.done(own as unknown as SendIdentity), attempt: 5 });
  expect(await waiting).toMatchObject({ status: 'completed' });
}, 60_000);
